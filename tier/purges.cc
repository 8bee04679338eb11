#include "tier/purges.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/limits.h"

namespace ringside::tier {

std::string to_text(const PurgeNumber& purge) {
  return fmt::format("{} {}", purge.issuer, purge.number);
}

std::optional<PurgeNumber> parse_purge_number(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == 0 || space > limits::purge_issuer_size_bytes) return std::nullopt;
  PurgeNumber purge{std::string(text.substr(0, space)), 0};
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + space + 1, end, purge.number);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return purge;
}

Purges::Row& Purges::row_of(std::string_view issuer) {
  const auto found = std::find_if(rows_.begin(), rows_.end(),
                                  [&](const Row& row) { return row.issuer == issuer; });
  if (found != rows_.end()) {
    std::rotate(found, found + 1, rows_.end());
  } else {
    if (rows_.size() == limits::purge_issuers) rows_.erase(rows_.begin());
    rows_.push_back({std::string(issuer)});
  }
  return rows_.back();
}

void Purges::begin(const PurgeNumber& purge, SteadyPoint now) {
  Row& row = row_of(purge.issuer);
  row.begun = std::max(row.begun, purge.number);
  row.begun_at = now;
}

void Purges::end(const PurgeNumber& purge) {
  Row& row = row_of(purge.issuer);
  row.done = std::max(row.done, purge.number);
}

std::string Purges::done() const {
  std::string text;
  for (const Row& row : rows_) {
    if (row.done == 0) continue;
    if (!text.empty()) text += ", ";
    text += to_text({row.issuer, row.done});
  }
  return text;
}

bool Purges::are_covered_by(std::string_view done, SteadyPoint now) const {
  std::vector<PurgeNumber> theirs;
  while (!done.empty()) {
    const std::size_t size = std::min(done.find(", "), done.size());
    if (auto purge = parse_purge_number(done.substr(0, size))) theirs.push_back(*std::move(purge));
    done.remove_prefix(std::min(size + 2, done.size()));
  }
  return std::all_of(rows_.begin(), rows_.end(), [&](const Row& row) {
    if (row.begun == 0 || now - row.begun_at > limits::purges_remembered) return true;
    return std::any_of(theirs.begin(), theirs.end(), [&](const PurgeNumber& one) {
      return one.issuer == row.issuer && one.number >= row.begun;
    });
  });
}

}  // namespace ringside::tier
