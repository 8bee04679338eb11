#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "cache/store.h"
#include "shard/topology.h"

namespace ringside::cache {

// How many responses are stored of each shard of `asked`, in the order of its state's shards, in a
// store that follows `followed`. Shards that only `asked` has were cut of others: what is stored of
// these is looked at key by key, and others wait for no more than limits::bucket_step_rows of it.
// Nullopt: the two number their buckets differently, or `asked` has fewer shards or no members.
[[nodiscard]] std::optional<std::vector<std::size_t>> stored_by_shard(
    Store& store, const shard::Topology& followed, const shard::Topology& asked);

}  // namespace ringside::cache
