#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/address.h"
#include "base/limits.h"
#include "geo/country_database.h"
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
  shard::KeySpec key = shard::KeySpec::country_and_path();
  Milliseconds near_ttl{0};     // how long the near cache may give an answer at most; 0: not at all
  http::QueryRules query = {};  // before it is a part of the shard key; the replica has them too
};

// What to do with a request that no replica can take.
enum class WithoutReplica { refuse, ask_origin };

// Everything that a request's way through the sidecar depends on and that a reload may change, as
// one immutable value. Each core holds a reference to the newest; a request keeps the one it began
// with.
struct Settings {
  std::vector<Route> routes;
  http::RouteTable route_table;                           // over routes
  tier::MembershipPointer membership;                     // never null
  std::shared_ptr<const geo::CountryDatabase> countries;  // null: everything is ZZ
  std::vector<Network> trusted;       // whose Forwarded/X-Forwarded-For is believed
  std::vector<Network> purge_from;    // whose PURGE requests are obeyed, and sent to every replica
  std::vector<Network> proxied_from;  // who begins each connection with a PROXY header
  std::string name = "ringside";      // a token (RFC 9110 §5.6.2); see http::HopIdentity
  std::string via_name;               // likewise; empty: the name
  std::string country_header = "X-Country";
  std::size_t connections_per_address = limits::connections_per_address;  // of one core
  std::size_t near_cache_bytes = limits::near_cache_bytes;  // per core; needs a restart to change
  bool underscores = false;  // fields whose names have one are passed on
  WithoutReplica without_replica = WithoutReplica::refuse;
  Milliseconds connect_timeout = limits::connect_timeout;
  Milliseconds first_byte_timeout = limits::first_byte_timeout;
  Milliseconds request_deadline = limits::request_deadline;
  std::uint32_t requests_per_connection = limits::requests_per_connection;
  std::shared_ptr<const net::TlsContext> tls;  // for https:// origins; null where there are none
  std::size_t origin_connections = limits::origin_connections;  // requests at once, for each origin
};

}  // namespace ringside::sidecar
