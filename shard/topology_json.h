#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "base/error.h"
#include "shard/topology.h"

namespace ringside::shard {

// The body of `GET /topology`, indented, ending with a newline:
// {"id": "32 hex digits", "version": 2, "scheme": "ring", "buckets": 16384, "members":
//  [{"name": "cache-0", "weight": 1, "zone": "a", "buckets": 1638, "share": 0.09997…}, …]}
// `buckets` and `share` (of all buckets, 0 to 1) are null where the scheme is not by bucket.
[[nodiscard]] std::string to_json(const Topology& topology);

// A member with where it is reached now, which is no part of the topology.
struct MemberAt {
  Member member;
  Endpoint address;
  bool operator==(const MemberAt&) const = default;
};

// What `PUT /topology` asks for. Not yet a topology: version and scheme are for the receiver to
// judge against what it has.
struct TopologyRequest {
  std::uint64_t version = 0;  // 0: the one after the present
  std::string scheme;
  std::vector<MemberAt> members;  // in the order written
  std::optional<State> state{};   // nullopt: as it is
};

// {"version": 2, "scheme": "ring", "members": [
//   {"name": "cache-0", "address": "10.0.0.1:8080", "weight": 1, "zone": "a"}, …]}
// `version`, `weight` (1) and `zone` ("") may be left out, and `state` (shard/state_json.h).
// Unknown keys, wrong types, unknown schemes, values that Topology::make would refuse, and names or
// addresses that stand twice are errors that name the place (`members[3].weight`) and the remedy;
// they are the client's.
// Where addresses are not needed, a member may have none, or null: what no request is sent to.
enum class Addresses { needed, not_needed };
[[nodiscard]] Result<TopologyRequest> parse_topology_json(std::string_view text,
                                                          Addresses addresses = Addresses::needed);
// Such a text, of members that have addresses.
[[nodiscard]] std::string to_json(const TopologyRequest& request);

}  // namespace ringside::shard
