#include "sidecar/decision.h"

#include <optional>

#include "base/hash.h"
#include "http/forwarded.h"
#include "sidecar/canonical_request.h"
#include "sidecar/shard_decision.h"

namespace ringside::sidecar {
namespace {

Error no_route(const Decision& decision) {
  return {ErrorKind::not_found, ErrorSource::ourselves, Retry::no,
          "no route for " + decision.host + decision.target.path};
}

}  // namespace

Result<void> decide(http::RequestHead& request, const IpAddress& peer, const Settings& settings,
                    std::string_view own_via, geo::CountryMemo& countries, Decision& decision) {
  decision.method = request.method;
  auto hop = http::look_at_hop(request, own_via);
  if (!hop) return hop.error();
  decision.hop = *hop;
  if (hop->answer_here) return {};
  if (auto parsed = http::normalise_target(request.target, decision.target); !parsed) {
    return parsed.error();
  }
  if (auto parsed = http::normalise_host(request.host, decision.host); !parsed) {
    return parsed.error();
  }
  decision.peer = peer;
  decision.peer_is_trusted = any_contains(settings.trusted, peer);
  const auto told =
      http::told_client(peer, request.fields, settings.trusted, settings.client_address_from);
  decision.client = told.address;
  decision.scheme = told.scheme.value_or(decision.peer_scheme);
  decision.country = countries.find(decision.client);
  make_canonical(request, settings, decision);

  const auto found = settings.route_table.find_canonical(decision.host, decision.target);
  if (!found) return found.error();
  const std::optional<http::UriRoute> of_uri = *found;
  if (!of_uri) return no_route(decision);
  settings.routes[of_uri->index].query.apply_to(decision.target);
  // It is of all routes of its URI, and asks no one replica.
  if (request.method == "PURGE") {
    decision.route = &settings.routes[of_uri->index];
    decision.keyed_by = &decision.route->key;
    return {};
  }
  const auto route = settings.route_table.choose(*of_uri, decision.host, decision.target,
                                                 request.method, request.fields);
  if (!route) return no_route(decision);
  decision.route = &settings.routes[*route];
  const auto keyed_by = key_for(*decision.route, decision.target);
  if (!keyed_by) return keyed_by.error();
  decision.keyed_by = *keyed_by;

  const RequestFacts facts{decision.host, decision.target, request.fields, decision.client,
                           decision.country};
  const shard::Topology& topology = *settings.membership->topology;
  make_shard_key(decision.shard_key, topology, *decision.route, *decision.keyed_by, facts);
  decision.hash = hash64(decision.shard_key);
  decision.extra_key.clear();
  build_extra_key(decision.extra_key, *decision.keyed_by, facts);
  if (topology.needs_keys()) append_shard_key(decision.extra_key, decision.shard_key);
  return {};
}

}  // namespace ringside::sidecar
