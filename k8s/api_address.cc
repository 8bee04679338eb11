#include "k8s/api_address.h"

#include <ares.h>
#include <arpa/inet.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "base/limits.h"
#include "http/name_library.h"

namespace ringside::k8s {
namespace {

using IoPoint = std::chrono::steady_clock::time_point;

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

}  // namespace

Outcome<std::vector<IpAddress>> addresses_of(const Endpoint& server, Milliseconds timeout,
                                             const Halt& halt) {
  if (const auto address = IpAddress::try_parse(server.host)) return std::vector{*address};
  Lookup lookup;
  auto addresses = lookup.ask(server.host, std::chrono::steady_clock::now() + timeout, halt);
  if (!addresses.empty()) return addresses;
  return Failure{
      FailureReason::unreachable,
      fmt::format("API server {}: its name has no address: {}", server.text(), lookup.reason()),
      {}};
}

}  // namespace ringside::k8s
