#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/address.h"
#include "base/error.h"
#include "base/limits.h"
#include "http1/connection.h"
#include "net/core.h"

namespace ringside::http {

// Who is let in.
struct Admission {
  // See hop::ServerTerms.
  std::function<std::optional<std::size_t>(net::Core&, const IpAddress&)> address_limit = nullptr;
  std::size_t connections_per_core = limits::connections_per_core;
  // Nobody can be accepted for want of descriptors: one is to be freed. It is tried again at once,
  // and then from time to time. On the core's thread. Null: none can be.
  std::function<void()> make_room = nullptr;
};

// Accepts connections on every core of a group, each core with its own SO_REUSEPORT listener, and
// runs one session coroutine a connection.
class Server {
 public:
  // Serves one connection until it ends. Runs on the connection's core.
  using Session = std::function<Task<void>(Connection&)>;

  // The group must outlive the server's last session: stop the group first, then destroy.
  Server(net::CoreGroup& cores, Session session, Admission admission = {});
  ~Server();

  // Opens the listeners. Port 0 takes a free one, the same for all cores. Before CoreGroup::start.
  // An Error names the address and the remedy.
  [[nodiscard]] Result<void> listen(const Endpoint& address);
  [[nodiscard]] Endpoint address() const;  // with the port that was bound

  // Closes the listeners and idle connections, of each core once it has no errand; sessions end
  // after the answer in hand, which says `Connection: close`. From any thread but the cores'.
  void drain();
  // At least as many as there are errands: somebody may yet open a connection for each.
  [[nodiscard]] std::size_t open_connections() const noexcept;

 private:
  struct Door;  // one core's share
  // Hands a connection whose session has ended to the core where it goes on.
  void move(Connection& connection);
  net::CoreGroup& cores_;
  Session session_;
  const Admission admission_;
  std::vector<std::unique_ptr<Door>> doors_;
  Endpoint address_;
};

}  // namespace ringside::http
