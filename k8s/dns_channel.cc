#include "k8s/dns_channel.h"

#include <ares.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/limits.h"
#include "http/name_library.h"

namespace ringside::k8s {
namespace {

constexpr int class_in = 1;
// What every path carries in one piece (DNS flag day 2020); what is larger comes over TCP.
constexpr int edns_size_bytes = 1232;

FailureReason reason_of(int status) noexcept {
  switch (status) {
    case ARES_ENODATA:
    case ARES_ENOTFOUND:
      return FailureReason::not_found;
    case ARES_ESERVFAIL:
    case ARES_ECONNREFUSED:
    case ARES_ETIMEOUT:
    case ARES_EOF:
      return FailureReason::unreachable;
    case ARES_EREFUSED:
      return FailureReason::forbidden;
    case ARES_EFORMERR:
    case ARES_EBADRESP:
      return FailureReason::malformed;
    default:
      return FailureReason::other;
  }
}

// c-ares says "refused" of every name server that does not answer as it should, SERVFAIL included.
std::string words_for(int status) {
  if (status == ARES_ECONNREFUSED) {
    return "no name server could be reached, or those that could failed to answer it";
  }
  if (status == ARES_ETIMEOUT) return "no name server answered in time";
  return ares_strerror(status);
}

Failure failure_of(int status, const std::string& name) {
  return {reason_of(status), fmt::format("{}: {}", name, words_for(status)), {}};
}

}  // namespace

struct DnsChannel::Reply {
  bool is_here = false;
  int status = ARES_SUCCESS;
  std::vector<unsigned char> message;

  static void arrived(void* self, int status, int, unsigned char* message, int size) {
    auto& reply = *static_cast<Reply*>(self);
    reply.is_here = true;
    reply.status = status;
    if (status == ARES_SUCCESS) reply.message.assign(message, message + size);
  }
};

DnsChannel::DnsChannel(const DnsServers& servers, int wake_up, const Clock& clock,
                       SteadyPoint until)
    : wake_up_(wake_up), clock_(clock), until_(until) {
  open(servers);
  if (!failure_) read_search_list();
}

DnsChannel::~DnsChannel() {
  if (channel_ != nullptr) ares_destroy(channel_);
}

void DnsChannel::open(const DnsServers& servers) {
  http::initialise_name_library();
  std::string resolv_conf = servers.resolv_conf;
  ares_options options{};
  options.flags = ARES_FLAG_EDNS;
  options.ednspsz = limits::dns_datagram_size_bytes;
  options.timeout = static_cast<int>(servers.timeout.count());
  options.tries = servers.tries;
  options.resolvconf_path = resolv_conf.data();
  options.sock_state_cb_data = this;
  options.sock_state_cb = [](void* self, int socket, int readable, int writable) {
    const int events = (readable != 0 ? POLLIN : 0) | (writable != 0 ? POLLOUT : 0);
    auto& sockets = static_cast<DnsChannel*>(self)->sockets_;
    if (events == 0) {
      sockets.erase(socket);
    } else {
      sockets[socket] = static_cast<short>(events);
    }
  };
  int wanted = ARES_OPT_FLAGS | ARES_OPT_EDNSPSZ | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES |
               ARES_OPT_SOCK_STATE_CB;
  if (!resolv_conf.empty()) wanted |= ARES_OPT_RESOLVCONF;
  int status = ares_init_options(&channel_, &options, wanted);
  if (status != ARES_SUCCESS) channel_ = nullptr;
  if (status == ARES_SUCCESS && !servers.addresses.empty()) {
    status = ares_set_servers_ports_csv(channel_, servers.addresses.c_str());
  }
  if (status == ARES_SUCCESS) return;
  failure_ =
      Failure{FailureReason::other,
              fmt::format("no name servers: {}; look at /etc/resolv.conf", ares_strerror(status)),
              {}};
}

void DnsChannel::read_search_list() {
  ares_options options{};
  int present = 0;
  const int status = ares_save_options(channel_, &options, &present);
  if (status == ARES_SUCCESS) {
    search_.ndots = options.ndots;
    for (int i = 0; i < options.ndomains; ++i) search_.domains.emplace_back(options.domains[i]);
  } else {
    failure_ =
        Failure{FailureReason::other, fmt::format("no search list: {}", ares_strerror(status)), {}};
  }
  ares_destroy_options(&options);
}

Outcome<DnsRecords> DnsChannel::ask(const std::string& name, RecordType type) {
  Reply reply;
  ares_query(channel_, name.c_str(), class_in, static_cast<int>(type), Reply::arrived, &reply);
  while (!reply.is_here) {
    if (!wait()) ares_cancel(channel_);  // which ends it
  }
  if (reply.status == ARES_ECANCELLED) {
    return Failure{FailureReason::unreachable,
                   fmt::format("{}: the name servers took too long over all questions", name),
                   {}};
  }
  if (reply.status != ARES_SUCCESS) return failure_of(reply.status, name);
  auto records = read_dns_records(reply.message);
  if (records) return records;
  return Failure{records.error().reason, fmt::format("{}: {}", name, records.error().message), {}};
}

int DnsChannel::wait_most_ms() const {
  const auto left = std::chrono::ceil<Milliseconds>(until_ - clock_.steady_now());
  timeval asking_again{};
  auto most = std::clamp(left, Milliseconds{0}, Milliseconds{limits::dns_round_timeout});
  if (ares_timeout(channel_, nullptr, &asking_again) != nullptr) {
    // Rounded up: early, there would be nothing to do.
    const auto c_ares = Seconds{asking_again.tv_sec} +
                        std::chrono::microseconds{asking_again.tv_usec} + Milliseconds{1};
    most = std::min(most, std::chrono::ceil<Milliseconds>(c_ares));
  }
  return static_cast<int>(most.count());
}

bool DnsChannel::wait() {
  if (clock_.steady_now() >= until_) return false;
  std::vector<pollfd> polled{{wake_up_, POLLIN, 0}};
  for (const auto& [socket, events] : sockets_) polled.push_back({socket, events, 0});
  const int ready = ::poll(polled.data(), polled.size(), wait_most_ms());
  RINGSIDE_CHECK(ready >= 0 || errno == EINTR);
  if (polled.front().revents != 0) return false;
  for (const pollfd& each : std::span(polled).subspan(1)) {
    // An error is read as what it is.
    const bool readable = (each.revents & ~POLLOUT) != 0;
    const bool writable = (each.revents & POLLOUT) != 0;
    if (readable || writable) {
      ares_process_fd(channel_, readable ? each.fd : ARES_SOCKET_BAD,
                      writable ? each.fd : ARES_SOCKET_BAD);
    }
  }
  ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);  // what is due by time
  return true;
}

}  // namespace ringside::k8s
