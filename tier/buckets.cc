#include "tier/buckets.h"

namespace ringside::tier {

std::optional<std::vector<shard::Bucket>> buckets_of(const Membership& membership,
                                                     std::string_view own_name) {
  const shard::Topology& topology = *membership.topology;
  const auto& owners = topology.bucket_owners();
  if (owners.empty() && !topology.members().empty()) return std::nullopt;
  std::vector<shard::Bucket> buckets;
  const auto own = topology.find(own_name);
  if (!own) return buckets;
  for (std::size_t bucket = 0; bucket < owners.size(); ++bucket) {
    if (owners[bucket] == *own) buckets.push_back(static_cast<shard::Bucket>(bucket));
  }
  return buckets;
}

std::vector<Peer> peers_of(const Membership& membership, std::string_view own_name) {
  std::vector<Peer> peers;
  for (shard::MemberIndex i = 0; i < membership.size(); ++i) {
    if (membership.name(i) != own_name)
      peers.push_back({membership.name(i), membership.address(i)});
  }
  return peers;
}

}  // namespace ringside::tier
