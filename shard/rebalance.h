#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shard/topology.h"

namespace ringside::shard {

// So many buckets go from one member to another.
struct BucketMove {
  MemberIndex from = 0;
  MemberIndex to = 0;
  std::size_t buckets = 0;
  bool operator==(const BucketMove&) const = default;
};

// How many buckets each member is to have, of as many as there are in `counts` together: its share
// by weight, rounded down or up. Who is rounded up are those who have more than their share rounded
// down now, so that the fewest move; where that leaves a choice, those of the greater remainder,
// then the first. Weights that are all 0: nobody is to have more or less than now. Requires as many
// weights as counts.
[[nodiscard]] std::vector<std::size_t> balanced_counts(std::span<const std::size_t> counts,
                                                       std::span<const std::uint32_t> weights);

// The moves that make balanced_counts of `counts`, from any start: as few buckets as can be. Who
// gives and who takes are paired in order.
[[nodiscard]] std::vector<BucketMove> rebalance(std::span<const std::size_t> counts,
                                                std::span<const std::uint32_t> weights);

}  // namespace ringside::shard
