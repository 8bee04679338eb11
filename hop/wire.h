#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>

#include "base/address.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/link_event.h"
#include "hop/access_log.h"
#include "hop/handler.h"
#include "hop/upstream.h"
#include "net/core.h"

namespace ringside::hop {

// Takes connections on every core of a group and has handlers answer their requests.
class Server {
 public:
  virtual ~Server() = default;
  // Opens the listeners. Port 0 takes a free one, the same for all cores. Before the cores start.
  // An Error names the address and the remedy.
  [[nodiscard]] virtual Result<void> listen(const Endpoint& address) = 0;
  [[nodiscard]] virtual Endpoint address() const = 0;  // with the port that was bound
  // Closes the listeners and idle connections; the others end after the answer in hand. From any
  // thread but the cores'.
  virtual void drain() = 0;
  [[nodiscard]] virtual std::size_t open_connections() const noexcept = 0;
};

struct ServerTerms {
  MakeHandler make_handler;  // one for each connection, on its core's thread
  // How many connections of a core one client may have open, at most half of all; nullopt: as many
  // as it likes, as a proxy may, behind which there are many clients. Of IPv6 a /64 is one client.
  // A connection counts until its handler knows who is there.
  // On the core's thread. Null: nobody is limited.
  std::function<std::optional<std::size_t>(net::Core&, const IpAddress&)> address_limit;
  AccessLog* access_log = nullptr;  // outlives the server; null: none is written
  std::size_t connections_per_core = limits::connections_per_core;
};

// What puts requests and responses on the wire, in both roles: a protocol. HTTP/1.1 (http1/) is the
// first. A half is given one and knows no more of it than this.
class Wire {
 public:
  virtual ~Wire() = default;
  // The group outlives the server: it is stopped first.
  [[nodiscard]] virtual std::unique_ptr<Server> serve(net::CoreGroup& cores,
                                                      ServerTerms terms) const = 0;
  // `kind`: peer for replicas, origin for origins: the source of the errors that they cause. One
  // request at a time on a connection.
  [[nodiscard]] virtual std::unique_ptr<Upstreams> upstreams(net::Core& core,
                                                             ErrorSource kind) const = 0;
  // The best way to the replicas. `count` hears of links; on the core's thread.
  [[nodiscard]] virtual std::unique_ptr<Upstreams> members(
      net::Core& core, std::function<void(LinkEvent)> count) const = 0;
};

}  // namespace ringside::hop
