#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "simulate/key_set.h"

namespace ringside::simulate {

using TopologyPointer = std::shared_ptr<const shard::Topology>;

// The topology of the next step of a simulation: the one place where a scheme's state is carried
// over from `before` (null at the first step), or made of the members and the keys. An Error is
// the scheme's own: why it refuses these members.
[[nodiscard]] Result<TopologyPointer> next_topology(const TopologyPointer& before,
                                                    const std::vector<shard::Member>& members,
                                                    std::string_view scheme, const KeySet& keys);

}  // namespace ringside::simulate
