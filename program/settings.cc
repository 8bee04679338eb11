#include "program/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "http1/wire.h"
#include "link/wire.h"
#include "sidecar/shard_decision.h"

namespace ringside::program {
namespace {

Result<http::RouteTable> make_table(const std::vector<RouteConfiguration>& routes) {
  std::vector<http::RouteMatch> matches;
  std::vector<http::PathRules> paths;
  for (const RouteConfiguration& route : routes) {
    matches.push_back(route.match);
    paths.push_back(route.cache.values.paths);
  }
  return http::RouteTable::make(matches, std::move(paths));
}

}  // namespace

Result<OriginTlsPointer> load_origin_tls(const Configuration& configuration) {
  bool needed = false;
  for (const RouteConfiguration& route : effective_routes(configuration)) {
    for (const net::Origin& origin : route.origins) needed = needed || origin.address.tls;
  }
  if (!needed) return OriginTlsPointer();
  auto made = net::TlsContext::make(configuration.origin_ca);
  if (made) return made;
  return invalid_input(
      fmt::format("{}: {}", configuration.place("origin-ca"), made.error().message));
}

hop::Setup make_setup(const Configuration& configuration, const Endpoint& listen, std::size_t cores,
                      hop::AccessLog* access_log, std::size_t halves) {
  const Allowance allowed = allowance(configuration.machine, halves);
  hop::Setup setup;
  setup.listen = listen;
  setup.cores = cores;
  setup.wire = configuration.without_link ? &http::wire() : &link::wire();
  setup.access_log = access_log;
  setup.connections_per_core =
      std::clamp<std::size_t>(allowed.connections / cores, 1, limits::connections_per_core);
  setup.buffered_bytes = allowed.buffered_bytes;
  return setup;
}

Result<std::shared_ptr<const sidecar::Settings>> make_sidecar_settings(
    const Configuration& configuration, MembershipPointer membership,
    std::shared_ptr<const geo::CountryDatabase> countries) {
  const auto routes = effective_routes(configuration);
  auto table = make_table(routes);
  if (!table) return table.error();
  auto tls = load_origin_tls(configuration);
  if (!tls) return tls.error();

  auto out = std::make_shared<sidecar::Settings>();
  static_cast<hop::Options&>(*out) = static_cast<const hop::Options&>(configuration);
  static_cast<sidecar::Options&>(*out) = static_cast<const sidecar::Options&>(configuration);
  out->tls = *std::move(tls);
  out->insecure_peers = configuration.insecure_peers;
  for (const RouteConfiguration& route : routes) {
    auto key = sidecar::located(*route.shard_key, route.match.path_prefix);
    if (!key) return key.error();
    out->routes.push_back({route.name, route.match, route.origins, *std::move(key), route.near_ttl,
                           route.cache.values.query, route.key_fallback});
  }
  out->route_table = *std::move(table);
  out->membership = std::move(membership);
  out->countries = std::move(countries);
  // One file may serve the whole tier: a replica must be able to say that its origin is silent
  // before it is itself taken for silent, else the next owners would ask that origin too.
  out->first_byte_timeout = configuration.connect_timeout + configuration.first_byte_timeout +
                            limits::replica_answer_allowance;
  return std::shared_ptr<const sidecar::Settings>(std::move(out));
}

Result<std::shared_ptr<const cache::Settings>> make_cache_settings(
    const Configuration& configuration, MembershipPointer membership) {
  const auto routes = effective_routes(configuration);
  auto table = make_table(routes);
  if (!table) return table.error();

  auto tls = load_origin_tls(configuration);
  if (!tls) return tls.error();

  auto out = std::make_shared<cache::Settings>();
  static_cast<hop::Options&>(*out) = static_cast<const hop::Options&>(configuration);
  out->move_rate_mib_s = configuration.move_rate_mib_s;
  out->split_writes = configuration.split_writes;
  // Where nothing moves by itself, only fills bring what others hold.
  if (out->move_rate_mib_s == 0) out->fills_most = std::numeric_limits<std::size_t>::max();
  out->tls = *std::move(tls);
  out->insecure_peers = configuration.insecure_peers;
  for (const RouteConfiguration& route : routes) {
    if (route.origins.empty()) {
      return invalid_input(fmt::format("{}: route {} has no origin; give it one, or --origin",
                                       route.place, route.name));
    }
    out->routes.push_back({route.name, route.match, route.origins, route.cache.values});
  }
  out->route_table = *std::move(table);
  out->membership = std::move(membership);
  return std::shared_ptr<const cache::Settings>(std::move(out));
}

}  // namespace ringside::program
