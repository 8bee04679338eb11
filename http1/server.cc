#include "http1/server.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <list>
#include <map>

#include "base/limits.h"
#include "base/log.h"
#include "net/stack.h"
#include "net/waiter.h"

namespace ringside::http {
namespace {

constexpr std::string_view busy_answer =
    "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n"
    "Content-Length: 0\r\nProxy-Status: ringside; error=connection_limit_reached\r\n\r\n";

}  // namespace

// One core's share of a server: its listener and the connections it accepted.
struct Server::Door final : public net::Closable {
  Door(net::Core& the_core, std::unique_ptr<net::Listener> the_listener, const Session& the_session,
       const AddressLimit& the_limit, std::size_t the_most)
      : core(the_core),
        listener(std::move(the_listener)),
        session(the_session),
        address_limit(the_limit),
        connections_most(the_most),
        pause(the_core) {
    core.add(*this);
  }

  Task<void> accept_all();
  void admit(std::unique_ptr<net::Transport> transport);
  void turn_away(net::Transport& transport);
  Task<void> serve(std::unique_ptr<net::Transport> transport);
  void accept_what_waits();
  void close() noexcept override {
    closed = true;
    listener->close();
    pause.close();
  }

  net::Core& core;
  const std::unique_ptr<net::Listener> listener;
  const Session& session;
  const AddressLimit& address_limit;
  const std::size_t connections_most;
  net::Waiter pause;                           // after a failed accept
  std::map<IpAddress, std::size_t> open_from;  // of the clients that have a limit
  std::list<Connection*> connections;
  std::atomic<std::size_t> open{0};
  bool closed = false;
};

Task<void> Server::Door::serve(std::unique_ptr<net::Transport> transport) {
  Connection connection(core, std::move(transport), ErrorSource::client);
  const auto place = connections.insert(connections.end(), &connection);
  // Of the socket's address, whoever a PROXY header says is behind it.
  const IpAddress from = connection.remote();
  const bool counted = address_limit && address_limit(core, from).has_value();
  if (counted) ++open_from[subscriber_of(from)];
  co_await session(connection);
  const auto row = open_from.find(subscriber_of(from));
  if (counted && --row->second == 0) open_from.erase(row);
  connections.erase(place);
  open.fetch_sub(1, std::memory_order_relaxed);
}

// An answer at once, before anything is read: there is no room to wait for a request.
void Server::Door::turn_away(net::Transport& transport) {
  const std::array<std::string_view, 1> answer{busy_answer};
  static_cast<void>(transport.write_now(answer));
  transport.shutdown_send();
  // What lies unread when a socket is closed turns the close into a reset.
  static_cast<void>(transport.read_now(core.scratch().data(), core.scratch().size()));
}

void Server::Door::admit(std::unique_ptr<net::Transport> transport) {
  bool full = open.load(std::memory_order_relaxed) >= connections_most;
  if (!full && address_limit) {
    const IpAddress from = transport->remote();
    const auto row = open_from.find(subscriber_of(from));
    const auto most = row == open_from.end() ? std::nullopt : address_limit(core, from);
    full = most && row->second >= std::min(*most, std::max<std::size_t>(connections_most / 2, 1));
  }
  if (full) return turn_away(*transport);
  open.fetch_add(1, std::memory_order_relaxed);
  core.spawn(serve(std::move(transport)));
}

// After a failed accept (EMFILE and its like) waiting is all that helps: the connection stays in
// the kernel's queue until a descriptor is free.
Task<void> Server::Door::accept_all() {
  Milliseconds backoff = limits::accept_backoff_start;
  while (!closed) {
    auto accepted = co_await listener->accept();
    if (!accepted) {
      log::warning("accept failed: {}; trying again in {} ms", accepted.error().message,
                   backoff.count());
      co_await pause.wait(core.steady_now() + backoff);
      backoff = std::min(backoff * 2, limits::accept_backoff_most);
      continue;
    }
    if (*accepted == nullptr) co_return;
    backoff = limits::accept_backoff_start;
    admit(*std::move(accepted));
  }
}

// Connections that are complete already: closing the listener would reset them.
void Server::Door::accept_what_waits() {
  while (!closed) {
    auto transport = listener->accept_now();
    if (transport == nullptr) return;
    admit(std::move(transport));
  }
}

Server::Server(net::CoreGroup& cores, Session session, AddressLimit address_limit,
               std::size_t connections_per_core)
    : cores_(cores),
      session_(std::move(session)),
      address_limit_(std::move(address_limit)),
      connections_per_core_(connections_per_core) {}

Server::~Server() = default;

Result<void> Server::listen(const Endpoint& address) {
  Endpoint bound = address;
  for (std::size_t index = 0; index < cores_.size(); ++index) {
    net::Core& core = cores_[index];
    auto listener = core.stack().listen(core, bound, index > 0);
    if (!listener) return listener.error();
    bound.port = (*listener)->port();
    doors_.push_back(std::make_unique<Door>(core, *std::move(listener), session_, address_limit_,
                                            connections_per_core_));
    core.spawn(doors_.back()->accept_all());
  }
  address_ = bound;
  return {};
}

Endpoint Server::address() const { return address_; }

void Server::drain() {
  cores_.on_each([this](net::Core& core) {
    core.set_draining();
    Door& door = *doors_[core.index()];
    door.accept_what_waits();
    door.close();
    for (Connection* connection : door.connections) connection->close_if_idle();
  });
}

std::size_t Server::open_connections() const noexcept {
  std::size_t sum = 0;
  for (const auto& door : doors_) sum += door->open.load(std::memory_order_relaxed);
  return sum;
}

}  // namespace ringside::http
