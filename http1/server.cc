#include "http1/server.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <list>
#include <map>

#include "base/limits.h"
#include "base/log.h"
#include "http/error_response.h"
#include "http1/response_writer.h"
#include "net/stack.h"
#include "net/waiter.h"

namespace ringside::http {

// One core's share of a server: its listener and the connections it accepted.
struct Server::Door final : public net::Closable {
  Door(net::Core& the_core, std::unique_ptr<net::Listener> the_listener, const Session& the_session,
       const Admission& the_admission, Server& the_server)
      : core(the_core),
        server(the_server),
        listener(std::move(the_listener)),
        session(the_session),
        admission(the_admission),
        pause(the_core) {
    core.add(*this);
  }

  Task<void> accept_all();
  void admit(std::unique_ptr<net::Transport> transport);
  void turn_away(net::Transport& transport);
  // A place among the connections from there, until it is let go.
  std::shared_ptr<void> place_of(const IpAddress& subscriber);
  Task<void> serve(std::unique_ptr<net::Transport> transport,
                   std::optional<Connection::Move> arrived = {});
  // Another core's connection goes on here.
  void adopt(std::unique_ptr<net::Transport> transport, Connection::Move move);
  void accept_what_waits(std::size_t most);
  void drain();
  void close() noexcept override {
    closed = true;
    listener->close();
    pause.close();
  }

  net::Core& core;
  Server& server;
  const std::unique_ptr<net::Listener> listener;
  const Session& session;
  const Admission& admission;
  net::Waiter pause;                           // after a failed accept
  std::map<IpAddress, std::size_t> open_from;  // of the clients that have a limit
  std::list<Connection*> connections;
  std::atomic<std::size_t> open{0};
  bool closed = false;
};

Task<void> Server::Door::serve(std::unique_ptr<net::Transport> transport,
                               std::optional<Connection::Move> arrived) {
  Connection connection(core, std::move(transport), ErrorSource::client);
  if (arrived) connection.arrive(*std::move(arrived));
  const auto place = connections.insert(connections.end(), &connection);
  // Of the socket's address, whoever a PROXY header says is behind it.
  const IpAddress from = connection.remote();
  const bool counted = connection.caller() == nullptr && admission.address_limit &&
                       admission.address_limit(core, from).has_value();
  if (counted) connection.hold_place(place_of(subscriber_of(from)));
  co_await session(connection);
  if (connection.move()) server.move(connection);
  connection.leave_place();
  connections.erase(place);
  open.fetch_sub(1, std::memory_order_relaxed);
}

void Server::Door::adopt(std::unique_ptr<net::Transport> transport, Connection::Move move) {
  if (transport == nullptr) return;  // it can't be waited for here
  if (open.load(std::memory_order_relaxed) >= admission.connections_per_core) {
    return turn_away(*transport);
  }
  open.fetch_add(1, std::memory_order_relaxed);
  core.spawn(serve(std::move(transport), std::move(move)));
}

std::shared_ptr<void> Server::Door::place_of(const IpAddress& subscriber) {
  ++open_from[subscriber];
  return {this, [subscriber](Door* door) {
            const auto row = door->open_from.find(subscriber);
            if (--row->second == 0) door->open_from.erase(row);
          }};
}

// An answer at once, before anything is read: there is no room to wait for a request.
void Server::Door::turn_away(net::Transport& transport) {
  Response response;
  make_error_response(response,
                      Error{ErrorKind::overloaded, ErrorSource::ourselves, Retry::no,
                            "there are too many connections"},
                      {.proxy = "ringside", .now = core.now(), .tells_all = true});
  const std::string text = whole_text(response);
  const std::array<std::string_view, 1> answer{text};
  static_cast<void>(transport.write_now(answer));
  transport.shutdown_send();
  // What lies unread when a socket is closed turns the close into a reset.
  static_cast<void>(transport.read_now(core.scratch().data(), core.scratch().size()));
}

void Server::Door::admit(std::unique_ptr<net::Transport> transport) {
  bool full = open.load(std::memory_order_relaxed) >= admission.connections_per_core;
  if (!full && admission.address_limit) {
    const IpAddress from = transport->remote();
    const auto row = open_from.find(subscriber_of(from));
    const auto most = row == open_from.end() ? std::nullopt : admission.address_limit(core, from);
    const std::size_t half = std::max<std::size_t>(admission.connections_per_core / 2, 1);
    full = most && row->second >= std::min(*most, half);
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
    if (!accepted && admission.make_room) {
      admission.make_room();
      if (auto transport = listener->accept_now()) {
        admit(std::move(transport));
        continue;
      }
    }
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
    accept_what_waits(limits::accepted_at_once - 1);
  }
}

// Connections that are complete already.
void Server::Door::accept_what_waits(std::size_t most) {
  for (std::size_t count = 0; count < most && !closed; ++count) {
    auto transport = listener->accept_now();
    if (transport == nullptr) return;
    admit(std::move(transport));
  }
}

void Server::Door::drain() {
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  core.set_draining();
  accept_what_waits(all);
  for (Connection* connection : connections) connection->tell_of_drain();
  core.after_errands([this] {
    accept_what_waits(all);  // closing the listener would reset them
    core.close_doors();
    close();
    for (Connection* connection : connections) connection->close_if_idle();
  });
}

void Server::move(Connection& connection) {
  const std::size_t index = connection.move()->core_index;
  const std::shared_ptr<net::LooseConnection> loose = connection.release();
  if (!loose || index >= doors_.size()) return;  // closed: there is nowhere to go
  Door& door = *doors_[index];
  door.core.post([&door, loose, move = *std::move(connection.move())] {
    door.adopt(loose->arrive(door.core), move);
  });
}

Server::Server(net::CoreGroup& cores, Session session, Admission admission)
    : cores_(cores), session_(std::move(session)), admission_(std::move(admission)) {}

Server::~Server() = default;

Result<void> Server::listen(const Endpoint& address) {
  Endpoint bound = address;
  for (std::size_t index = 0; index < cores_.size(); ++index) {
    net::Core& core = cores_[index];
    auto listener = core.stack().listen(core, bound, index > 0);
    if (!listener) return listener.error();
    bound.port = (*listener)->port();
    doors_.push_back(
        std::make_unique<Door>(core, *std::move(listener), session_, admission_, *this));
    core.spawn(doors_.back()->accept_all());
  }
  address_ = bound;
  return {};
}

Endpoint Server::address() const { return address_; }

void Server::drain() {
  cores_.on_each([this](net::Core& core) { doors_[core.index()]->drain(); });
}

std::size_t Server::open_connections() const noexcept {
  std::size_t sum = 0;
  for (const auto& door : doors_) {
    sum += std::max(door->open.load(std::memory_order_relaxed), door->core.errands());
  }
  return sum;
}

}  // namespace ringside::http
