// The body of `PUT /topology`.
#include <nlohmann/json.hpp>

#include "base/limits.h"
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
}

}  // namespace ringside::fuzz
