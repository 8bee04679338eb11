// The body of `PUT /topology`, and the topology that is made of it.
#include <nlohmann/json.hpp>

#include "base/limits.h"
#include "shard/schemes.h"
#include "shard/topology_json.h"
#include "tests/fuzz/fuzzer.h"

namespace ringside::fuzz {
namespace {

std::string written(const shard::TopologyRequest& request) {
  nlohmann::json out{{"version", request.version}, {"scheme", request.scheme}};
  out["members"] = nlohmann::json::array();
  for (const shard::MemberAt& at : request.members) {
    out["members"].push_back({{"name", at.member.name},
                              {"address", at.address.text()},
                              {"weight", at.member.weight},
                              {"zone", at.member.zone}});
  }
  return out.dump();
}

void check_owners(const shard::Topology& topology) {
  const auto& owners = topology.bucket_owners();
  if (topology.members().empty()) return;
  for (const std::string_view bytes : {"7\n", "\n7\n", "films\n7\n", "DE\n/x\n", ""}) {
    const shard::ShardKey key{bytes, hash64(bytes)};
    const shard::MemberIndex owner = topology.owner(key);
    RINGSIDE_CHECK(owner < topology.members().size());
    if (owners.empty()) continue;
    const shard::Bucket bucket = topology.bucket_for(key);
    RINGSIDE_CHECK(bucket < owners.size() && owners[bucket] == owner);
  }
  for (std::size_t bucket = 0; bucket < owners.size(); ++bucket) {
    const auto parent = topology.parent_of(static_cast<shard::Bucket>(bucket));
    RINGSIDE_CHECK(!parent || *parent < bucket);
  }
}

// Of few members, and where the text says more than their names: to make a topology takes much
// longer than to read it.
void examine_topology(const shard::TopologyRequest& request) {
  constexpr std::size_t members_most = 4;
  const bool has_routes = request.scheme.find(',') != std::string::npos;
  if (request.members.size() > members_most || (!request.state && !has_routes)) return;
  std::vector<shard::Member> members;
  for (const shard::MemberAt& at : request.members) members.push_back(at.member);
  const shard::State state = request.state.value_or(shard::State{});
  const auto made = shard::Topology::make(members, request.scheme, 1, state);
  if (!made) return check_message(made.error());
  check_owners(**made);
  const std::size_t shards = (*made)->state().shards.size();
  // A range is cut at a key, a leaf by itself.
  for (const std::vector<std::string>& at : {std::vector<std::string>{"m"}, {}}) {
    const auto cut = shard::cut_state(**made, {shards / 2, at, {}});
    if (!cut) {
      check_message(cut.error());
      continue;
    }
    const auto after = shard::Topology::make(members, request.scheme, 2, *cut);
    RINGSIDE_CHECK(after && (*after)->extends(**made));
    check_owners(**after);
  }
}

}  // namespace

void examine(std::string_view input) {
  const auto request = shard::parse_topology_json(input);
  const auto anywhere = shard::parse_topology_json(input, shard::Addresses::not_needed);
  RINGSIDE_CHECK(anywhere || !request);
  if (!request) {
    RINGSIDE_CHECK(request.error().kind == ErrorKind::invalid_input);
    check_message(request.error());
    return;
  }
  RINGSIDE_CHECK(request->members.size() <= limits::members);
  for (const shard::MemberAt& at : request->members) {
    RINGSIDE_CHECK(shard::check_member_name(at.member.name));
    RINGSIDE_CHECK(shard::check_member_weight(at.member.weight));
    RINGSIDE_CHECK(shard::check_member_zone(at.member.zone));
  }
  const auto again = shard::parse_topology_json(written(*request));
  RINGSIDE_CHECK(again && again->version == request->version && again->scheme == request->scheme &&
                 again->members == request->members);
  examine_topology(*request);
}

}  // namespace ringside::fuzz
