#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "shard/topology.h"

namespace ringside::program {

// What a replica has stored of each shard: how many responses, in the order of the state's shards.
struct StoredShards {
  std::string replica;
  std::vector<std::size_t> responses;
};

// The body of `GET /shards`, and of `POST /shards` with a topology, of the replicas of a process:
// {"topology_id": "32 hex digits", "replicas": ["cache-0", "cache-1"], "shards": [
//   {"at": "m", "owner": "cache-1", "stored": {"cache-1": 1204}}, …]}
// A replica that is missing in `stored` has nothing of the shard. A shard may have a `route`. There
// are no shards where the scheme has none.
[[nodiscard]] std::string to_json(const shard::Topology& topology,
                                  const std::vector<StoredShards>& stored);

// Reads such a body. Replicas that are no members are left out. The result is empty if the body is
// of another topology. An Error is the peer's.
[[nodiscard]] Result<std::vector<StoredShards>> parse_stored_shards(
    std::string_view body, const shard::Topology& topology);

}  // namespace ringside::program
