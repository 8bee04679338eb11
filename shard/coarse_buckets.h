#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "shard/topology.h"

// The buckets of keys by hash where a topology has other buckets besides: fewer, so that there are
// numbers left for those.
namespace ringside::shard {

inline constexpr unsigned coarse_bucket_bits = 12;
inline constexpr std::size_t coarse_buckets = std::size_t{1} << coarse_bucket_bits;  // 4,096

[[nodiscard]] constexpr Bucket coarse_bucket_of(std::uint64_t key_hash) noexcept {
  return static_cast<Bucket>(key_hash >> (64 - coarse_bucket_bits));
}

// A key of the bucket, as a scheme by hash sees it: all of them have the replica of the first.
[[nodiscard]] constexpr ShardKey first_key_in(std::size_t coarse_bucket) noexcept {
  return {{}, std::uint64_t{coarse_bucket} << (64 - coarse_bucket_bits)};
}

// The owner of each of a scheme's first so many buckets. Requires a member with a weight.
[[nodiscard]] inline std::vector<MemberIndex> first_owners(const Scheme& scheme,
                                                           std::size_t buckets) {
  std::vector<MemberIndex> owners;
  owners.reserve(buckets);
  std::vector<MemberIndex> first;
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
    scheme.owners_of(static_cast<Bucket>(bucket), 1, first);
    owners.push_back(first.front());
  }
  return owners;
}

}  // namespace ringside::shard
