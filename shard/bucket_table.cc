#include "shard/bucket_table.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <set>
#include <string_view>

#include "base/limits.h"
#include "shard/quotation.h"

namespace ringside::shard {
namespace {

std::string runs_of(const std::vector<Bucket>& buckets) {
  std::string text;
  for (std::size_t first = 0; first < buckets.size();) {
    std::size_t last = first;
    if (first + 1 < buckets.size()) {
      const int step = buckets[first + 1] > buckets[first] ? 1 : -1;
      while (last + 1 < buckets.size() && buckets[last + 1] == buckets[last] + step) ++last;
    }
    if (!text.empty()) text += ',';
    text += std::to_string(buckets[first]);
    if (last > first) text += '-' + std::to_string(buckets[last]);
    first = last + 1;
  }
  return text;
}

std::optional<Bucket> number_of(std::string_view text) noexcept {
  Bucket number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, failure] = std::from_chars(text.data(), end, number);
  const bool is_one = failure == std::errc() && at == end && number < bucket_count;
  return is_one ? std::optional(number) : std::nullopt;
}

struct Run {
  Bucket first = 0;
  Bucket last = 0;  // may be the lower one
};

std::optional<Run> run_of(std::string_view text) noexcept {
  const std::size_t dash = text.find('-');
  const auto first = number_of(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : number_of(text.substr(dash + 1));
  return first && last ? std::optional(Run{*first, *last}) : std::nullopt;
}

// Reads the rows one by one. A bucket that comes twice is an error at once, so that the work is
// bounded by the number of buckets, whatever is written.
class Reader {
 public:
  Result<std::vector<Bucket>> row(const TableRow& row, std::size_t number) {
    const std::string place = fmt::format("table[{}]", number);
    if (auto checked = check_member_name(row.member); !checked) {
      return invalid_input(fmt::format("{}.member: {}", place, checked.error().message));
    }
    if (!members_.insert(row.member).second) {
      return invalid_input(
          fmt::format("{}.member: {} has a row before; give it one", place, quotation(row.member)));
    }
    std::vector<Bucket> buckets;
    for (std::size_t at = 0; at <= row.buckets.size();) {
      const std::size_t end = std::min(row.buckets.find(',', at), row.buckets.size());
      const std::string_view text = std::string_view(row.buckets).substr(at, end - at);
      const auto run = run_of(text);
      if (!run) {
        return invalid_input(fmt::format(
            "{}.buckets: {} is no bucket and no run of them; write numbers from 0 to {}, such as "
            "0-818,1200",
            place, quotation(text), bucket_count - 1));
      }
      if (const auto twice = add(*run, buckets)) {
        return invalid_input(
            fmt::format("{}.buckets: bucket {} stands twice; give it to one", place, *twice));
      }
      at = end + 1;
    }
    return buckets;
  }

  [[nodiscard]] std::optional<std::size_t> missing() const {
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
      if (!is_there_[bucket]) return bucket;
    }
    return std::nullopt;
  }

 private:
  // The bucket that is there already.
  std::optional<Bucket> add(const Run& run, std::vector<Bucket>& buckets) {
    const int step = run.last >= run.first ? 1 : -1;
    for (int bucket = run.first;; bucket += step) {
      const auto index = static_cast<Bucket>(bucket);
      if (is_there_[index]) return index;
      is_there_[index] = true;
      buckets.push_back(index);
      if (index == run.last) return std::nullopt;
    }
  }

  std::vector<bool> is_there_ = std::vector<bool>(bucket_count);
  std::set<std::string_view> members_;
};

}  // namespace

std::vector<TableRow> table_rows(std::span<const Member> members, const BucketHands& hands) {
  std::vector<TableRow> rows;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!hands[i].empty()) rows.push_back({members[i].name, runs_of(hands[i])});
  }
  return rows;
}

Result<BucketHands> read_table(std::span<const TableRow> table) {
  if (table.size() > limits::members) {
    return invalid_input(
        fmt::format("table: has {} rows; at most {}", table.size(), limits::members));
  }
  Reader reader;
  BucketHands hands;
  for (std::size_t i = 0; i < table.size(); ++i) {
    auto row = reader.row(table[i], i);
    if (!row) return row.error();
    hands.push_back(*std::move(row));
  }
  if (const auto missing = reader.missing()) {
    return invalid_input(fmt::format("table: no row has bucket {}; give each of the {} to a member",
                                     *missing, bucket_count));
  }
  return hands;
}

}  // namespace ringside::shard
