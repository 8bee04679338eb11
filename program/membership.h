#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "base/error.h"
#include "program/configuration.h"
#include "shard/topology.h"
#include "shard/topology_json.h"

namespace ringside::program {

// A topology and where its members are reached now. A value; the topology is shared.
struct Membership {
  std::shared_ptr<const shard::Topology> topology;
  std::vector<Endpoint> addresses;  // of the topology's members, in their order
};

// Refuses what Topology::make refuses, and two members at one address.
[[nodiscard]] Result<Membership> make_membership(const std::vector<shard::MemberAt>& members,
                                                 std::string_view scheme, std::uint64_t version);

// What `PUT /topology` asks for, judged against what is in use: version 0 is the next one, and one
// that is not newer is refused with ErrorKind::refused.
[[nodiscard]] Result<Membership> next_membership(const Membership& present,
                                                 const shard::TopologyRequest& request);

// THE rule of the file and `PUT /topology`, of which the newer version wins: a file that is loaded
// again replaces the membership only where what it says of it (members, scheme, topology_version)
// is not what it said before. The version is the file's topology_version, which must then be newer
// than the present one, else the present one's successor.
[[nodiscard]] Result<Membership> reloaded_membership(const Membership& present,
                                                     const std::vector<shard::MemberAt>& before,
                                                     const std::vector<shard::MemberAt>& after,
                                                     const Configuration& running,
                                                     const Configuration& next);

// The body of `GET /topology`: shard::to_json with each member's address.
[[nodiscard]] std::string to_json(const Membership& membership);

}  // namespace ringside::program
