#include "k8s/dns_channel.h"

#include <ares.h>
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/limits.h"

namespace ringside::k8s {
namespace {

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
std::string words_for_status(int status) {
  if (status == ARES_ECONNREFUSED) {
    return "no name server could be reached, or those that could failed to answer it";
  }
  if (status == ARES_ETIMEOUT) return "no name server answered in time";
  return ares_strerror(status);
}

Failure failure_of(int status, const std::string& name) {
  return {reason_of(status), fmt::format("{}: {}", name, words_for_status(status)), {}};
}

}  // namespace

DnsChannel::DnsChannel(const net::NameChannel::Terms& terms, int wake_up, const Clock& clock,
                       SteadyPoint until)
    : wake_up_(wake_up),
      clock_(clock),
      until_(until),
      channel_(terms, [this](int socket, bool readable, bool writable) {
        const int events = (readable ? POLLIN : 0) | (writable ? POLLOUT : 0);
        if (events == 0) {
          sockets_.erase(socket);
        } else {
          sockets_[socket] = static_cast<short>(events);
        }
      }) {}

std::optional<Failure> DnsChannel::failure() const {
  if (channel_.failure().empty()) return std::nullopt;
  return Failure{FailureReason::other, channel_.failure() + "; look at /etc/resolv.conf", {}};
}

Outcome<DnsRecords> DnsChannel::ask(const std::string& name, RecordType type) {
  struct {
    bool is_here = false;
    int status = ARES_SUCCESS;
    std::vector<unsigned char> message;
  } reply;
  channel_.find_records(name, static_cast<int>(type), [&reply](int status, auto message) {
    reply = {true, status, {message.begin(), message.end()}};
  });
  wait_for(reply.is_here);
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

Outcome<std::vector<std::string>> DnsChannel::addresses(const std::string& name) {
  std::optional<net::NameAnswer> answer;
  bool is_here = false;
  channel_.find_addresses(name, [&](net::NameAnswer found) {
    answer = std::move(found);
    is_here = true;
  });
  wait_for(is_here);
  std::vector<std::string> texts;
  for (const auto& address : answer->addresses) texts.push_back(address.address.text());
  if (!texts.empty()) return texts;
  return Failure{
      FailureReason::unreachable, fmt::format("{} has no address: {}", name, answer->reason), {}};
}

void DnsChannel::wait_for(const bool& is_here) {
  while (!is_here) {
    if (!wait()) channel_.cancel();  // which ends it
  }
}

int DnsChannel::wait_most_ms() const {
  const auto left = std::chrono::ceil<Milliseconds>(until_ - clock_.steady_now());
  const auto most = std::clamp(left, Milliseconds{0}, Milliseconds{limits::dns_round_timeout});
  return static_cast<int>(std::min(most, channel_.due_in().value_or(most)).count());
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
    if (readable || writable) channel_.process(each.fd, readable, writable);
  }
  channel_.process();
  return true;
}

}  // namespace ringside::k8s
