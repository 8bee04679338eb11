#include "k8s/api_connect.h"

#include <ares.h>
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <vector>

#include "base/limits.h"
#include "http/name_library.h"

namespace ringside::k8s {
namespace {

std::string text_of(int error) { return std::generic_category().message(error); }

Failure unreachable(const Endpoint& server, std::string_view why) {
  return {FailureReason::unreachable, fmt::format("{}: {}", server.text(), why), {}};
}

int milliseconds_until(IoPoint until) {
  const auto left = std::chrono::ceil<Milliseconds>(until - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<Milliseconds::rep>(left.count(), 0, 3'600'000));
}

// One question to c-ares, which a halt can end; getaddrinfo(3) can't be ended.
class Lookup {
 public:
  Lookup() {
    http::initialise_name_library();
    ares_options options{};
    options.timeout = static_cast<int>(limits::resolve_try_timeout.count());
    options.tries = limits::resolve_tries;
    status_ = ares_init_options(&channel_, &options, ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES);
    if (status_ != ARES_SUCCESS) channel_ = nullptr;
  }
  ~Lookup() {
    if (channel_ != nullptr) ares_destroy(channel_);
  }
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

  // Empty: reason() says why.
  [[nodiscard]] std::vector<IpAddress> ask(const std::string& host, IoPoint until,
                                           const Halt& halt) {
    if (channel_ == nullptr) return {};
    ares_addrinfo_hints hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    ares_getaddrinfo(
        channel_, host.c_str(), nullptr, &hints,
        [](void* self, int status, int, ares_addrinfo* found) {
          static_cast<Lookup*>(self)->answered(status, found);
        },
        this);
    while (!done_) {
      if (!process(until, halt)) return {};
    }
    return addresses_;
  }
  [[nodiscard]] std::string reason() const { return ares_strerror(status_); }

 private:
  void answered(int status, ares_addrinfo* found) {
    done_ = true;
    status_ = status;
    if (found == nullptr) return;
    for (const auto* node = found->nodes; node != nullptr; node = node->ai_next) {
      if (addresses_.size() == limits::resolve_addresses) break;
      append(*node->ai_addr);
    }
    ares_freeaddrinfo(found);
  }
  void append(const sockaddr& from) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* bytes = nullptr;
    if (from.sa_family == AF_INET) bytes = &reinterpret_cast<const sockaddr_in&>(from).sin_addr;
    if (from.sa_family == AF_INET6) bytes = &reinterpret_cast<const sockaddr_in6&>(from).sin6_addr;
    if (bytes == nullptr) return;
    if (::inet_ntop(from.sa_family, bytes, text.data(), text.size()) == nullptr) return;
    if (const auto address = IpAddress::try_parse(text.data())) addresses_.push_back(*address);
  }
  // Waits for what c-ares waits for. False: the time is over.
  bool process(IoPoint until, const Halt& halt) {
    std::array<ares_socket_t, ARES_GETSOCK_MAXNUM> sockets{};
    const auto wanted = static_cast<unsigned>(
        ares_getsock(channel_, sockets.data(), static_cast<int>(sockets.size())));
    std::array<pollfd, ARES_GETSOCK_MAXNUM + 1> waiting{};
    nfds_t count = 0;
    for (unsigned i = 0; i < sockets.size(); ++i) {
      const bool reads = ARES_GETSOCK_READABLE(wanted, i) != 0;
      const bool writes = ARES_GETSOCK_WRITABLE(wanted, i) != 0;
      if (!reads && !writes) continue;
      waiting[count++] = {sockets[i],
                          static_cast<short>((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)), 0};
    }
    waiting[count] = {halt.descriptor(), POLLIN, 0};
    timeval own{};
    timeval most{milliseconds_until(until) / 1000, milliseconds_until(until) % 1000 * 1000};
    const timeval* const wait = ares_timeout(channel_, &most, &own);
    ::poll(waiting.data(), count + 1, static_cast<int>(wait->tv_sec * 1000 + wait->tv_usec / 1000));
    if (halt.ordered()) return false;
    if (std::chrono::steady_clock::now() >= until) {
      status_ = ARES_ETIMEOUT;
      return false;
    }
    for (nfds_t i = 0; i < count; ++i) {
      const short events = waiting[i].revents;
      ares_process_fd(channel_, (events & ~POLLOUT) != 0 ? waiting[i].fd : ARES_SOCKET_BAD,
                      (events & POLLOUT) != 0 ? waiting[i].fd : ARES_SOCKET_BAD);
    }
    ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);  // its timeouts
    return true;
  }

