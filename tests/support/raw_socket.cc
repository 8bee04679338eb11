#include "tests/support/raw_socket.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <mutex>
#include <utility>
#include <vector>

namespace ringside::support {
namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

const sockaddr* generic(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

Endpoint bind_to_free_port(const Descriptor& socket) {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (::bind(socket.get(), generic(address), size) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    ADD_FAILURE() << "cannot bind to a free port";
  }
  return {"127.0.0.1", ntohs(address.sin_port)};
}

enum class Wake { ready, stop, timeout };

Wake wait_for(int fd, short what, const Gate* stop, std::chrono::milliseconds timeout) {
  std::array<pollfd, 2> polled{pollfd{fd, what, 0},
                               pollfd{stop == nullptr ? -1 : stop->descriptor(), POLLIN, 0}};
  const int ready = ::poll(polled.data(), polled.size(), static_cast<int>(timeout.count()));
  if (polled[0].revents != 0) return Wake::ready;
  return ready > 0 ? Wake::stop : Wake::timeout;
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Gate::Gate() : event_(::eventfd(0, EFD_CLOEXEC)) {}

void Gate::open() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event_.get(), &one, sizeof one);
}

bool Gate::wait(std::chrono::milliseconds timeout) const {
  return wait_for(event_.get(), POLLIN, nullptr, timeout) == Wake::ready;
}

RawSocket::RawSocket(Descriptor socket, const Gate* stop) noexcept
    : socket_(std::move(socket)), stop_(stop) {
  const int one = 1;
  ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

RawSocket RawSocket::connect(const Endpoint& to, int receive_buffer_bytes) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (receive_buffer_bytes != 0) {
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes,
                 sizeof receive_buffer_bytes);
  }
  const auto address = loopback(to.port);
  if (::connect(socket.get(), generic(address), sizeof address) != 0) {
    ADD_FAILURE() << "cannot connect to " << to.text();
  }
  return RawSocket(std::move(socket));
}

bool RawSocket::send(std::string_view bytes) {
  while (!bytes.empty()) {
    if (wait_for(socket_.get(), POLLOUT, stop_, patience) != Wake::ready) return false;
    const ssize_t sent =
        ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EAGAIN) continue;
    if (sent < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

std::optional<RawSocket::End> RawSocket::receive(std::string& into, std::size_t most,
                                                 std::chrono::milliseconds timeout) {
  const Wake wake = wait_for(socket_.get(), POLLIN, stop_, timeout);
  if (wake == Wake::timeout) return End::timeout;
  if (wake == Wake::stop) return End::stopped;
  const std::size_t before = into.size();
  into.resize(before + most);
  const ssize_t received = ::recv(socket_.get(), into.data() + before, most, 0);
  into.resize(before + static_cast<std::size_t>(received > 0 ? received : 0));
  if (received > 0) return std::nullopt;
  return received == 0 ? End::closed : End::reset;
}

bool RawSocket::readable(std::chrono::milliseconds timeout) {
  return wait_for(socket_.get(), POLLIN, stop_, timeout) == Wake::ready;
}

void RawSocket::shutdown_send() noexcept { ::shutdown(socket_.get(), SHUT_WR); }

void RawSocket::close() noexcept { socket_ = Descriptor(); }

void RawSocket::reset() noexcept {
  const linger now{1, 0};
  ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close();
}

RawListener::RawListener() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  address_ = bind_to_free_port(socket_);
  if (::listen(socket_.get(), 1024) != 0) ADD_FAILURE() << "cannot listen on a free port";
}

std::optional<RawSocket> RawListener::accept(const Gate* stop) {
  const auto timeout = stop == nullptr ? patience : std::chrono::milliseconds{-1};
  if (wait_for(socket_.get(), POLLIN, stop, timeout) != Wake::ready) return std::nullopt;
  Descriptor accepted(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (accepted.get() < 0) return std::nullopt;
  return RawSocket(std::move(accepted), stop);
}

// The port is bound and kept, else another test that runs meanwhile may listen on it.
Endpoint refusing_address() {
  static std::mutex mutex;
  static std::vector<Descriptor> kept;
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const Endpoint address = bind_to_free_port(socket);
  const std::lock_guard lock(mutex);
  kept.push_back(std::move(socket));
  return address;
}

}  // namespace ringside::support
