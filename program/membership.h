#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "base/error.h"
#include "k8s/roster.h"
#include "program/configuration.h"
#include "shard/topology.h"
#include "shard/topology_json.h"

namespace ringside::program {

// How a member is, as its source tells.
struct Standing {
  bool ready = true;
  bool terminating = false;
  std::string zone;
  bool operator==(const Standing&) const = default;
};

// A topology, and beside it where its members are reached now and how they are. A value; the
// topology is shared.
struct Membership {
  std::shared_ptr<const shard::Topology> topology;
  std::vector<Endpoint>
      addresses;  // of the topology's members, in their order; host empty: nowhere
  std::vector<Standing> standings{};  // likewise; empty: the source does not tell, all are ready
};

// At the start: those listed, or none where they are to be discovered, with version 0, which is no
// source's.
[[nodiscard]] Result<Membership> first_membership(const Configuration& configuration,
                                                  const std::vector<shard::MemberAt>& listed);

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

// What a source that is watched tells. Its replicas are the members, whether they are there or not;
// the version is its own, or the present one's successor where it has none and the topology is
// another.
[[nodiscard]] Result<Membership> discovered_membership(const Membership& present,
                                                       const k8s::Roster& roster,
                                                       std::string_view scheme);

// The same members at the same places, under another scheme: what a reload may ask for where the
// members are discovered.
[[nodiscard]] Result<Membership> with_scheme(const Membership& present, std::string_view scheme);

// The body of `GET /topology`: shard::to_json with each member's address (null: nowhere at present)
// and, where the source tells, `ready`, `terminating` and `placed_in`, the zone that it is in now.
[[nodiscard]] std::string to_json(const Membership& membership);

}  // namespace ringside::program
