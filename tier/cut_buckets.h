#pragma once

#include <cstddef>

#include "shard/topology.h"
#include "tier/holdings.h"

// A scheme with a state cuts buckets (shard/state.h). Who had one has all that is cut of it,
// whether or not it has heard of the cut.
namespace ringside::tier {

[[nodiscard]] Numbers numbers_of(const shard::Topology& topology);

// Of a bucket that a peer does not know, which knows so many: the one of which it was cut that the
// peer knows. Itself, where it was cut of none.
[[nodiscard]] shard::Bucket told_ancestor(shard::Bucket bucket, std::size_t known_buckets,
                                          const shard::Topology& topology);

// Says of all buckets of the topology what `holdings` says of the first `known_buckets`. Of other
// numbers than the topology's they say nothing. Returns of how many they speak then.
[[nodiscard]] std::size_t extend(Holdings& holdings, std::size_t known_buckets,
                                 const shard::Topology& topology);

}  // namespace ringside::tier
