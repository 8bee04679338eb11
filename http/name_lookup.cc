#include "http/name_lookup.h"

#include <ares.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/time.h>

#include <algorithm>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

#include "base/limits.h"
#include "http/name_library.h"

namespace ringside::http {
namespace {

// False: of a family that we don't speak.
bool append_address(const sockaddr* from, std::vector<asio::ip::address>& into) {
  if (from->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, from, sizeof v4);
    into.emplace_back(asio::ip::address_v4(ntohl(v4.sin_addr.s_addr)));
  } else if (from->sa_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, from, sizeof v6);
    asio::ip::address_v6::bytes_type bytes;
    std::copy(std::begin(v6.sin6_addr.s6_addr), std::end(v6.sin6_addr.s6_addr), bytes.begin());
    into.emplace_back(asio::ip::address_v6(bytes, v6.sin6_scope_id));
  } else {
    return false;
  }
  return true;
}

NameAnswer read_answer(const ares_addrinfo& found) {
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

}  // namespace

struct NameLookup::Watched {
  using Stream = asio::posix::basic_stream_descriptor<Executor>;
  explicit Watched(const Executor& executor, int the_socket)
      : stream(executor), socket(the_socket) {}
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  // c-ares closes it.
  ~Watched() {
    if (stream.is_open()) stream.release();
  }

  struct Direction {
    bool wanted = false;
    bool waiting = false;
  };
  Stream stream;
  const int socket;
  Direction read;
  Direction write;
};

NameLookup::NameLookup(Core& core, Done done)
    : Deadline(core.deadlines()), core_(core), timer_(core.executor()), done_(std::move(done)) {}

NameLookup::~NameLookup() { abandon(); }

std::shared_ptr<NameLookup> NameLookup::start(Core& core, const std::string& name,
                                              const std::string& servers, Done done) {
  auto lookup = std::make_shared<NameLookup>(core, std::move(done));
  lookup->begin(name, servers);
  return lookup;
}

void NameLookup::begin(const std::string& name, const std::string& servers) {
  core_.add(*this);
  if (core_.stopped()) return close();
  Deadline::set(core_.steady_now() + limits::resolve_timeout);
  if (!open_channel(servers)) return;
  ares_addrinfo_hints hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  const auto on_answer = [](void* self, int status, int, ares_addrinfo* found) {
    static_cast<NameLookup*>(self)->answered(status, found);
  };
  ares_getaddrinfo(channel_, name.c_str(), nullptr, &hints, on_answer, this);
  set_timer();
}

bool NameLookup::open_channel(const std::string& servers) {
  initialise_name_library();
  ares_options options{};
  options.timeout = static_cast<int>(limits::resolve_try_timeout.count());
  options.tries = limits::resolve_tries;
  options.sock_state_cb_data = this;
  options.sock_state_cb = [](void* self, int socket, int readable, int writable) {
    static_cast<NameLookup*>(self)->watch(socket, readable != 0, writable != 0);
  };
  int status = ares_init_options(&channel_, &options,
                                 ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB);
  if (status != ARES_SUCCESS) channel_ = nullptr;
  if (status == ARES_SUCCESS && !servers.empty()) {
    status = ares_set_servers_ports_csv(channel_, servers.c_str());
  }
  if (status == ARES_SUCCESS) return true;
  fail(fmt::format("no name servers: {}", ares_strerror(status)));
  return false;
}

// c-ares tells of each of its sockets, so that none is watched afterwards.
void NameLookup::close_channel() noexcept {
  if (channel_ != nullptr) ares_destroy(std::exchange(channel_, nullptr));
  sockets_.clear();
}

void NameLookup::watch(int socket, bool readable, bool writable) noexcept {
  const auto found = sockets_.find(socket);
  if (!readable && !writable) {
    if (found != sockets_.end()) sockets_.erase(found);
    return;
  }
  if (found != sockets_.end()) {
    found->second->read.wanted = readable;
    found->second->write.wanted = writable;
    return wait(found->second);
  }
  auto watched = std::make_shared<Watched>(core_.executor(), socket);
  boost::system::error_code code;
  watched->stream.assign(socket, code);
  if (code) return fail(fmt::format("cannot wait: {}", code.message()));
  watched->read.wanted = readable;
  watched->write.wanted = writable;
  sockets_.emplace(socket, watched);
  wait(watched);
}

