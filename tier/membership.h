#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "base/error.h"
#include "shard/topology.h"
#include "shard/topology_json.h"

namespace ringside::tier {

// How a member is, as its source tells. It never changes who owns what.
struct MemberState {
  bool ready = true;  // takes new requests
  bool terminating = false;
  std::string zone;  // that it is in now
  bool operator==(const MemberState&) const = default;
};

// What each process of a tier knows of the others: the topology, and beside it where its members
// are reached now and how they are. An immutable value, the same in both halves; each core is given
// it whole, wherever it came from.
struct Membership {
  // As many addresses as there are members; as many states, or none.
  Membership(std::shared_ptr<const shard::Topology> its_topology,
             std::vector<Endpoint> its_addresses, std::vector<MemberState> its_states = {});

  const std::shared_ptr<const shard::Topology> topology;
  const std::string topology_id;  // in hexadecimal, as requests carry it
  const std::vector<Endpoint>
      addresses;  // of the topology's members, in their order; host empty: nowhere
  const std::vector<MemberState> states;  // likewise; empty: the source does not tell

  [[nodiscard]] std::size_t size() const noexcept { return addresses.size(); }
  [[nodiscard]] const std::string& name(shard::MemberIndex member) const noexcept {
    return topology->members()[member].name;
  }
  [[nodiscard]] const Endpoint& address(shard::MemberIndex member) const noexcept {
    return addresses[member];
  }
  [[nodiscard]] bool is_somewhere(shard::MemberIndex member) const noexcept {
    return !addresses[member].host.empty();
  }
  // Who is nowhere is not ready either, whether or not its source says so.
  [[nodiscard]] bool is_ready(shard::MemberIndex member) const noexcept {
    return is_somewhere(member) && (states.empty() || states[member].ready);
  }
  // False of a member of weight 0, unless keys were placed there by hand: nothing is its own, and
  // nobody turns to it when others fail.
  [[nodiscard]] bool may_own(shard::MemberIndex member) const noexcept {
    return topology->owns_any(member);
  }
  [[nodiscard]] std::size_t ready_members() const noexcept;
};

using MembershipPointer = std::shared_ptr<const Membership>;

// Refuses what Topology::make refuses, and two members at one address.
[[nodiscard]] Result<MembershipPointer> make_membership(const std::vector<shard::MemberAt>& members,
                                                        std::string_view scheme,
                                                        std::uint64_t version,
                                                        shard::State state = {});

// The highest version that is accepted: one can always be followed by a newer one.
inline constexpr std::uint64_t version_most = std::uint64_t{1} << 62;

// What `PUT /topology` asks for, judged against what is in use: version 0 is the next one, and one
// that is not newer is refused with ErrorKind::refused. Without a state that of the same scheme
// stays as it is.
[[nodiscard]] Result<MembershipPointer> next_membership(const Membership& present,
                                                        const shard::TopologyRequest& request);

// The same members at the same places, under another scheme or state: what a reload may ask for
// where the members are discovered.
[[nodiscard]] Result<MembershipPointer> with_scheme(const MembershipPointer& present,
                                                    std::string_view scheme,
                                                    shard::State state = {});

}  // namespace ringside::tier
