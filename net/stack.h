#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/address.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/task.h"
#include "net/transport.h"

namespace ringside::net {

class Core;

// Where a connection can be made to.
struct SocketAddress {
  IpAddress address;
  std::uint16_t port = 0;
  std::uint32_t scope = 0;  // the interface of a link-local address (RFC 4007)
  [[nodiscard]] std::string text() const;
  auto operator<=>(const SocketAddress&) const = default;
};

// The address that a host is, where it is no name.
[[nodiscard]] std::optional<SocketAddress> numeric(const Endpoint& endpoint);

// What accepts connections on one core. Lives and dies on the core's thread.
class Listener {
 public:
  virtual ~Listener() = default;
  // The next connection; null where close() came first. An Error says why none could be accepted:
  // the next attempt should wait a little, for the connection stays in the queue.
  virtual Task<Result<std::unique_ptr<Transport>>> accept() = 0;
  // A connection that is complete already; null: there is none.
  virtual std::unique_ptr<Transport> accept_now() = 0;
  virtual void close() noexcept = 0;
  [[nodiscard]] virtual std::uint16_t port() const noexcept = 0;
};

// The network as a core sees it: the kernel's, or a simulated one. Thread-safe.
class Stack {
 public:
  virtual ~Stack() = default;
  // `joins`: another core listens there already, for the same server, and connections are shared.
  // Port 0 takes a free one. An Error names the address and the remedy.
  [[nodiscard]] virtual Result<std::unique_ptr<Listener>> listen(Core& core,
                                                                 const Endpoint& address,
                                                                 bool joins) = 0;
  // Errors: refused, timeout (with Retry::yes: nothing was sent), from `other_side`; overloaded
  // where descriptors, ports or memory have run out here. Ends with timeout when the core stops.
  virtual Task<Result<std::unique_ptr<Transport>>> connect(Core& core, SocketAddress address,
                                                           SteadyPoint deadline,
                                                           ErrorSource other_side) = 0;
};

// The kernel's.
[[nodiscard]] Stack& kernel_stack() noexcept;
// A connection of the kernel's stack, made of a connected TCP socket, which it closes.
[[nodiscard]] std::unique_ptr<Transport> adopt(Core& core, int socket);

}  // namespace ringside::net
