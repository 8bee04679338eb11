#include "program/stored_shards.h"

#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "base/json.h"

namespace ringside::program {
namespace {

using nlohmann::ordered_json;

Error not_understood() {
  return Error{ErrorKind::internal, ErrorSource::peer, Retry::no,
               "its shards can't be read; is it the same release?"};
}

}  // namespace

std::string to_json(const shard::Topology& topology, const std::vector<StoredShards>& stored) {
  auto shards = ordered_json::array();
  const auto& owners = topology.bucket_owners();
  for (std::size_t i = 0; i < topology.state().shards.size(); ++i) {
    const shard::Shard& shard = topology.state().shards[i];
    ordered_json row;
    if (!shard.route.empty()) row["route"] = shard.route;
    row["at"] = shard.at;
    row["owner"] = nullptr;
    if (!topology.members().empty()) {
      row["owner"] = topology.members()[owners[topology.first_shard() + i]].name;
    }
    auto& told = row["stored"] = ordered_json::object();
    for (const StoredShards& of : stored) {
      if (of.responses[i] > 0) told[of.replica] = of.responses[i];
    }
    shards.push_back(std::move(row));
  }
  auto replicas = ordered_json::array();
  for (const StoredShards& of : stored) replicas.push_back(of.replica);
  return ordered_json{{"topology_id", topology.id().hex()},
                      {"replicas", std::move(replicas)},
                      {"shards", std::move(shards)}}
             .dump(2) +
         "\n";
}

Result<std::vector<StoredShards>> parse_stored_shards(std::string_view body,
                                                      const shard::Topology& topology) {
  const auto page = parse_strict_json(body);
  if (!page || !page->is_object()) return not_understood();
  for (const char* const key : {"topology_id", "replicas", "shards"}) {
    if (!page->contains(key)) return not_understood();
  }
  if (page->at("topology_id") != topology.id().hex()) return std::vector<StoredShards>();
  const nlohmann::json& replicas = page->at("replicas");
  const nlohmann::json& shards = page->at("shards");
  const std::size_t count = topology.state().shards.size();
  if (!replicas.is_array() || !shards.is_array() || shards.size() != count) return not_understood();
  std::map<std::string, std::vector<std::size_t>, std::less<>> by_member;
  for (const nlohmann::json& replica : replicas) {
    if (!replica.is_string()) return not_understood();
    const auto& name = replica.get_ref<const std::string&>();
    if (topology.find(name)) by_member[name].resize(count);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_told =
        shards[i].is_object() && shards[i].contains("stored") && shards[i].at("stored").is_object();
    if (!is_told) return not_understood();
    for (const auto& [name, responses] : shards[i].at("stored").items()) {
      if (!responses.is_number_unsigned()) return not_understood();
      const auto member = by_member.find(name);
      if (member != by_member.end()) member->second[i] = responses.get<std::size_t>();
    }
  }
  std::vector<StoredShards> stored;
  stored.reserve(by_member.size());
  for (auto& [name, responses] : by_member) stored.push_back({name, std::move(responses)});
  return stored;
}

}  // namespace ringside::program
