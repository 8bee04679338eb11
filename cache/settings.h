#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/limits.h"
#include "cache/rules.h"
#include "hop/options.h"
#include "hop/peer_proof.h"
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

// What becomes of a fetch of a shard while that moves to another replica, since it was cut or the
// tier has changed.
enum class SplitWrites : std::uint8_t {
  log,  // it goes on, unless responses are stored as fast as they move; what it stores is sent
        // later
  wait  // it waits for the rest of the shard to move, for limits::split_wait at most
};

// What a reload may change of a replica, as one immutable value.
struct Settings : hop::Options {
  std::vector<Route> routes;
  http::RouteTable route_table;        // over routes
  tier::MembershipPointer membership;  // of its peers and itself; null: it knows of no tier
  // Who proves to know one of them is heeded as a member; null: nobody can prove anything.
  std::shared_ptr<const hop::PeerKeys> peer_keys;
  bool insecure_peers = false;  // whoever speaks like a member is heeded as one, without a proof
  std::size_t move_rate_mib_s = limits::move_rate_mib_s;  // into this replica; 0: nothing moves
  SplitWrites split_writes = SplitWrites::log;
  std::size_t fills_most = limits::fills_most;  // see limits::fills_most
  std::uint32_t requests_per_connection = limits::requests_per_connection;
  std::shared_ptr<const net::TlsContext> tls;  // for https:// origins; null where there are none
};

}  // namespace ringside::cache
