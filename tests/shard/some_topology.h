#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shard/topology.h"

namespace ringside::shard {

using TopologyPointer = std::shared_ptr<const Topology>;

// cache-0 to cache-(n-1), as a StatefulSet names its pods.
inline std::vector<Member> caches(std::size_t n) {
  std::vector<Member> members;
  for (std::size_t i = 0; i < n; ++i) members.push_back({"cache-" + std::to_string(i), 1, ""});
  return members;
}

// A refused topology fails the test at its first use.
inline TopologyPointer topology_of(std::vector<Member> members, std::string_view scheme = "ring",
                                   State state = {}) {
  auto made = Topology::make(std::move(members), scheme, 1, std::move(state));
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return made ? *made : nullptr;
}

inline ShardKey key_of(std::string_view bytes) { return {bytes, hash64(bytes)}; }

// Some key in the bucket: schemes by bucket look at nothing else.
inline ShardKey key_in(std::size_t bucket) {
  return {{}, std::uint64_t{bucket} << (64 - bucket_bits)};
}

inline std::vector<std::string> owner_names(const Topology& topology, const ShardKey& key,
                                            std::size_t n) {
  std::vector<MemberIndex> owners;
  topology.owners(key, n, owners);
  std::vector<std::string> names;
  names.reserve(owners.size());
  for (const MemberIndex owner : owners) names.push_back(topology.members()[owner].name);
  return names;
}

inline const std::string& owner_name(const Topology& topology, const ShardKey& key) {
  return topology.members()[topology.owner(key)].name;
}

inline std::vector<Member> without(std::vector<Member> members, std::size_t index) {
  members.erase(members.begin() + static_cast<std::ptrdiff_t>(index));
  return members;
}

}  // namespace ringside::shard
