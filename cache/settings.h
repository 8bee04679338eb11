#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/address.h"
#include "base/limits.h"
#include "cache/rules.h"
#include "http/route_table.h"
#include "net/origin.h"
#include "net/tls.h"
#include "tier/membership.h"

namespace ringside::cache {

struct Route {
  std::string name;
  http::RouteMatch match;
  std::vector<net::Origin> origins;  // at least one
  Rules rules = {};
};

// What a reload may change of a replica, as one immutable value.
struct Settings {
  std::vector<Route> routes;
  http::RouteTable route_table;        // over routes
  tier::MembershipPointer membership;  // of its peers and itself; null: it knows of no tier
  std::string country_header = "X-Country";
  std::string via_name;             // see http::HopIdentity; empty: the replica's own name
  std::vector<Network> purge_from;  // whose PURGE requests are obeyed
  Milliseconds connect_timeout = limits::connect_timeout;
  Milliseconds first_byte_timeout = limits::first_byte_timeout;
  Milliseconds request_deadline = limits::request_deadline;
  std::uint32_t requests_per_connection = limits::requests_per_connection;
  std::shared_ptr<const net::TlsContext> tls;  // for https:// origins; null where there are none
  std::size_t origin_connections = limits::origin_connections;  // requests at once, for each origin
};

}  // namespace ringside::cache
