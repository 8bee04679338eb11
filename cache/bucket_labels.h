#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "cache/cache_key.h"
#include "shard/topology.h"

namespace ringside::cache {

using TopologyPointer = std::shared_ptr<const shard::Topology>;

// The shard key that a sidecar told with the other parts of a cache key, where replicas find
// buckets by it (sidecar::append_shard_key); nullopt: none.
[[nodiscard]] std::optional<std::string> shard_key_in(std::string_view key_text);

// In which bucket a key is. Where the hash says it, the sidecar does; else the replica finds out by
// itself, since the two may know different cuts. Nullopt: nobody knows.
[[nodiscard]] std::optional<shard::Bucket> bucket_by(const shard::Topology* topology,
                                                     std::string_view key_text,
                                                     std::optional<shard::Bucket> told);

// The same by the topology that a replica follows. Thread-safe.
class BucketLabels {
 public:
  // True: what is stored may lie in another bucket by now. `was`: the one that was followed before.
  bool follow(TopologyPointer topology, TopologyPointer& was);
  [[nodiscard]] std::optional<shard::Bucket> of(const CacheKey& key) const {
    return finds_buckets_.load() ? by_topology(key) : key.bucket;
  }

 private:
  [[nodiscard]] std::optional<shard::Bucket> by_topology(const CacheKey& key) const;

  std::atomic<bool> finds_buckets_{false};
  mutable std::mutex mutex_;
  TopologyPointer topology_;
};

}  // namespace ringside::cache
