#include "program/stored_shards.h"

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
    for (const StoredShards& of : stored) told[of.replica] = of.responses[i];
    shards.push_back(std::move(row));
  }
  return ordered_json{{"topology_id", topology.id().hex()}, {"shards", std::move(shards)}}.dump(2) +
         "\n";
}

Result<std::vector<StoredShards>> parse_stored_shards(std::string_view body,
                                                      const shard::Topology& topology) {
  const auto page = parse_strict_json(body);
  if (!page) return page.error();
  if (!page->is_object() || !page->contains("topology_id") || !page->contains("shards")) {
    return not_understood();
  }
  const nlohmann::json& shards = page->at("shards");
  if (page->at("topology_id") != topology.id().hex()) return std::vector<StoredShards>();
  if (!shards.is_array() || shards.size() != topology.state().shards.size()) {
    return not_understood();
  }
  std::map<std::string, std::vector<std::size_t>> by_replica;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const bool is_told =
        shards[i].is_object() && shards[i].contains("stored") && shards[i].at("stored").is_object();
    if (!is_told) return not_understood();
    for (const auto& [replica, responses] : shards[i].at("stored").items()) {
      if (!responses.is_number_unsigned()) return not_understood();
      auto& of = by_replica[replica];
      of.resize(shards.size());
      of[i] = responses.get<std::size_t>();
    }
  }
  std::vector<StoredShards> stored;
  for (auto& [replica, responses] : by_replica) stored.push_back({replica, std::move(responses)});
  return stored;
}

}  // namespace ringside::program
