#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "shard/topology.h"

namespace ringside::simulate {

// Keys, and the requests for them in the unit of their weights.
struct Load {
  std::uint64_t keys = 0;
  double weight = 0;
  Load& operator+=(const Load& other) noexcept {
    keys += other.keys;
    weight += other.weight;
    return *this;
  }
  bool operator==(const Load&) const = default;
};

// What lies where after a change, and what had to move for it.
struct Tally {
  std::vector<Load> of_members;  // by their index in the topology after the change
  Load all;
  Load moved;          // has another owner than before
  Load between_stays;  // moved from one to another of those that are members before and after
};

// Where the members of one topology are in another one; nullopt: not a member there.
using Renumbering = std::vector<std::optional<shard::MemberIndex>>;
[[nodiscard]] Renumbering renumbering(std::span<const shard::Member> from,
                                      std::span<const shard::Member> to);

// Adds up units (keys or buckets), one by one.
class Tallying {
 public:
  // `before` is empty where there was nothing before: then nothing moves.
  Tallying(std::span<const shard::Member> before, std::span<const shard::Member> after);
  void add(const Load& load, shard::MemberIndex after) noexcept {
    tally_.of_members[after] += load;
    tally_.all += load;
  }
  void add(const Load& load, shard::MemberIndex before, shard::MemberIndex after) noexcept {
    add(load, after);
    if (now_[before] == after) return;
    tally_.moved += load;
    if (now_[before] && earlier_[after]) tally_.between_stays += load;
  }
  [[nodiscard]] Tally take() && noexcept { return std::move(tally_); }

 private:
  Renumbering now_;      // of the members before
  Renumbering earlier_;  // of the members after
  Tally tally_;
};

// How evenly something is spread: each replica's part as a multiple of what its weight entitles it
// to. All are 1, and the deviation 0, where it is even. Replicas of weight 0 don't count.
struct Balance {
  double peak = 0;
  double least = 0;
  double deviation = 0;  // standard deviation of these multiples
  bool operator==(const Balance&) const = default;
};

// What moved, in percent.
struct Movement {
  double keys_percent = 0;
  double weight_percent = 0;  // of requests: so many points the hit rate dips without a handoff
  double between_stays_percent = 0;  // of keys
  double least_percent = 0;          // what no scheme can do without, if all are to be even
  std::uint64_t keys = 0;
  double least_keys = 0;
  bool operator==(const Movement&) const = default;
};

struct Figures {
  std::optional<Movement> movement;  // nullopt: there was nothing before
  Balance keys;
  Balance weight;
  std::size_t empty = 0;  // replicas that have a weight and no key
};

[[nodiscard]] Figures figures_of(const Tally& tally, std::span<const shard::Member> before,
                                 std::span<const shard::Member> after);

// The part, 0 to 1, of all keys that must move at least so that each replica has its weight's part
// before and after: what the replicas that grow gain.
[[nodiscard]] double least_moved(std::span<const shard::Member> before,
                                 std::span<const shard::Member> after);

}  // namespace ringside::simulate
