#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "simulate/key_set.h"

namespace ringside::simulate {

using TopologyPointer = std::shared_ptr<const shard::Topology>;

// The state of the next step of a simulation: carried over from `before`, or at the first step
// (null) made of the members and the keys: `range` is cut where each range is asked for equally
// often, `ascending` where each has as many keys, `split-tree` until no leaf has more than its
// share, and `directory` has placed what it was asked for first. Empty: the scheme has none.
[[nodiscard]] shard::State next_state(const TopologyPointer& before,
                                      const std::vector<shard::Member>& members,
                                      std::string_view scheme, const KeySet& keys);

}  // namespace ringside::simulate
