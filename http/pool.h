#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/address.h"
#include "base/error.h"
#include "http/connection.h"
#include "http/core.h"

namespace ringside::http {

// The upstream connections of one core: kept open between requests, found by address. Names are
// resolved when a connection is made and remembered for limits::resolve_cache_ttl.
class Pool {
 public:
  // `other_side`: peer for replicas, origin for origins.
  Pool(Core& core, ErrorSource other_side);

  [[nodiscard]] ErrorSource other_side() const noexcept { return other_side_; }

  struct Lease {
    std::unique_ptr<Connection> connection;
    bool reused = false;  // it may have been closed by the other side meanwhile
  };

  // An idle connection, checked where `must_be_alive` (a request that can't be repeated), or a
  // nullopt; without suspending.
  [[nodiscard]] std::optional<Lease> take_idle(const Endpoint& address, bool must_be_alive);
  // Opens a new connection: resolves, connects to each address in turn until `deadline`.
  Task<Result<Lease>> connect(const Endpoint& address, SteadyPoint deadline);
  // Back into the pool. Requires that the answer was read to its end and allows reuse.
  void give_back(const Endpoint& address, std::unique_ptr<Connection> connection);
  // Closes idle connections that are too old. Called now and then by the core's owner.
  void close_idle();

 private:
  struct Idle {
    std::unique_ptr<Connection> connection;
    SteadyPoint since;
  };
  struct Resolved {
    std::vector<tcp::endpoint> endpoints;
    SteadyPoint until;
  };
  Task<Result<std::vector<tcp::endpoint>>> resolve(const Endpoint& address, SteadyPoint deadline);
  Task<Result<std::unique_ptr<Connection>>> open(const tcp::endpoint& endpoint,
                                                 SteadyPoint deadline);

  Core& core_;
  const ErrorSource other_side_;
  std::map<Endpoint, std::deque<Idle>> idle_;
  std::map<Endpoint, Resolved> resolved_;
};

}  // namespace ringside::http
