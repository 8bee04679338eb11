#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/address.h"
#include "base/error.h"
#include "geo/country.h"
#include "geo/country_database.h"
#include "http/head.h"
#include "http/hop.h"
#include "http/scheme.h"
#include "http/target.h"
#include "sidecar/settings.h"

namespace ringside::sidecar {

// What is known of a request once it has been looked at, and where it belongs. Reused from request
// to request of a connection, so that its strings keep their capacity.
struct Decision {
  std::string method;  // kept: the request's own views end when its body is read
  http::Hop hop;
  http::Target target;
  std::string host;
  IpAddress peer;  // the socket's other end
  bool peer_is_trusted = false;
  http::Scheme peer_scheme = http::Scheme::http;  // of the peer's connection: we listen without TLS
  IpAddress client;
  http::Scheme scheme = http::Scheme::http;  // of the client's, as far as is known; no shard key's
  std::string hops_told;  // what a trusted peer says in Settings::client_address_from
  geo::Country country;
  const Route* route = nullptr;              // into the Settings
  const shard::KeySpec* keyed_by = nullptr;  // the route's key, or its fallback
  std::string shard_key;
  std::string extra_key;
  std::uint64_t hash = 0;

  [[nodiscard]] shard::ShardKey key() const noexcept { return {shard_key, hash}; }
};

// Steps 4 to 8 of the life of a request: who asks, from which country, by which route, and the key
// that chooses the replica. The request is made canonical (canonical_request.h) before anything is
// made of its fields. Fails for targets and hosts that are malformed, and where no route
// matches or the path has not what the route's key takes; for TRACE, and for requests that have
// been at `own_via` before. With hop.answer_here nothing else is decided.
[[nodiscard]] Result<void> decide(http::RequestHead& request, const IpAddress& peer,
                                  const Settings& settings, std::string_view own_via,
                                  geo::CountryMemo& countries, Decision& decision);

}  // namespace ringside::sidecar
