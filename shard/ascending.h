#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shard/range.h"

namespace ringside::shard {

// Scheme `ascending`: for keys that grow, such as numbers of rows or times. A shard holds the keys
// from its least one, `at`, up to the next shard's; the newest holds all from its own on. When it
// has as many as it may have, the next one opens behind it: nothing ever moves by that.
class Ascending final : public Sharded {
 public:
  Ascending(std::span<const Member> members, const State& state)
      : Sharded(members, state), ranges_(state) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "ascending"; }
  [[nodiscard]] Bucket bucket_for(const ShardKey& key) const noexcept override {
    return ranges_.of(text_of(key));
  }

 private:
  Ranges ranges_;
};

// Besides what check_ranges refuses: shards that do not stand in the order of their keys.
[[nodiscard]] Result<std::shared_ptr<const Scheme>> make_ascending(std::span<const Member> members,
                                                                   const State& state);
// Opens the next shard, at a key behind the newest one's.
[[nodiscard]] Result<State> open_next(const State& state, const Cut& cut);
// Behind the greatest of the newest shard's keys: at the next number where it ends with one.
[[nodiscard]] std::optional<std::vector<std::string>> where_the_next_opens(
    const State& state, std::size_t shard, std::vector<std::string> keys);

}  // namespace ringside::shard
