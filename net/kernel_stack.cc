#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <optional>

#include "base/limits.h"
#include "net/kernel_transport.h"
#include "net/loop.h"
#include "net/stack.h"

namespace ringside::net {
namespace {

Error cannot_listen(const Endpoint& address, const boost::system::error_code& code) {
  std::string remedy = "choose another address";
  if (code == asio::error::address_in_use)
    remedy = "stop what listens there or choose another port";
  if (code == asio::error::access_denied) remedy = "choose a port above 1023";
  return {ErrorKind::invalid_input, ErrorSource::ourselves, Retry::no,
          fmt::format("cannot listen on {}: {}; {}", address.text(), code.message(), remedy)};
}

class KernelListener final : public Listener {
 public:
  explicit KernelListener(Core& core) : core_(core), acceptor_(core.loop().executor()) {}

  boost::system::error_code open(const tcp::endpoint& endpoint, bool joins);

  Task<Result<std::unique_ptr<Transport>>> accept() override {
    while (acceptor_.is_open()) {
      Socket socket(core_.loop().executor());
      const auto code = co_await CodeAwaiter([&](auto&& handler) {
        acceptor_.async_accept(socket, std::forward<decltype(handler)>(handler));
      });
      if (!acceptor_.is_open()) break;
      if (code == asio::error::connection_aborted) continue;
      if (code) {
        co_return Error{ErrorKind::overloaded, ErrorSource::ourselves, Retry::yes, code.message()};
      }
      co_return make_transport(std::move(socket));
    }
    co_return std::unique_ptr<Transport>();
  }

  std::unique_ptr<Transport> accept_now() override {
    if (!acceptor_.is_open()) return nullptr;
    boost::system::error_code code;
    Socket socket = acceptor_.accept(core_.loop().context, code);
    return code ? nullptr : make_transport(std::move(socket));
  }

  void close() noexcept override {
    boost::system::error_code ignored;
    acceptor_.close(ignored);
  }

  [[nodiscard]] std::uint16_t port() const noexcept override {
    boost::system::error_code ignored;
    return acceptor_.local_endpoint(ignored).port();
  }

 private:
  Core& core_;
  Acceptor acceptor_;
};

boost::system::error_code KernelListener::open(const tcp::endpoint& endpoint, bool joins) {
  using reuse_port = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;
  boost::system::error_code code;
  acceptor_.open(endpoint.protocol(), code);
  if (!code) acceptor_.set_option(Acceptor::reuse_address(true), code);
  // The first listener binds without SO_REUSEPORT for the check that nobody else has the port, and
  // takes the option before the others join it.
  if (!code && joins) acceptor_.set_option(reuse_port(true), code);
  if (!code) acceptor_.bind(endpoint, code);
  if (!code && !joins) acceptor_.set_option(reuse_port(true), code);
  if (!code) acceptor_.listen(asio::socket_base::max_listen_connections, code);
  if (!code) acceptor_.non_blocking(true, code);
  // Else Asio would take a connection that was given up as a sign that none is left, and wait.
  if (!code) acceptor_.set_option(asio::socket_base::enable_connection_aborted(true), code);
  return code;
}

// A socket in the making, broken off by its deadline or by the core's stop.
class Connecting final : public Closable, private Deadline {
 public:
  Connecting(Core& core, Socket& socket, SteadyPoint deadline)
      : Deadline(core.deadlines()), socket_(socket) {
    core.add(*this);
    Deadline::set(deadline);
    if (core.stopped()) broken_off_ = true;
  }
  void close() noexcept override {
    broken_off_ = true;
    boost::system::error_code ignored;
    socket_.cancel(ignored);
  }
  [[nodiscard]] bool broken_off() const noexcept { return broken_off_; }

 private:
  void expire() noexcept override { close(); }
  Socket& socket_;
  bool broken_off_ = false;
};

// Descriptors, ports or memory have run out here: no upstream is to blame, and none could be asked
// instead.
bool is_our_own_lack(const boost::system::error_code& code) noexcept {
  namespace errc = boost::system::errc;
  return code == errc::too_many_files_open || code == errc::too_many_files_open_in_system ||
         code == errc::no_buffer_space || code == errc::not_enough_memory ||
         code == errc::address_not_available;
}

class KernelStack final : public Stack {
 public:
  Result<std::unique_ptr<Listener>> listen(Core& core, const Endpoint& address,
                                           bool joins) override {
    const auto where =
        numeric({address.host == "localhost" ? "127.0.0.1" : address.host, address.port});
    if (!where) {
      return invalid_input("cannot listen on " + address.text() +
                           ": not an IP address; give one, such as 0.0.0.0:8080 or [::]:8080");
    }
    auto listener = std::make_unique<KernelListener>(core);
    if (const auto code = listener->open(endpoint_of(*where), joins)) {
      return cannot_listen(address, code);
    }
    return std::unique_ptr<Listener>(std::move(listener));
  }

  Task<Result<std::unique_ptr<Transport>>> connect(Core& core, SocketAddress address,
                                                   SteadyPoint deadline,
                                                   ErrorSource other_side) override {
    Socket socket(core.loop().executor());
    Connecting connecting(core, socket, deadline);
    if (!connecting.broken_off()) {
      const tcp::endpoint endpoint = endpoint_of(address);
      const auto code = co_await CodeAwaiter([&](auto&& handler) {
        socket.async_connect(endpoint, std::forward<decltype(handler)>(handler));
      });
      if (!code) co_return make_transport(std::move(socket));
      if (!connecting.broken_off()) {
        const bool ours = is_our_own_lack(code);
        co_return Error{ours ? ErrorKind::overloaded : ErrorKind::refused,
                        ours ? ErrorSource::ourselves : other_side, ours ? Retry::no : Retry::yes,
                        fmt::format("cannot connect to {}: {}", address.text(), code.message())};
      }
    }
    co_return Error{ErrorKind::timeout, other_side, Retry::yes,
                    fmt::format("no connection to {} before the deadline", address.text())};
  }
};

}  // namespace

IpAddress address_of(const asio::ip::address& address) noexcept {
  return IpAddress(address.is_v4()
                       ? asio::ip::make_address_v6(asio::ip::v4_mapped, address.to_v4()).to_bytes()
                       : address.to_v6().to_bytes());
}

tcp::endpoint endpoint_of(const SocketAddress& address) {
  asio::ip::address_v6 v6(address.address.bytes(), address.scope);
  if (address.address.is_v4()) {
    return {asio::ip::make_address_v4(asio::ip::v4_mapped, v6), address.port};
  }
  return {v6, address.port};
}

std::string SocketAddress::text() const { return Endpoint{address.text(), port}.text(); }

std::optional<SocketAddress> numeric(const Endpoint& endpoint) {
  boost::system::error_code code;
  const auto address = asio::ip::make_address(endpoint.host, code);
  if (code) return std::nullopt;
  const auto scope = address.is_v6() ? address.to_v6().scope_id() : 0;
  return SocketAddress{address_of(address), endpoint.port, static_cast<std::uint32_t>(scope)};
}

std::unique_ptr<Transport> adopt(Core& core, int socket) {
  Socket adopted(core.loop().executor());
  boost::system::error_code code;
  adopted.assign(tcp::v4(), socket, code);
  if (!code) return make_transport(std::move(adopted));
  ::close(socket);
  return nullptr;
}

Stack& kernel_stack() noexcept {
  static KernelStack stack;
  return stack;
}

}  // namespace ringside::net
