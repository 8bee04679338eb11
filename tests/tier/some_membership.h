#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shard/topology.h"
#include "tier/buckets.h"
#include "tier/membership.h"

namespace ringside::tier {

// At h:1, h:2, …, in the order given.
inline std::vector<shard::MemberAt> members_at(const std::vector<std::string>& names) {
  std::vector<shard::MemberAt> members;
  for (const std::string& name : names) {
    const auto port = static_cast<std::uint16_t>(members.size() + 1);
    members.push_back({{name, 1, ""}, {"h", port}});
  }
  return members;
}

inline MembershipPointer membership_of(const std::vector<std::string>& names,
                                       std::uint64_t version = 1,
                                       std::string_view scheme = "ring") {
  return make_membership(members_at(names), scheme, version).value();
}

// The first bucket that `from` has in `before` and `to` in `after`.
inline shard::Bucket moved_bucket(const Membership& before, const Membership& after,
                                  std::string_view from, std::string_view to) {
  for (const shard::Move& move : shard::diff(*before.topology, *after.topology)) {
    if (before.name(*move.from) == from && after.name(*move.to) == to) return move.bucket;
  }
  ADD_FAILURE() << "nothing moves";
  return 0;
}

inline shard::Bucket bucket_of_owner(const MembershipPointer& membership, const std::string& name) {
  return buckets_of(*membership, name)->front();
}

}  // namespace ringside::tier
