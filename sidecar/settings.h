#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/address.h"
#include "base/limits.h"
#include "geo/country_database.h"
#include "hop/options.h"
#include "hop/peer_proof.h"
#include "http/forwarded.h"
#include "http/query_rules.h"
#include "http/route_table.h"
#include "net/origin.h"
#include "net/tls.h"
#include "shard/shard_key.h"
#include "tier/membership.h"

namespace ringside::sidecar {

struct Route {
  std::string name;
  http::RouteMatch match;
  std::vector<net::Origin> origins;  // asked directly where no replica can be, if it is allowed
  // Their ids' segments are known (located).
  shard::KeySpec key = shard::KeySpec::country_and_path();
  Milliseconds near_ttl{0};  // how long the near cache may give an answer at most; 0: not at all
  // Before it is a part of the shard key, of URIs that are this route's; the replica has them too.
  http::QueryRules query = {};
  // The key of requests whose path has not every id that `key` takes; none: they are refused.
  std::optional<shard::KeySpec> key_fallback = {};
};

// What to do with a request that no replica can take.
enum class WithoutReplica { refuse, ask_origin };

// What is configured of this half alone; the program's Configuration derives from it.
struct Options {
  std::vector<Network> trusted;  // whose word on the client is believed
  // The field by which they give it, in lower case; see http::told_client.
  std::string client_address_from{http::x_forwarded_for};
  std::vector<Network> proxied_from;  // who begins each connection with a PROXY header
  bool underscores = false;           // fields whose names have one are passed on
  WithoutReplica without_replica = WithoutReplica::refuse;
};

// Everything that a request's way through the sidecar depends on and that a reload may change, as
// one immutable value. Each core holds a reference to the newest; a request keeps the one it began
// with.
struct Settings : hop::Options, Options {
  std::vector<Route> routes;
  http::RouteTable route_table;        // over routes
  tier::MembershipPointer membership;  // never null
  // Only a replica that proves to know one of them is used; null: whichever answers is.
  std::shared_ptr<const hop::PeerKeys> peer_keys;
  // There is no key, and that is meant: who wants a proof all the same is found out at once.
  bool insecure_peers = false;
  std::shared_ptr<const geo::CountryDatabase> countries;  // null: everything is ZZ
  std::string name = "ringside";  // a token (RFC 9110 §5.6.2); see http::HopIdentity
  std::size_t near_cache_bytes = limits::near_cache_bytes;  // per core; needs a restart to change
  std::uint32_t requests_per_connection = limits::requests_per_connection;
  std::shared_ptr<const net::TlsContext> tls;  // for https:// origins; null where there are none
};

}  // namespace ringside::sidecar
