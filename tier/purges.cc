#include "tier/purges.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/limits.h"

namespace ringside::tier {
namespace {

// An issuer that no text names, so that nobody has done what it issued.
constexpr std::string_view nobody;

std::optional<std::uint64_t> number_in(std::string_view digits) noexcept {
  std::uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, number);
  const bool is_number = parsed.ec == std::errc{} && parsed.ptr == end;
  return is_number ? std::optional(number) : std::nullopt;
}

// The issuer, and what stands behind the space.
std::optional<std::pair<std::string_view, std::string_view>> split(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == 0 || space > limits::purge_issuer_size_bytes) return std::nullopt;
  return std::pair{text.substr(0, space), text.substr(space + 1)};
}

// Takes the text before the separator, or the end, off `text`.
std::string_view take(std::string_view& text, std::string_view separator) noexcept {
  const std::size_t size = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, size);
  text.remove_prefix(std::min(size + separator.size(), text.size()));
  return taken;
}

template <class Use>
void for_each_issuer(std::string_view done, const Use& use) {
  while (!done.empty()) {
    const auto row = split(take(done, ", "));
    const auto numbers = row ? NumberSet::parse(row->second) : std::nullopt;
    if (numbers) use(row->first, *numbers);
  }
}

}  // namespace

std::string to_text(const PurgeNumber& purge) {
  return fmt::format("{} {}", purge.issuer, purge.number);
}

std::optional<PurgeNumber> parse_purge_number(std::string_view text, std::string_view settled) {
  const auto parts = split(text);
  const auto number = parts ? number_in(parts->second) : std::nullopt;
  if (!number || *number == 0) return std::nullopt;
  return PurgeNumber{std::string(parts->first), *number, number_in(settled)};
}

PurgeNumber PurgeNumbering::begin() {
  under_way_.insert(++issued_);
  return {issuer_, issued_, *under_way_.begin() - 1};
}

NumberSet NumberSet::all_up_to(std::uint64_t number) {
  NumberSet set;
  set.is_empty_ = false;
  set.up_to_ = number;
  return set;
}

void NumberSet::add_all_up_to(std::uint64_t number) {
  is_empty_ = false;
  up_to_ = std::max(up_to_, number);
  beyond_.erase(beyond_.begin(), std::upper_bound(beyond_.begin(), beyond_.end(), up_to_));
  close_up();
}

// Those beyond that follow without a gap.
void NumberSet::close_up() {
  auto next = beyond_.begin();
  while (next != beyond_.end() && *next == up_to_ + 1) {
    ++up_to_;
    ++next;
  }
  beyond_.erase(beyond_.begin(), next);
}

void NumberSet::add(std::uint64_t number) {
  if (contains(number)) return;
  is_empty_ = false;
  // Better too few than one that was not added.
  if (beyond_.size() == limits::purges_beyond && number != up_to_ + 1) return;
  beyond_.insert(std::lower_bound(beyond_.begin(), beyond_.end(), number), number);
  close_up();
}

bool NumberSet::contains(std::uint64_t number) const noexcept {
  return !is_empty_ &&
         (number <= up_to_ || std::binary_search(beyond_.begin(), beyond_.end(), number));
}

bool NumberSet::contains_all_of(const NumberSet& other) const noexcept {
  if (other.is_empty_) return true;
  if (is_empty_) return false;
  const auto has = [this](std::uint64_t number) { return contains(number); };
  if (!std::all_of(other.beyond_.begin(), other.beyond_.end(), has)) return false;
  if (other.up_to_ <= up_to_) return true;
  if (other.up_to_ - up_to_ > beyond_.size()) return false;
  // Counted from 1: the last number may be the greatest that there is.
  for (std::uint64_t ahead = 1; ahead <= other.up_to_ - up_to_; ++ahead) {
    if (!contains(up_to_ + ahead)) return false;
  }
  return true;
}

std::string NumberSet::text() const {
  if (beyond_.empty()) return fmt::to_string(up_to_);
  return fmt::format("{}+{}", up_to_, fmt::join(beyond_, "+"));
}

