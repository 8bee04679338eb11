#include "simulate/next_topology.h"

namespace ringside::simulate {

Result<TopologyPointer> next_topology(const TopologyPointer& before,
                                      const std::vector<shard::Member>& members,
                                      std::string_view scheme, const KeySet& /*keys*/) {
  if (!before) return shard::Topology::make(members, scheme, 1);
  return shard::Topology::make(members, scheme, before->version() + 1, before->state());
}

}  // namespace ringside::simulate
