#include "program/configuration_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "program/member_source.h"
#include "program/options.h"
#include "program/values.h"

namespace ringside::program {
namespace {

using nlohmann::ordered_json;

// One alone as a text, several as a list.
ordered_json urls(const std::vector<http::Origin>& origins) {
  if (origins.size() == 1) return origin_text(origins.front());
  ordered_json out;
  for (const http::Origin& origin : origins) out.push_back(origin_text(origin));
  return out;
}

ordered_json networks(const std::vector<Network>& list) {
  auto out = ordered_json::array();
  for (const Network& network : list) out.push_back(network.text());
  return out;
}

ordered_json members(const std::vector<shard::MemberAt>& list) {
  auto out = ordered_json::array();
  for (const shard::MemberAt& at : list) {
    ordered_json member{{"name", at.member.name}, {"address", at.address.text()}};
    member["weight"] = at.member.weight;
    if (!at.member.zone.empty()) member["zone"] = at.member.zone;
    out.push_back(std::move(member));
  }
  return out;
}

ordered_json routes(Command command, const Configuration& configuration) {
  const bool with_shard_key = command != Command::cache;
  const bool stores = command == Command::cache || command == Command::up;
  auto out = ordered_json::array();
  for (const RouteConfiguration& route : effective_routes(configuration)) {
    ordered_json one{{"name", route.name}};
    if (!route.match.host.empty()) one["host"] = route.match.host;
    one["path"] = route.match.path_prefix;
    if (!route.origins.empty()) one["origin"] = urls(route.origins);
    if (with_shard_key) one["shard_key"] = route.shard_key->text();
    if (with_shard_key && route.near_ttl.count() > 0) {
      one["near_ttl"] = duration_text(route.near_ttl);
    }
    auto rules = to_json(route.cache.values, stores ? RulesOf::cache : RulesOf::sidecar);
    if (!rules.empty()) one["cache"] = std::move(rules);
    out.push_back(std::move(one));
  }
  return out;
}

ordered_json replicas(const Configuration& configuration) {
  if (configuration.replica_count) return *configuration.replica_count;
  return members(configuration.replicas);
}

// Every option's value, by key; those that the command has no use for are taken out after.
ordered_json all_values(const Configuration& c) {
  ordered_json out;
  out["listen"] = c.listen ? ordered_json(c.listen->text()) : ordered_json();
  out["admin"] = c.admin.text();
  out["name"] = c.name;
  out["origin"] = urls(c.origins);
  out["origin_ca"] = c.origin_ca.empty() ? ordered_json() : ordered_json(c.origin_ca);
  out["origin_connections"] = c.origin_connections;
  out["replicas"] = replicas(c);
  out["peers"] = members(c.peers);
  out["kubernetes"] = c.kubernetes ? ordered_json(target_text(*c.kubernetes)) : ordered_json();
  out["kubeconfig"] = c.kubeconfig.empty() ? ordered_json() : ordered_json(c.kubeconfig);
  out["dns"] = c.dns ? ordered_json(target_text(*c.dns)) : ordered_json();
  out["topology_version"] =
      c.topology_version == 0 ? ordered_json() : ordered_json(c.topology_version);
  out["scheme"] = c.scheme;
  out["shard_key"] = c.shard_key.text();
  out["geo"] = c.geo.empty() ? ordered_json() : ordered_json(c.geo);
  out["geo_optional"] = c.geo_optional;
  out["trust"] = networks(c.trust);
  out["connections_per_address"] = c.connections_per_address;
  out["proxied_from"] = networks(c.proxied_from);
  out["country_header"] = c.country_header;
  out["without_replica"] =
      c.without_replica == sidecar::WithoutReplica::refuse ? "refuse" : "origin";
  out["purge_from"] = networks(c.purge_from);
  out["memory"] = size_text(store_bytes(c.memory, c.machine));
  out["threads"] = thread_count(c);
  out["log_level"] = level_text(c.log_level);
  out["connect_timeout"] = duration_text(c.connect_timeout);
  out["first_byte_timeout"] = duration_text(c.first_byte_timeout);
  out["request_deadline"] = duration_text(c.request_deadline);
  out["drain_delay"] = duration_text(c.drain_delay);
  out["access_log"] = c.access_log.empty() ? ordered_json() : ordered_json(c.access_log);
  out["drain_deadline"] = duration_text(c.drain_deadline);
  return out;
}

}  // namespace

std::string to_json(Command command, const Configuration& configuration) {
  const ordered_json values = all_values(configuration);
  ordered_json page;
  for (const Option& option : all_options()) {
    const std::string key = option.key();
    // What was left to its default without a value (a database, a topology's version) is not there.
    if (option.is_for(command) && !values.at(key).is_null()) page[key] = values.at(key);
  }
  page["routes"] = routes(command, configuration);
  // A path may be any bytes.
  return page.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace ringside::program
