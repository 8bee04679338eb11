#include "program/membership.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "shard/member.h"

namespace ringside::program {
namespace {

using TopologyResult = Result<std::shared_ptr<const shard::Topology>>;

// `version` 0: the source has none. What is the same as before is not built again: most news is of
// addresses and readiness.
TopologyResult discovered_topology(const std::shared_ptr<const shard::Topology>& present,
                                   std::vector<shard::Member> members, std::string_view scheme,
                                   std::uint64_t version) {
  std::sort(members.begin(), members.end(),
            [](const auto& a, const auto& b) { return shard::natural_order(a.name, b.name) < 0; });
  const std::uint64_t in_use = present->version();
  const bool is_same_scheme = present->scheme() == scheme;
  const bool same = in_use != 0 && is_same_scheme && present->members() == members;
  if (version == 0) version = same ? in_use : in_use + 1;
  if (same && version == in_use) return present;
  return shard::Topology::make(std::move(members), scheme, version,
                               is_same_scheme ? present->state() : shard::State{});
}

}  // namespace

Result<MembershipPointer> no_members(const Configuration& configuration) {
  return tier::make_membership({}, tier_schemes(configuration), 0, configuration.state);
}

Result<MembershipPointer> first_membership(const Configuration& configuration,
                                           const std::vector<shard::MemberAt>& listed) {
  if (discovers(configuration)) return no_members(configuration);
  return tier::make_membership(listed, tier_schemes(configuration),
                               std::max<std::uint64_t>(configuration.topology_version, 1),
                               configuration.state);
}

Result<MembershipPointer> reloaded_membership(const MembershipPointer& present,
                                              const std::vector<shard::MemberAt>& before,
                                              const std::vector<shard::MemberAt>& after,
                                              const Configuration& running,
                                              const Configuration& next) {
  const bool is_same_rule =
      tier_schemes(running) == tier_schemes(next) && running.state == next.state;
  if (before == after && is_same_rule && running.topology_version == next.topology_version) {
    return present;
  }
  const std::uint64_t in_use = present->topology->version();
  if (next.topology_version != 0 && next.topology_version <= in_use) {
    return invalid_input(fmt::format(
        "{}: {} is not newer than {}, the version in use; give a higher number, or leave "
        "it out to have the next one",
        next.place("topology-version"), next.topology_version, in_use));
  }
  return tier::make_membership(after, tier_schemes(next),
                               next.topology_version != 0 ? next.topology_version : in_use + 1,
                               is_same_rule ? present->topology->state() : next.state);
}

Result<MembershipPointer> discovered_membership(const Membership& present,
                                                const k8s::Roster& roster,
                                                std::string_view scheme) {
  std::vector<shard::Member> members;
  for (const k8s::Replica& replica : roster.replicas) {
    members.push_back({replica.name, replica.weight, ""});
  }
  auto topology = discovered_topology(present.topology, std::move(members), scheme, roster.version);
  if (!topology) return topology.error();
  std::vector<Endpoint> addresses;
  std::vector<tier::MemberState> states;
  std::map<std::string_view, const k8s::Replica*> replica_of;
  for (const k8s::Replica& replica : roster.replicas) replica_of[replica.name] = &replica;
  for (const shard::Member& member : (*topology)->members()) {
    const k8s::Replica& replica = *replica_of.at(member.name);
    addresses.push_back(replica.address);
    states.push_back({replica.ready, replica.terminating, replica.zone});
  }
  return std::make_shared<const Membership>(*std::move(topology), std::move(addresses),
                                            std::move(states));
}

}  // namespace ringside::program
