#include "program/route_keys.h"

#include <fmt/format.h>

#include "http/characters.h"
#include "http/hop.h"
#include "http/internal_fields.h"
#include "sidecar/canonical_request.h"
#include "sidecar/shard_decision.h"

namespace ringside::program {
namespace {

using Kind = shard::KeyPart::Kind;

Error wrong(const Configuration& configuration, const RouteConfiguration& route,
            std::string_view option, std::string_view message) {
  return invalid_input(
      fmt::format("{}: of route {}: {}: {}",
                  configuration.routes.empty() ? configuration.place("shard-key") : route.place,
                  route.name, option, message));
}

Result<void> check_headers(const Configuration& configuration, const RouteConfiguration& route,
                           std::string_view option, const shard::KeySpec& key) {
  for (const shard::KeyPart& part : key.parts) {
    if (part.kind != Kind::header || !stays_here(configuration, part.name)) continue;
    return wrong(configuration, route, option,
                 fmt::format("header:{} is not passed on as a client sent it, so it would tell "
                             "nothing apart; take host, ip or country, or another header",
                             part.name));
  }
  return {};
}

Result<void> check_fallback(const Configuration& configuration, const RouteConfiguration& route) {
  constexpr std::string_view option = "key_fallback";
  const shard::KeySpec& fallback = *route.key_fallback;
  if (fallback.uses(Kind::id)) {
    return wrong(configuration, route, option,
                 fmt::format("{} takes an id too, which the path may not have either; leave it out",
                             fallback.text()));
  }
  if (!route.shard_key->uses(Kind::id)) {
    return wrong(configuration, route, option,
                 fmt::format("no request needs it, since {} takes no id; leave it out",
                             route.shard_key->text()));
  }
  return check_headers(configuration, route, option, fallback);
}

}  // namespace

bool stays_here(const Configuration& configuration, std::string_view header) {
  return sidecar::is_written_anew(header) || sidecar::tells_address(header) ||
         http::is_internal(header) || http::is_hop_by_hop(header) ||
         http::same_token(header, configuration.country_header) ||
         http::same_token(header, configuration.client_address_from) ||
         (!configuration.underscores && header.find('_') != std::string_view::npos);
}

Result<void> check_route_keys(const Configuration& configuration) {
  constexpr std::string_view option = "shard_key";
  for (const RouteConfiguration& route : effective_routes(configuration)) {
    auto headers = check_headers(configuration, route, option, *route.shard_key);
    if (!headers) return headers.error();
    const auto located = sidecar::located(*route.shard_key, route.match.path_prefix);
    if (!located) return wrong(configuration, route, option, located.error().message);
    if (!route.key_fallback) continue;
    if (auto fallback = check_fallback(configuration, route); !fallback) return fallback.error();
  }
  return {};
}

}  // namespace ringside::program
