#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "program/tier.h"

// The admin pages that only `ringside up` has.
namespace ringside::program {
namespace {

using http::AdminServer;
using nlohmann::ordered_json;

ordered_json shown(const Tier::State& state) {
  const shard::Topology& topology = *state.membership->topology;
  ordered_json page;
  page["replicas"] = topology.members().size();
  page["version"] = topology.version();
  page["id"] = topology.id().hex();
  bool settled = true;
  auto components = ordered_json::array();
  for (const auto& [name, membership] : state.components) {
    settled = settled && membership->topology_id == state.membership->topology_id;
    components.push_back({{"name", name}, {"topology_id", membership->topology_id}});
  }
  page["settled"] = settled;  // every component has this topology
  page["components"] = std::move(components);
  page["retiring"] = state.retiring;
  page["handoff"] = {
      {"buckets_away", state.buckets_away}, {"moved_responses", state.moved.responses},
      {"moved_bytes", state.moved.bytes},   {"moves_waiting", state.moves_waiting},
      {"fills", state.moved.fills},         {"refusals", state.moved.refusals}};
  return page;
}

ordered_json shown(const ScaleReport& report) {
  ordered_json change;
  change["replicas_before"] = report.replicas_before;
  change["replicas_after"] = report.replicas_after;
  change["version_before"] = report.version_before;
  change["version_after"] = report.version_after;
  change["buckets"] = report.buckets;
  change["moved_buckets"] = nullptr;
  if (report.moved_buckets) change["moved_buckets"] = *report.moved_buckets;
  change["moves"] = ordered_json::array();
  for (const ScaleReport::Move& move : report.moves) {
    change["moves"].push_back({{"member", move.member},
                               {"gained_buckets", move.gained_buckets},
                               {"lost_buckets", move.lost_buckets}});
  }
  return change;
}

AdminServer::Answer json_answer(std::string body) {
  return {200, "application/json", std::move(body)};
}

AdminServer::Answer refuse(int status, const Error& error) {
  return {status, "text/plain; charset=utf-8", error.message + "\n"};
}

Result<std::size_t> parse_scale_request(std::string_view body) {
  const auto document = parse_strict_json(body);
  if (!document) return document.error();
  const bool right = document->is_object() && document->size() == 1 &&
                     document->contains("replicas") && (*document)["replicas"].is_number_unsigned();
  if (!right) return invalid_input(R"(not what is asked for; write {"replicas": N})");
  return (*document)["replicas"].get<std::size_t>();
}

}  // namespace

std::string to_json(const Tier::State& state) { return shown(state).dump(2) + "\n"; }

std::string to_json(const Tier::State& state, const ScaleReport& report) {
  ordered_json page = shown(state);
  page["change"] = shown(report);
  return page.dump(2) + "\n";
}

std::vector<StoredShards> Tier::stored_shards(const shard::Topology& topology) const {
  std::vector<StoredShards> stored;
  for (const auto& replica : shape().replicas) {
    auto of_replica = replica->stored_by_shard(topology);
    if (of_replica) stored.push_back({replica->name(), *std::move(of_replica)});
  }
  return stored;
}

void Tier::add_pages(http::AdminServer& server) {
  explain_.serve(server, *sidecar_);
  server.on("GET", "/scale",
            [this](const AdminServer::Request&) { return json_answer(to_json(state())); });
  server.on("PUT", "/scale", [this](const AdminServer::Request& request) {
    constexpr int bad_request = 400;
    constexpr int internal_error = 500;
    const auto replicas = parse_scale_request(request.body);
    if (!replicas) return refuse(bad_request, replicas.error());
    const auto report = scale(*replicas);
    if (!report) {
      const bool theirs = report.error().kind == ErrorKind::invalid_input;
      return refuse(theirs ? bad_request : internal_error, report.error());
    }
    return json_answer(to_json(state(), *report));
  });
  server.on("GET", "/origin", [this](const AdminServer::Request&) -> AdminServer::Answer {
    constexpr int not_found = 404;
    const auto requests = origin_requests();
    if (!requests) return {not_found, "text/plain; charset=utf-8", "no sample origin is running\n"};
    return json_answer(ordered_json{{"requests", *requests}}.dump() + "\n");
  });
}

}  // namespace ringside::program