  ares_channeldata* channel_ = nullptr;
  bool done_ = false;
  int status_ = ARES_SUCCESS;
  std::vector<IpAddress> addresses_;
};

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

SocketAddress socket_address(const IpAddress& address, std::uint16_t port) {
  SocketAddress made;
  const auto& bytes = address.bytes();
  if (address.is_v4()) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    std::memcpy(&v4.sin_addr, bytes.data() + 12, 4);
    made.size = sizeof v4;
    std::memcpy(&made.storage, &v4, sizeof v4);
  } else {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    std::memcpy(&v6.sin6_addr, bytes.data(), 16);
    made.size = sizeof v6;
    std::memcpy(&made.storage, &v6, sizeof v6);
  }
  return made;
}

void set_options(int socket) {
  const auto set = [socket](int level, int option, int value) {
    ::setsockopt(socket, level, option, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, static_cast<int>(limits::api_keepalive_idle.count()));
  set(IPPROTO_TCP, TCP_KEEPINTVL, static_cast<int>(limits::api_keepalive_interval.count()));
  set(IPPROTO_TCP, TCP_KEEPCNT, limits::api_keepalive_probes);
}

// 0, or the error; ETIMEDOUT where the time is over, ECANCELED where it was halted.
int connect_socket(int socket, const SocketAddress& to, IoPoint until, const Halt& halt) {
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&to.storage), to.size) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  const Wake wake = wait_for(socket, POLLOUT, until, &halt);
  if (wake == Wake::halted) return ECANCELED;
  if (wake == Wake::timeout) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

}  // namespace

Wake wait_for(int socket, short events, IoPoint until, const Halt* halt) {
  while (true) {
    std::array<pollfd, 2> waiting{{{socket, events, 0}, {-1, POLLIN, 0}}};
    if (halt != nullptr) waiting[1].fd = halt->descriptor();
    const int ready = ::poll(waiting.data(), waiting.size(), milliseconds_until(until));
    if (halt != nullptr && halt->ordered()) return Wake::halted;
    if (waiting[0].revents != 0) return Wake::ready;
    if (ready <= 0 && std::chrono::steady_clock::now() >= until) return Wake::timeout;
  }
}

Outcome<Descriptor> connect_to(const Endpoint& server, Milliseconds timeout, const Halt& halt) {
  const IoPoint until = std::chrono::steady_clock::now() + timeout;
  std::vector<IpAddress> addresses;
  if (const auto address = IpAddress::try_parse(server.host)) {
    addresses.push_back(*address);
  } else {
    Lookup lookup;
    addresses = lookup.ask(server.host, until, halt);
    if (addresses.empty()) {
      return unreachable(server, fmt::format("its name has no address: {}", lookup.reason()));
    }
  }
  int error = 0;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const auto now = std::chrono::steady_clock::now();
    const IoPoint share = now + (until - now) / static_cast<long>(addresses.size() - i);
    const SocketAddress to = socket_address(addresses[i], server.port);
    Descriptor socket(
        ::socket(to.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (socket.get() < 0) {
      error = errno;
      if (error == EAFNOSUPPORT) continue;  // the kernel speaks one family, DNS tells of both
      return unreachable(server, text_of(error));
    }
    set_options(socket.get());
    error = connect_socket(socket.get(), to, share, halt);
    if (error == 0) return socket;
    if (halt.ordered()) break;
  }
  if (error == ECONNREFUSED) return unreachable(server, "nothing listens there");
  if (error == ETIMEDOUT) {
    return unreachable(server, fmt::format("no connection within {} ms", timeout.count()));
  }
  return unreachable(server, text_of(error));
}

}  // namespace ringside::k8s
