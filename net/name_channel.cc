#include "net/name_channel.h"

#include <ares.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

#include "base/check.h"

namespace ringside::net {
namespace {

constexpr int class_in = 1;

// Once for the process, which c-ares's own count of calls is not thread-safe for.
void initialise_library() {
  static const int status = ares_library_init(ARES_LIB_INIT_ALL);
  RINGSIDE_CHECK(status == ARES_SUCCESS);
}

// False: of a family that we don't speak.
bool append_address(const sockaddr* from, std::vector<SocketAddress>& into) {
  if (from->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, from, sizeof v4);
    std::array<std::uint8_t, 16> mapped{};  // RFC 4291 §2.5.5.2
    mapped[10] = mapped[11] = 0xff;
    std::memcpy(mapped.data() + 12, &v4.sin_addr, sizeof v4.sin_addr);
    into.push_back({IpAddress(mapped)});
  } else if (from->sa_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, from, sizeof v6);
    std::array<std::uint8_t, 16> bytes{};
    std::copy(std::begin(v6.sin6_addr.s6_addr), std::end(v6.sin6_addr.s6_addr), bytes.begin());
    into.push_back({IpAddress(bytes), 0, v6.sin6_scope_id});
  } else {
    return false;
  }
  return true;
}

NameAnswer read_found(const ares_addrinfo& found) {
  NameAnswer answer;
  answer.outcome = NameAnswer::Outcome::found;
  int ttl_s = std::numeric_limits<int>::max();
  for (const auto* node = found.nodes; node != nullptr; node = node->ai_next) {
    if (answer.addresses.size() == limits::resolve_addresses) break;
    if (append_address(node->ai_addr, answer.addresses)) ttl_s = std::min(ttl_s, node->ai_ttl);
  }
  for (const auto* alias = found.cnames; alias != nullptr; alias = alias->next) {
    ttl_s = std::min(ttl_s, alias->ttl);
  }
  answer.ttl = Seconds{std::max(ttl_s, 0)};  // beyond 2^31 s it is none (RFC 2181 §8)
  return answer;
}

NameAnswer read_answer(int status, const ares_addrinfo* found) {
  NameAnswer answer;
  if (status == ARES_SUCCESS) answer = read_found(*found);
  if (!answer.addresses.empty()) return answer;
  const bool absent = status == ARES_SUCCESS || status == ARES_ENOTFOUND || status == ARES_ENODATA;
  answer.outcome = absent ? NameAnswer::Outcome::absent : NameAnswer::Outcome::failed;
  answer.reason = ares_strerror(status == ARES_SUCCESS ? ARES_ENODATA : status);
  return answer;
}

void addresses_arrived(void* asked, int status, int /*timeouts*/, ares_addrinfo* found) {
  const std::unique_ptr<NameChannel::TakeAddresses> take(
      static_cast<NameChannel::TakeAddresses*>(asked));
  NameAnswer answer = read_answer(status, found);
  if (found != nullptr) ares_freeaddrinfo(found);
  (*take)(std::move(answer));
}

void message_arrived(void* asked, int status, int /*timeouts*/, unsigned char* message, int size) {
  const std::unique_ptr<NameChannel::TakeMessage> take(
      static_cast<NameChannel::TakeMessage*>(asked));
  const bool is_here = status == ARES_SUCCESS;
  (*take)(status, {message, is_here ? static_cast<std::size_t>(size) : 0});
}

}  // namespace

NameChannel::NameChannel(const Terms& terms, Watch watch) : watch_(std::move(watch)) {
  initialise_library();
  std::string resolv_conf = terms.resolv_conf;
  ares_options options{};
  options.flags = ARES_FLAG_EDNS;
  options.ednspsz = terms.datagram_size_bytes;
  options.timeout = static_cast<int>(terms.try_timeout.count());
  options.tries = terms.tries;
  options.resolvconf_path = resolv_conf.data();
  options.sock_state_cb_data = &watch_;
  options.sock_state_cb = [](void* told, int socket, int readable, int writable) {
    (*static_cast<Watch*>(told))(socket, readable != 0, writable != 0);
  };
  int wanted = ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB;
  if (terms.datagram_size_bytes != 0) wanted |= ARES_OPT_FLAGS | ARES_OPT_EDNSPSZ;
  if (!resolv_conf.empty()) wanted |= ARES_OPT_RESOLVCONF;
  int status = ares_init_options(&channel_, &options, wanted);
  if (status != ARES_SUCCESS) channel_ = nullptr;
  if (status == ARES_SUCCESS && !terms.servers.empty()) {
    status = ares_set_servers_ports_csv(channel_, terms.servers.c_str());
  }
  if (status != ARES_SUCCESS) failure_ = fmt::format("no name servers: {}", ares_strerror(status));
}

NameChannel::~NameChannel() {
  if (channel_ != nullptr) ares_destroy(channel_);
}

void NameChannel::find_addresses(const std::string& name, TakeAddresses take) {
  ares_addrinfo_hints hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  ares_getaddrinfo(channel_, name.c_str(), nullptr, &hints, addresses_arrived,
                   std::make_unique<TakeAddresses>(std::move(take)).release());
}

void NameChannel::find_records(const std::string& name, int type, TakeMessage take) {
  ares_query(channel_, name.c_str(), class_in, type, message_arrived,
             std::make_unique<TakeMessage>(std::move(take)).release());
}

SearchList NameChannel::search_list() {
  SearchList list;
  ares_options options{};
  int present = 0;
  RINGSIDE_CHECK(ares_save_options(channel_, &options, &present) == ARES_SUCCESS);
  list.ndots = options.ndots;
  for (int i = 0; i < options.ndomains; ++i) list.domains.emplace_back(options.domains[i]);
  ares_destroy_options(&options);
  return list;
}

void NameChannel::process(int socket, bool readable, bool writable) {
  ares_process_fd(channel_, readable ? socket : ARES_SOCKET_BAD,
                  writable ? socket : ARES_SOCKET_BAD);
}

void NameChannel::process() { ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD); }

std::optional<Milliseconds> NameChannel::due_in() const {
  timeval left{};
  if (ares_timeout(channel_, nullptr, &left) == nullptr) return std::nullopt;
  // Rounded up: early, there would be nothing to do.
  return std::chrono::floor<Milliseconds>(Seconds{left.tv_sec} +
                                          std::chrono::microseconds{left.tv_usec}) +
         Milliseconds{1};
}

void NameChannel::cancel() { ares_cancel(channel_); }

}  // namespace ringside::net
