#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shard/sharded.h"

namespace ringside::shard {

// The shards of ordered keys: each holds the keys from its `at` up to the next one's, in
// natural_order, by which numbers compare as numbers. So there is neither a gap nor an overlap as
// long as one begins with the empty key and no two begin with the same.
class Ranges {
 public:
  explicit Ranges(const State& state);
  // The number of the shard of a key. No memory is allocated. Requires a shard.
  [[nodiscard]] Bucket of(std::string_view key) const noexcept;
  // The first key behind a shard; nullptr: there is none.
  [[nodiscard]] const std::string* end_of(std::size_t shard) const noexcept;

 private:
  std::vector<std::pair<std::string, Bucket>> starts_;  // in order
};

// Refuses shards that overlap or leave keys out.
[[nodiscard]] Result<void> check_ranges(const State& state);

// Scheme `range`: ordered keys or numeric ids, cut into ranges. Widths are as the state says, so
// that a replica of more capacity may have a wider one or several; a hot range is cut in two or
// three. Neighbours in the order of keys are together, which no scheme by hash can do.
class Range final : public Sharded {
 public:
  Range(std::span<const Member> members, const State& state)
      : Sharded(members, state), ranges_(state) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "range"; }
  [[nodiscard]] Bucket bucket_for(const ShardKey& key) const noexcept override {
    return ranges_.of(text_of(key));
  }

 private:
  Ranges ranges_;
};

[[nodiscard]] Result<std::shared_ptr<const Scheme>> make_range(std::span<const Member> members,
                                                               const State& state);
// One range, of all keys.
[[nodiscard]] State first_ranges();
// The first keys of those that were there from the beginning.
[[nodiscard]] std::string roots_of_ranges(const State& state);
// Cuts a range at one or two keys that lie in it.
[[nodiscard]] Result<State> cut_range(const State& state, const Cut& cut);
// In the middle of its keys.
[[nodiscard]] std::optional<std::vector<std::string>> where_to_halve(const State& state,
                                                                     std::size_t shard,
                                                                     std::vector<std::string> keys);

}  // namespace ringside::shard
