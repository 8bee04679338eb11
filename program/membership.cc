#include "program/membership.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/check.h"

namespace ringside::program {

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
  Membership out{*std::move(topology), {}};
  for (const shard::Member& member : out.topology->members()) {
    out.addresses.push_back(*address_of.at(member.name));
  }
  return out;
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

std::string to_json(const Membership& membership) {
  auto page = nlohmann::ordered_json::parse(shard::to_json(*membership.topology));
  auto& members = page["members"];
  RINGSIDE_CHECK(members.size() == membership.addresses.size());
  for (std::size_t i = 0; i < membership.addresses.size(); ++i) {
    members[i]["address"] = membership.addresses[i].text();
  }
  return page.dump(2) + "\n";
}

}  // namespace ringside::program
