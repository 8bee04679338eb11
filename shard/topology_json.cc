#include "shard/topology_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/limits.h"
#include "shard/json_object.h"
#include "shard/quotation.h"
#include "shard/schemes.h"
#include "shard/state_json.h"

namespace ringside::shard {
namespace {

using nlohmann::json;

Result<MemberAt> read_member(const ObjectReader& object, Addresses addresses) {
  const auto known = object.only({"name", "address", "weight", "zone"},
                                 {"buckets", "share", "ready", "terminating", "placed_in"});
  if (!known) return known.error();
  MemberAt out;

  auto name = object.text("name");
  if (!name) return name.error();
  if (auto checked = check_member_name(*name); !checked) {
    return wrong(object.place_of("name"), checked.error().message);
  }
  out.member.name = *std::move(name);

  const json* const at = object.find("address");
  if (addresses == Addresses::needed || (at != nullptr && !at->is_null())) {
    const auto address = object.text("address");
    if (!address) return address.error();
    auto endpoint = Endpoint::parse(*address);
    if (!endpoint) return wrong(object.place_of("address"), endpoint.error().message);
    out.address = *std::move(endpoint);
  }

  if (object.find("weight")) {
    const auto weight = object.count("weight");
    if (!weight) return weight.error();
    if (auto checked = check_member_weight(*weight); !checked) {
      return wrong(object.place_of("weight"), checked.error().message);
    }
    out.member.weight = static_cast<std::uint32_t>(*weight);
  }
  if (object.find("zone")) {
    auto zone = object.text("zone");
    if (!zone) return zone.error();
    if (auto checked = check_member_zone(*zone); !checked) {
      return wrong(object.place_of("zone"), checked.error().message);
    }
    out.member.zone = *std::move(zone);
  }
  return out;
}

Result<std::vector<MemberAt>> read_members(const json* array, Addresses addresses) {
  if (!array)
    return wrong("members",
                 "is missing; give a list such as [{\"name\": \"cache-0\", \"address\": "
                 "\"10.0.0.1:8080\"}]");
  if (!array->is_array()) {
    return wrong("members",
                 fmt::format("is of type {}; give an array of members", array->type_name()));
  }
  if (array->size() > limits::members) {
    return wrong("members", fmt::format("has {} members; a topology has at most {}", array->size(),
                                        limits::members));
  }
  std::vector<MemberAt> members;
  std::map<std::string, std::size_t> by_name;
  std::map<Endpoint, std::size_t> by_address;
  std::uint64_t weight = 0;
  for (std::size_t i = 0; i < array->size(); ++i) {
    const ObjectReader object((*array)[i], fmt::format("members[{}]", i));
    auto member = read_member(object, addresses);
    if (!member) return member.error();
    if (const auto [first, added] = by_name.emplace(member->member.name, i); !added) {
      return wrong(object.place_of("name"),
                   fmt::format("{} is also the name of members[{}]; each replica needs its own",
                               quotation(member->member.name), first->second));
    }
    const bool is_somewhere = !member->address.host.empty();
    if (const auto [first, added] = by_address.emplace(member->address, i);
        is_somewhere && !added) {
      return wrong(object.place_of("address"),
                   fmt::format("{} is also the address of members[{}]; each replica needs its own",
                               quotation(member->address.text()), first->second));
    }
    weight += member->member.weight;
    members.push_back(*std::move(member));
  }
  if (auto checked = check_member_weights(members.size(), weight); !checked) {
    return wrong("members", "their weights " + checked.error().message);
  }
  return members;
}

}  // namespace

std::string to_json(const Topology& topology) {
  std::vector<std::size_t> buckets(topology.members().size());
  for (const MemberIndex owner : topology.bucket_owners()) ++buckets[owner];
  const bool by_bucket = !topology.bucket_owners().empty();

  const auto all = static_cast<double>(topology.bucket_owners().size());

  auto members = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const Member& member = topology.members()[i];
    nlohmann::ordered_json entry;
    entry["name"] = member.name;
    entry["weight"] = member.weight;
    entry["zone"] = member.zone;
    entry["buckets"] = nullptr;
    entry["share"] = nullptr;
    if (by_bucket) {
      entry["buckets"] = buckets[i];
      entry["share"] = static_cast<double>(buckets[i]) / all;
    }
    members.push_back(std::move(entry));
  }
  nlohmann::ordered_json out;
  out["id"] = topology.id().hex();
  out["version"] = topology.version();
  out["scheme"] = topology.scheme();
  out["buckets"] = by_bucket ? topology.bucket_owners().size() : bucket_count;
  out["members"] = std::move(members);
  if (!topology.state().is_empty()) out["state"] = to_json(topology.state());
  return out.dump(2) + "\n";
}

Result<TopologyRequest> parse_topology_json(std::string_view text, Addresses addresses) {
  if (text.size() > limits::admin_body_size_bytes) {
    return wrong("the whole", fmt::format("has {} bytes; at most {}", text.size(),
                                          limits::admin_body_size_bytes));
  }
  const auto document = parse_strict_json(text);
  if (!document) return document.error();
  const ObjectReader object(*document, "");
  const auto known =
      object.only({"version", "scheme", "members", "state"}, {"id", "buckets", "self"});
  if (!known) return known.error();

  TopologyRequest request;
  if (object.find("version")) {
    const auto version = object.count("version");
    if (!version) return version.error();
    request.version = *version;
  }
  auto scheme = object.text("scheme");
  if (!scheme) return scheme.error();
  const auto schemes = parse_schemes(*scheme);
  if (!schemes) return wrong("scheme", schemes.error().message);
  request.scheme = schemes->text();
  auto members = read_members(object.find("members"), addresses);
  if (!members) return members.error();
  request.members = *std::move(members);
  if (const json* state = object.find("state")) {
    auto read = read_state(*state, "state");
    if (!read) return read.error();
    request.state = *std::move(read);
  }
  return request;
}

std::string to_json(const TopologyRequest& request) {
  nlohmann::ordered_json body;
  body["version"] = request.version;
  body["scheme"] = request.scheme;
  body["members"] = nlohmann::ordered_json::array();
  for (const MemberAt& at : request.members) {
    body["members"].push_back({{"name", at.member.name},
                               {"address", at.address.text()},
                               {"weight", at.member.weight},
                               {"zone", at.member.zone}});
  }
  if (request.state) body["state"] = to_json(*request.state);
  return body.dump();
}

}  // namespace ringside::shard
