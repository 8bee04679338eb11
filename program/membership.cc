#include "program/membership.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/check.h"
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
  const bool same = in_use != 0 && present->scheme() == scheme && present->members() == members;
  if (version == 0) version = same ? in_use : in_use + 1;
  if (same && version == in_use) return present;
  return shard::Topology::make(std::move(members), scheme, version);
}

}  // namespace

Result<Membership> make_membership(const std::vector<shard::MemberAt>& members,
                                   std::string_view scheme, std::uint64_t version) {
  std::vector<shard::Member> named;
  std::map<std::string_view, const Endpoint*> address_of;
  std::map<Endpoint, std::string_view> name_at;
  for (const shard::MemberAt& at : members) {
    named.push_back(at.member);
    address_of[at.member.name] = &at.address;
    const auto [other, added] = name_at.emplace(at.address, at.member.name);
    if (!added && other->second != at.member.name) {
      return invalid_input(
          fmt::format("{} and {} are both at {}; each replica needs its own address", other->second,
                      at.member.name, at.address.text()));
    }
  }
  auto topology = shard::Topology::make(std::move(named), scheme, version);
  if (!topology) return topology.error();
  Membership out{*std::move(topology), {}, {}};
  for (const shard::Member& member : out.topology->members()) {
    out.addresses.push_back(*address_of.at(member.name));
  }
  return out;
}

Result<Membership> first_membership(const Configuration& configuration,
                                    const std::vector<shard::MemberAt>& listed) {
  if (discovers(configuration)) return make_membership({}, configuration.scheme, 0);
  return make_membership(listed, configuration.scheme,
                         std::max<std::uint64_t>(configuration.topology_version, 1));
}

Result<Membership> next_membership(const Membership& present,
                                   const shard::TopologyRequest& request) {
  const std::uint64_t in_use = present.topology->version();
  if (request.version != 0 && request.version <= in_use) {
    return Error{ErrorKind::refused, ErrorSource::client, Retry::no,
                 fmt::format("version {} is not newer than {}, which is in use with id {}; give {} "
                             "or leave version out",
                             request.version, in_use, present.topology->id().hex(), in_use + 1)};
  }
  return make_membership(request.members, request.scheme,
                         request.version != 0 ? request.version : in_use + 1);
}

Result<Membership> reloaded_membership(const Membership& present,
                                       const std::vector<shard::MemberAt>& before,
                                       const std::vector<shard::MemberAt>& after,
                                       const Configuration& running, const Configuration& next) {
  if (before == after && running.scheme == next.scheme &&
      running.topology_version == next.topology_version) {
    return present;
  }
  const std::uint64_t in_use = present.topology->version();
  if (next.topology_version != 0 && next.topology_version <= in_use) {
    return invalid_input(fmt::format(
        "{}: {} is not newer than {}, the version in use; give a higher number, or leave "
        "it out to have the next one",
        next.place("topology-version"), next.topology_version, in_use));
  }
  return make_membership(after, next.scheme,
                         next.topology_version != 0 ? next.topology_version : in_use + 1);
}

Result<Membership> discovered_membership(const Membership& present, const k8s::Roster& roster,
                                         std::string_view scheme) {
  std::vector<shard::Member> members;
  for (const k8s::Replica& replica : roster.replicas) {
    members.push_back({replica.name, replica.weight, ""});
  }
  auto topology = discovered_topology(present.topology, std::move(members), scheme, roster.version);
  if (!topology) return topology.error();
  Membership out{*std::move(topology), {}, {}};
  std::map<std::string_view, const k8s::Replica*> replica_of;
  for (const k8s::Replica& replica : roster.replicas) replica_of[replica.name] = &replica;
  for (const shard::Member& member : out.topology->members()) {
    const k8s::Replica& replica = *replica_of.at(member.name);
    out.addresses.push_back(replica.address);
    out.standings.push_back({replica.ready, replica.terminating, replica.zone});
  }
  return out;
}

Result<Membership> with_scheme(const Membership& present, std::string_view scheme) {
  if (present.topology->scheme() == scheme) return present;
  auto topology =
      shard::Topology::make(present.topology->members(), scheme, present.topology->version());
  if (!topology) return topology.error();
  return Membership{*std::move(topology), present.addresses, present.standings};
}

std::string to_json(const Membership& membership) {
  auto page = nlohmann::ordered_json::parse(shard::to_json(*membership.topology));
  auto& members = page["members"];
  RINGSIDE_CHECK(members.size() == membership.addresses.size());
  for (std::size_t i = 0; i < membership.addresses.size(); ++i) {
    const Endpoint& address = membership.addresses[i];
    members[i]["address"] = nullptr;
    if (!address.host.empty()) members[i]["address"] = address.text();
    if (membership.standings.empty()) continue;
    const Standing& standing = membership.standings[i];
    members[i]["ready"] = standing.ready;
    members[i]["terminating"] = standing.terminating;
    if (!standing.zone.empty()) members[i]["placed_in"] = standing.zone;
  }
  return page.dump(2) + "\n";
}

}  // namespace ringside::program
