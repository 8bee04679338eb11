#include "tier/cut_buckets.h"

#include <algorithm>

namespace ringside::tier {

using shard::Bucket;

Numbers numbers_of(const shard::Topology& topology) {
  if (!topology.finds_buckets()) return {};
  return {topology.numbering(), topology.bucket_owners().size()};
}

Bucket told_ancestor(Bucket bucket, std::size_t known_buckets, const shard::Topology& topology) {
  while (bucket >= known_buckets) {
    const auto parent = topology.parent_of(bucket);
    if (!parent) break;
    bucket = *parent;
  }
  return bucket;
}

std::size_t extend(Holdings& holdings, std::size_t known_buckets, const shard::Topology& topology) {
  if (holdings.numbers.meaning != topology.numbering()) {
    holdings.epochs.clear();
    holdings.copies.clear();
    return known_buckets;
  }
  const std::size_t buckets = topology.finds_buckets() ? topology.bucket_owners().size() : 0;
  for (std::size_t i = known_buckets; i < buckets; ++i) {
    const auto parent = topology.parent_of(static_cast<Bucket>(i));
    if (!parent) continue;
    if (!holdings.epochs.empty()) holdings.epochs[i] = holdings.epochs[*parent];
    if (!holdings.copies.empty()) holdings.copies[i] = holdings.copies[*parent];
  }
  return std::max(known_buckets, buckets);
}

}  // namespace ringside::tier
