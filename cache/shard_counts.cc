#include "cache/shard_counts.h"

#include <set>

#include "cache/bucket_labels.h"
#include "tier/cut_buckets.h"

namespace ringside::cache {
namespace {

using shard::Bucket;
using shard::Topology;

// Of those that `followed` has, the buckets of which something was cut since.
std::set<Bucket> cut_since(const Topology& followed, const Topology& asked) {
  const std::size_t known = followed.first_shard() + followed.state().shards.size();
  const std::size_t end = asked.first_shard() + asked.state().shards.size();
  std::set<Bucket> cut;
  for (std::size_t i = known; i < end; ++i) {
    cut.insert(tier::told_ancestor(static_cast<Bucket>(i), known, asked));
  }
  return cut;
}

}  // namespace

std::optional<std::vector<std::size_t>> stored_by_shard(Store& store, const Topology& followed,
                                                        const Topology& asked) {
  const std::size_t first = asked.first_shard();
  std::vector<std::size_t> stored(asked.state().shards.size());
  if (asked.members().empty() || !asked.extends(followed)) return std::nullopt;
  const std::set<Bucket> cut = cut_since(followed, asked);
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const auto bucket = static_cast<Bucket>(first + i);
    if (!cut.contains(bucket)) stored[i] = store.count_of(bucket);
  }
  for (const Bucket bucket : cut) {
    store.visit(bucket, [&, bucket](const Store::Entry& entry) {
      const Bucket in = bucket_by(&asked, entry.key.text, std::nullopt).value_or(bucket);
      if (in >= first) stored[in - first] += entry.variants.size();
    });
  }
  return stored;
}

}  // namespace ringside::cache
