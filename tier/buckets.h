#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "shard/topology.h"
#include "tier/membership.h"

namespace ringside::tier {

// The buckets that a replica owns, in ascending order; none where it is no member. nullopt: the
// scheme is not by bucket, so that each key has its own owner.
[[nodiscard]] std::optional<std::vector<shard::Bucket>> buckets_of(const Membership& membership,
                                                                   std::string_view own_name);

// Another member, as a replica sees it.
struct Peer {
  std::string name;
  Endpoint address;  // host empty: nowhere at present
  bool operator==(const Peer&) const = default;
};

// All members but the replica itself, in the topology's order.
[[nodiscard]] std::vector<Peer> peers_of(const Membership& membership, std::string_view own_name);

}  // namespace ringside::tier
