#include "tier/membership.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "base/check.h"
#include "shard/member.h"

namespace ringside::tier {

Membership::Membership(std::shared_ptr<const shard::Topology> its_topology,
                       std::vector<Endpoint> its_addresses, std::vector<MemberState> its_states)
    : topology(std::move(its_topology)),
      topology_id(topology->id().hex()),
      addresses(std::move(its_addresses)),
      states(std::move(its_states)) {
  RINGSIDE_CHECK(addresses.size() == topology->members().size());
  RINGSIDE_CHECK(states.empty() || states.size() == addresses.size());
}

std::size_t Membership::ready_members() const noexcept {
  std::size_t ready = 0;
  for (shard::MemberIndex member = 0; member < size(); ++member) ready += is_ready(member) ? 1 : 0;
  return ready;
}

Result<MembershipPointer> make_membership(const std::vector<shard::MemberAt>& members,
                                          std::string_view scheme, std::uint64_t version,
                                          shard::State state) {
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
  auto topology = shard::Topology::make(std::move(named), scheme, version, std::move(state));
  if (!topology) return topology.error();
  std::vector<Endpoint> addresses;
  for (const shard::Member& member : (*topology)->members()) {
    addresses.push_back(*address_of.at(member.name));
  }
  return std::make_shared<const Membership>(*std::move(topology), std::move(addresses));
}

Result<MembershipPointer> next_membership(const Membership& present,
                                          const shard::TopologyRequest& request) {
  const std::uint64_t in_use = present.topology->version();
  if (request.version != 0 && request.version <= in_use) {
    return Error{ErrorKind::refused, ErrorSource::client, Retry::no,
                 fmt::format("version {} is not newer than {}, which is in use with id {}; give {} "
                             "or leave version out",
                             request.version, in_use, present.topology_id, in_use + 1)};
  }
  if (request.version > version_most) {
    return invalid_input(fmt::format("version {} leaves no room for newer ones; {} is the highest",
                                     request.version, version_most));
  }
  const bool keeps_state = !request.state && request.scheme == present.topology->scheme();
  return make_membership(
      request.members, request.scheme, request.version != 0 ? request.version : in_use + 1,
      keeps_state ? present.topology->state() : request.state.value_or(shard::State{}));
}

Result<MembershipPointer> with_scheme(const MembershipPointer& present, std::string_view scheme,
                                      shard::State state) {
  const shard::Topology& before = *present->topology;
  if (before.scheme() == scheme && state.is_empty()) return present;
  auto topology =
      shard::Topology::make(before.members(), scheme, before.version(), std::move(state));
  if (!topology) return topology.error();
  if ((*topology)->id() == before.id()) return present;
  return std::make_shared<const Membership>(*std::move(topology), present->addresses,
                                            present->states);
}

}  // namespace ringside::tier