void NameLookup::wait(const std::shared_ptr<Watched>& watched) {
  if (watched->read.wanted && !watched->read.waiting) wait_for(watched, false);
  if (watched->write.wanted && !watched->write.waiting) wait_for(watched, true);
}

// The waiting holds neither of them: both may be gone, and the number be another socket's, when it
// comes to its end.
void NameLookup::wait_for(const std::shared_ptr<Watched>& watched, bool to_write) {
  (to_write ? watched->write : watched->read).waiting = true;
  watched->stream.async_wait(
      to_write ? Watched::Stream::wait_write : Watched::Stream::wait_read,
      [lookup = weak_from_this(), weak = std::weak_ptr(watched), to_write](const auto& code) {
        const auto self = lookup.lock();
        const auto still = weak.lock();
        if (code != asio::error::operation_aborted && self && still) self->ready(still, to_write);
      });
}

void NameLookup::ready(const std::shared_ptr<Watched>& watched, bool to_write) {
  auto& direction = to_write ? watched->write : watched->read;
  direction.waiting = false;
  if (channel_ == nullptr || !direction.wanted) return;
  ares_process_fd(channel_, to_write ? ARES_SOCKET_BAD : watched->socket,
                  to_write ? watched->socket : ARES_SOCKET_BAD);
  const auto found = sockets_.find(watched->socket);
  if (found != sockets_.end() && found->second == watched) wait(watched);
  set_timer();
}

void NameLookup::set_timer() {
  timeval left{};
  if (channel_ == nullptr || ares_timeout(channel_, nullptr, &left) == nullptr) return;
  // Rounded up: early, it would find nothing to do.
  timer_.expires_after(Seconds{left.tv_sec} + std::chrono::microseconds{left.tv_usec} +
                       Milliseconds{1});
  timer_.async_wait([lookup = weak_from_this()](const auto& code) {
    const auto self = lookup.lock();
    if (code || !self || self->channel_ == nullptr) return;
    ares_process_fd(self->channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
    self->set_timer();
  });
}

// Called by c-ares, from anywhere within it.
void NameLookup::answered(int status, ares_addrinfo* found) noexcept {
  NameAnswer answer;
  if (status == ARES_SUCCESS) answer = read_answer(*found);
  if (found != nullptr) ares_freeaddrinfo(found);
  if (answer.addresses.empty()) {
    const bool absent =
        status == ARES_SUCCESS || status == ARES_ENOTFOUND || status == ARES_ENODATA;
    answer.outcome = absent ? NameAnswer::Outcome::absent : NameAnswer::Outcome::failed;
    answer.reason = ares_strerror(status == ARES_SUCCESS ? ARES_ENODATA : status);
  }
  conclude(std::move(answer));
}

// Only noted here, for we may be within c-ares, whose channel can't be closed then, or within the
// core's round of its Closables.
void NameLookup::conclude(NameAnswer answer) {
  if (concluded_) return;
  concluded_ = true;
  answer_ = std::move(answer);
  asio::post(core_.context(), [self = shared_from_this()] {
    auto done = std::exchange(self->done_, nullptr);
    self->abandon();
    if (done) done(std::move(self->answer_));
  });
}

void NameLookup::fail(std::string reason) {
  NameAnswer answer;
  answer.reason = std::move(reason);
  conclude(std::move(answer));
}

void NameLookup::abandon() noexcept {
  done_ = nullptr;
  concluded_ = true;
  Deadline::clear();
  timer_.cancel();
  close_channel();
}

void NameLookup::close() noexcept { fail("broken off"); }

void NameLookup::expire() noexcept {
  fail(fmt::format("no answer within {} ms", limits::resolve_timeout.count()));
}

}  // namespace ringside::http
