#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "k8s/roster.h"
#include "program/configuration.h"
#include "shard/topology_json.h"
#include "tier/membership.h"

// What the configuration and the sources of members make of a membership.
namespace ringside::program {

using tier::Membership;
using tier::MembershipPointer;

// Of nobody, with version 0, which is no source's.
[[nodiscard]] Result<MembershipPointer> no_members(const Configuration& configuration);

// At the start: those listed, or nobody where they are to be discovered.
[[nodiscard]] Result<MembershipPointer> first_membership(
    const Configuration& configuration, const std::vector<shard::MemberAt>& listed);

// THE rule of the file and `PUT /topology`, of which the newer version wins: a file that is loaded
// again replaces the membership only where what it says of it (members, scheme, topology_version)
// is not what it said before; likewise the
// state, which may have been cut since. The version is the file's topology_version, which must then
// be newer than the present one, else the present one's successor.
[[nodiscard]] Result<MembershipPointer> reloaded_membership(
    const MembershipPointer& present, const std::vector<shard::MemberAt>& before,
    const std::vector<shard::MemberAt>& after, const Configuration& running,
    const Configuration& next);

// What a source that is watched tells. Its replicas are the members, whether they are there or not;
// the version is its own, or the present one's successor where it has none and the topology is
// another.
[[nodiscard]] Result<MembershipPointer> discovered_membership(const Membership& present,
                                                              const k8s::Roster& roster,
                                                              std::string_view scheme);

}  // namespace ringside::program
