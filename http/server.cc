#include "http/server.h"

#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <list>
#include <map>

#include "base/limits.h"
#include "base/log.h"
#include "http/spawn.h"

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
  Door(Core& the_core, const Session& the_session, const AddressLimit& the_limit,
       std::size_t the_most)
      : core(the_core),
        session(the_session),
        address_limit(the_limit),
        connections_most(the_most),
        acceptor(the_core.executor()),
        pause(the_core.executor()) {}

  Task<void> accept_all();
  void admit(Socket socket);
  void turn_away(Socket socket);
  Task<void> serve(Socket socket);
  void accept_what_waits();
  void close() noexcept override {
    boost::system::error_code ignored;
    acceptor.close(ignored);
    pause.cancel();
  }

  Core& core;
  const Session& session;
  const AddressLimit& address_limit;
  const std::size_t connections_most;
  Acceptor acceptor;
  Timer pause;                                 // after a failed accept
  std::map<IpAddress, std::size_t> open_from;  // of the addresses that have a limit
  std::list<Connection*> connections;
  std::atomic<std::size_t> open{0};
};

Task<void> Server::Door::serve(Socket socket) {
  Connection connection(core, Transport(std::move(socket)), ErrorSource::client);
  const auto place = connections.insert(connections.end(), &connection);
  // Of the socket's address, whoever a PROXY header says is behind it.
  const IpAddress from = connection.remote();
  const bool counted = address_limit && address_limit(core, from).has_value();
  if (counted) ++open_from[from];
  co_await session(connection);
  const auto row = open_from.find(from);
  if (counted && --row->second == 0) open_from.erase(row);
  connections.erase(place);
  open.fetch_sub(1, std::memory_order_relaxed);
}

// An answer at once, before anything is read: there is no room to wait for a request.
void Server::Door::turn_away(Socket socket) {
  boost::system::error_code ignored;
  socket.non_blocking(true, ignored);
  socket.write_some(asio::buffer(busy_answer), ignored);
  socket.shutdown(tcp::socket::shutdown_send, ignored);
  // What lies unread when a socket is closed turns the close into a reset.
  socket.read_some(asio::buffer(core.scratch().data(), core.scratch().size()), ignored);
}

void Server::Door::admit(Socket socket) {
  bool full = open.load(std::memory_order_relaxed) >= connections_most;
  if (!full && address_limit) {
    boost::system::error_code ignored;
    const IpAddress from = address_of(socket.remote_endpoint(ignored));
    const auto row = open_from.find(from);
    const auto most = row == open_from.end() ? std::nullopt : address_limit(core, from);
    full = most && row->second >= *most;
  }
  if (full) {
    turn_away(std::move(socket));
    return;
  }
  open.fetch_add(1, std::memory_order_relaxed);
  spawn(core.context(), serve(std::move(socket)));
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
      pause.expires_after(backoff);
      co_await pause.async_wait(use_task);
      backoff = std::min(backoff * 2, limits::accept_backoff_most);
      continue;
    }
    backoff = limits::accept_backoff_start;
    admit(std::move(socket));
  }
}

// Connections that the kernel has completed already: closing the listener would reset them.
void Server::Door::accept_what_waits() {
  boost::system::error_code code;
  while (acceptor.is_open()) {
    Socket socket = acceptor.accept(core.context(), code);
    if (code) return;
    admit(std::move(socket));
  }
}

Server::Server(CoreGroup& cores, Session session, AddressLimit address_limit,
               std::size_t connections_per_core)
    : cores_(cores),
      session_(std::move(session)),
      address_limit_(std::move(address_limit)),
      connections_per_core_(connections_per_core) {}

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
    auto door =
        std::make_unique<Door>(cores_[index], session_, address_limit_, connections_per_core_);
    door->acceptor.open(endpoint.protocol(), code);
    if (!code) door->acceptor.set_option(Acceptor::reuse_address(true), code);
    // The first listener binds without SO_REUSEPORT for the check that nobody else has the port,
    // and takes the option before the others join it.
    if (!code && index > 0) door->acceptor.set_option(reuse_port(true), code);
    if (!code) door->acceptor.bind(endpoint, code);
    if (!code && index == 0) door->acceptor.set_option(reuse_port(true), code);
    if (!code) door->acceptor.listen(asio::socket_base::max_listen_connections, code);
    if (!code) door->acceptor.non_blocking(true, code);
    // Else Asio would take a connection that was given up as a sign that none is left, and wait.
    if (!code) door->acceptor.set_option(asio::socket_base::enable_connection_aborted(true), code);
    if (code) return cannot_listen(address, code);
    endpoint.port(door->acceptor.local_endpoint(code).port());
    cores_[index].add(*door);
    spawn(cores_[index].context(), door->accept_all());
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
