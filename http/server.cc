#include "http/server.h"

#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <list>

#include "base/limits.h"
#include "base/log.h"

namespace ringside::http {
namespace {

constexpr std::string_view busy_answer =
    "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n"
    "Content-Length: 0\r\nProxy-Status: ringside; error=connection_limit_reached\r\n\r\n";

Error cannot_listen(const Endpoint& address, const boost::system::error_code& code) {
  std::string remedy = "choose another address";
  if (code == asio::error::address_in_use)
    remedy = "stop what listens there or choose another port";
  if (code == asio::error::access_denied) remedy = "choose a port above 1023";
  return {ErrorKind::invalid_input, ErrorSource::ourselves, Retry::no,
          fmt::format("cannot listen on {}: {}; {}", address.text(), code.message(), remedy)};
}

}  // namespace

// One core's share of a server: its listener and the connections it accepted.
struct Server::Door final : public Closable {
  Door(Core& the_core, const Session& the_session)
      : core(the_core), session(the_session), acceptor(the_core.executor()) {}

  Task<void> accept_all();
  Task<void> serve(Socket socket);
  void accept_what_waits();
  void close() noexcept override {
    boost::system::error_code ignored;
    acceptor.close(ignored);
  }

  Core& core;
  const Session& session;
  Acceptor acceptor;
  std::list<Connection*> connections;
  std::atomic<std::size_t> open{0};
};

Task<void> Server::Door::serve(Socket socket) {
  Connection connection(core, std::move(socket), ErrorSource::client,
                        limits::connection_buffer_start_bytes);
  const auto place = connections.insert(connections.end(), &connection);
  co_await session(connection);
  connections.erase(place);
  open.fetch_sub(1, std::memory_order_relaxed);
}

// After a failed accept (EMFILE and its like) waiting is all that helps: the connection stays in
// the kernel's queue until a descriptor is free.
Task<void> Server::Door::accept_all() {
  Milliseconds backoff = limits::accept_backoff_start;
  while (acceptor.is_open()) {
    auto [code, socket] = co_await acceptor.async_accept(core.context(), use_task);
    if (!acceptor.is_open()) co_return;
    if (code == asio::error::connection_aborted) continue;
    if (code) {
      log::warning("accept failed: {}; trying again in {} ms", code.message(), backoff.count());
      Timer timer(core.executor(), backoff);
      co_await timer.async_wait(use_task);
      backoff = std::min(backoff * 2, limits::accept_backoff_most);
      continue;
    }
    backoff = limits::accept_backoff_start;
    if (open.load(std::memory_order_relaxed) >= limits::connections_per_core) {
      boost::system::error_code ignored;
      socket.non_blocking(true, ignored);
      socket.write_some(asio::buffer(busy_answer), ignored);
      continue;
    }
    open.fetch_add(1, std::memory_order_relaxed);
    asio::co_spawn(core.context(), serve(std::move(socket)), asio::detached);
  }
}

// Connections that the kernel has completed already: closing the listener would reset them.
void Server::Door::accept_what_waits() {
  boost::system::error_code code;
  while (acceptor.is_open()) {
    Socket socket = acceptor.accept(core.context(), code);
    if (code) return;
    open.fetch_add(1, std::memory_order_relaxed);
    asio::co_spawn(core.context(), serve(std::move(socket)), asio::detached);
  }
}

Server::Server(CoreGroup& cores, Session session) : cores_(cores), session_(std::move(session)) {}

Server::~Server() = default;

Result<void> Server::listen(const Endpoint& address) {
  boost::system::error_code code;
  const auto ip =
      asio::ip::make_address(address.host == "localhost" ? "127.0.0.1" : address.host, code);
  if (code) {
    return invalid_input("cannot listen on " + address.text() +
                         ": not an IP address; give one, such as 0.0.0.0:8080 or [::]:8080");
  }
  tcp::endpoint endpoint(ip, address.port);
  using reuse_port = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;
  for (std::size_t index = 0; index < cores_.size(); ++index) {
    auto door = std::make_unique<Door>(cores_[index], session_);
    door->acceptor.open(endpoint.protocol(), code);
    if (!code) door->acceptor.set_option(Acceptor::reuse_address(true), code);
    // The first listener binds without SO_REUSEPORT for the check that nobody else has the port,
    // and takes the option before the others join it.
    if (!code && index > 0) door->acceptor.set_option(reuse_port(true), code);
    if (!code) door->acceptor.bind(endpoint, code);
    if (!code && index == 0) door->acceptor.set_option(reuse_port(true), code);
    if (!code) door->acceptor.listen(asio::socket_base::max_listen_connections, code);
    if (!code) door->acceptor.non_blocking(true, code);
    if (code) return cannot_listen(address, code);
    endpoint.port(door->acceptor.local_endpoint(code).port());
    cores_[index].add(*door);
    asio::co_spawn(cores_[index].context(), door->accept_all(), asio::detached);
    doors_.push_back(std::move(door));
  }
  address_ = Endpoint{address.host, endpoint.port()};
  return {};
}

Endpoint Server::address() const { return address_; }

void Server::drain() {
  cores_.on_each([this](Core& core) {
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