std::optional<NumberSet> NumberSet::parse(std::string_view text) {
  const auto first = number_in(take(text, "+"));
  if (!first) return std::nullopt;
  NumberSet set = all_up_to(*first);
  while (!text.empty()) {
    const auto number = number_in(take(text, "+"));
    const std::uint64_t last = set.beyond_.empty() ? set.up_to_ : set.beyond_.back();
    const bool is_next = number && *number > last && set.beyond_.size() < limits::purges_beyond;
    if (!is_next) return std::nullopt;
    set.beyond_.push_back(*number);
  }
  return set;
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
  if (row.begun.empty()) {
    const std::uint64_t before = purge.number - 1;
    row.begun = row.done = NumberSet::all_up_to(std::min(purge.settled.value_or(before), before));
  }
  row.begun.add(purge.number);
  row.begun_at = now;
}

void Purges::end(const PurgeNumber& purge) {
  Row& row = row_of(purge.issuer);
  if (row.begun.empty()) begin(purge, {});  // it was forgotten meanwhile
  row.done.add(purge.number);
}

void Purges::begin_unnumbered(SteadyPoint now) {
  std::erase_if(unnumbered_, [&](SteadyPoint until) { return until <= now; });
  unnumbered_.push_back(now + limits::number_patience);
}

void Purges::number_is_told() {
  if (!unnumbered_.empty()) unnumbered_.erase(unnumbered_.begin());
}

void Purges::begin_all_up_to(const PurgeNumber& purge, SteadyPoint now) {
  Row& row = row_of(purge.issuer);
  row.begun.add_all_up_to(purge.number);
  row.begun_at = now;
}

void Purges::end_all_up_to(const PurgeNumber& purge) {
  Row& row = row_of(purge.issuer);
  row.begun.add_all_up_to(purge.number);  // it may have been forgotten meanwhile
  row.done.add_all_up_to(purge.number);
}

std::vector<Purges::Begun> Purges::begun(SteadyPoint now) const {
  std::vector<Begun> all;
  for (const Row& row : rows_) {
    const bool is_recent = now - row.begun_at <= limits::purges_remembered;
    if (!row.begun.empty() && is_recent) all.push_back({row.issuer, row.begun});
  }
  if (awaits_number(now)) all.push_back({std::string(nobody), NumberSet::all_up_to(1)});
  return all;
}

bool Purges::is_told(const Row& row, SteadyPoint now) noexcept {
  return !row.done.empty() && now - row.begun_at <= 2 * limits::purges_remembered;
}

std::string Purges::done(SteadyPoint now) const {
  std::string text;
  for (const Row& row : rows_) {
    if (!is_told(row, now)) continue;
    if (!text.empty()) text += ", ";
    text.append(row.issuer).append(" ").append(row.done.text());
  }
  return text;
}

std::string Purges::ages(SteadyPoint now) const {
  std::string text;
  for (const Row& row : rows_) {
    if (!is_told(row, now)) continue;
    if (!text.empty()) text += ", ";
    const auto age = std::chrono::floor<Seconds>(now - row.begun_at);
    text += fmt::to_string(std::max<Seconds::rep>(age.count(), 0));
  }
  return text;
}

void Purges::adopt(std::string_view done, std::string_view ages, SteadyPoint now) {
  constexpr std::uint64_t most_s =
      2 * std::chrono::duration_cast<Seconds>(limits::purges_remembered).count();
  while (!done.empty()) {
    const auto told = split(take(done, ", "));
    const std::uint64_t age_s = std::min(number_in(take(ages, ", ")).value_or(0), most_s);
    const auto numbers = told ? NumberSet::parse(told->second) : std::nullopt;
    if (!numbers) continue;
    Row& row = row_of(told->first);
    if (!row.begun.empty()) continue;
    row.begun = row.done = *numbers;
    row.begun_at = now - Seconds(age_s);
  }
}

bool are_done(const std::vector<Purges::Begun>& begun, std::string_view done) {
  std::size_t left = begun.size();
  for_each_issuer(done, [&](std::string_view issuer, const NumberSet& numbers) {
    for (const Purges::Begun& row : begun) {
      if (row.issuer == issuer && numbers.contains_all_of(row.numbers)) --left;
    }
  });
  return left == 0;
}

}  // namespace ringside::tier
