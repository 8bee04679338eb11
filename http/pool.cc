#include "http/pool.h"

#include <fmt/format.h>

#include <boost/asio/ip/address.hpp>

#include "base/limits.h"

namespace ringside::http {
namespace {

// A socket in the making, broken off by its deadline or by the core's stop.
class Attempt final : public Closable, private Deadline {
 public:
  Attempt(Core& core, Socket& socket, SteadyPoint deadline)
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

// The address that a host is, where it is no name.
std::optional<tcp::endpoint> numeric(const Endpoint& endpoint) {
  boost::system::error_code code;
  const auto address = asio::ip::make_address(endpoint.host, code);
  if (code) return std::nullopt;
  return tcp::endpoint(address, endpoint.port);
}

// Descriptors, ports or memory have run out here: no upstream is to blame, and none could be asked
// instead.
bool is_our_own_lack(const boost::system::error_code& code) noexcept {
  namespace errc = boost::system::errc;
  return code == errc::too_many_files_open || code == errc::too_many_files_open_in_system ||
         code == errc::no_buffer_space || code == errc::not_enough_memory ||
         code == errc::address_not_available;
}

}  // namespace

Pool::Pool(Core& core, ErrorSource other_side) : Pool(core, other_side, Terms()) {}

Pool::Pool(Core& core, ErrorSource other_side, const Terms& terms)
    : core_(core),
      other_side_(other_side),
      terms_(terms),
      resolver_(core, other_side, terms.name_servers) {}

Pool::~Pool() = default;

Pool::Place::Place(Upstream& upstream, Handed handed) noexcept : upstream_(&upstream) {
  if (handed == Handed::no) ++upstream.in_use;
}

Pool::Place& Pool::Place::operator=(Place&& other) noexcept {
  leave();
  upstream_ = std::exchange(other.upstream_, nullptr);
  return *this;
}

void Pool::Place::leave() noexcept {
  if (upstream_ == nullptr) return;
  // Handed over, not freed: nobody slips in between the wake and the waking.
  if (upstream_->waiting.empty()) {
    --upstream_->in_use;
  } else {
    upstream_->waiting.front()->bell()->wake();
    upstream_->waiting.pop_front();
  }
  upstream_ = nullptr;
}

Pool::Lease Pool::take_youngest(Upstream& upstream, Place place) {
  Idle& youngest = upstream.idle.back();
  Lease lease{std::move(place), std::move(youngest.connection), false, youngest.pooled_until};
  upstream.idle.pop_back();
  return lease;
}

std::optional<Pool::Lease> Pool::take_idle(const UpstreamAddress& address, bool must_be_alive) {
  const auto found = upstreams_.find(address);
  if (found == upstreams_.end()) return std::nullopt;
  Upstream& upstream = found->second;
  if (upstream.in_use >= terms_.connections) return std::nullopt;
  // The youngest first: it is the least likely to have been closed, and the rest can age away.
  while (!upstream.idle.empty()) {
    auto lease = take_youngest(upstream, Place(upstream, Place::Handed::no));
    if (must_be_alive && lease.connection->is_stale()) continue;
    lease.reused = true;
    return lease;
  }
  return std::nullopt;
}

void Pool::give_back(const UpstreamAddress& address, Lease lease) {
  auto& idle = upstreams_[address].idle;
  const SteadyPoint now = core_.steady_now();
  if (idle.size() >= limits::idle_upstream_per_address || core_.draining()) return;
  if (lease.pooled_until <= now) return;
  lease.connection->clear_deadline();
  idle.push_back({std::move(lease.connection), now, lease.pooled_until});
}

void Pool::close_idle() {
  const SteadyPoint oldest = core_.steady_now() - limits::upstream_idle_timeout;
  for (auto row = upstreams_.begin(); row != upstreams_.end();) {
    Upstream& upstream = row->second;
    while (!upstream.idle.empty() && upstream.idle.front().since <= oldest) {
      upstream.idle.pop_front();
    }
    const bool unused = upstream.idle.empty() && upstream.in_use == 0 && upstream.waiting.empty();
    row = unused ? upstreams_.erase(row) : std::next(row);
  }
  resolver_.forget_old();
}

Task<Result<std::unique_ptr<Connection>>> Pool::open(const tcp::endpoint& endpoint,
                                                     SteadyPoint deadline) {
  Socket socket(core_.executor());
  Attempt attempt(core_, socket, deadline);
  const auto where = [&] {
    return Endpoint{endpoint.address().to_string(), endpoint.port()}.text();
  };
  if (!attempt.broken_off()) {
    const auto [code] = co_await socket.async_connect(endpoint, use_task);
    if (!code) {
      co_return std::make_unique<Connection>(core_, Transport(std::move(socket)), other_side_);
    }
    if (!attempt.broken_off()) {
      const bool ours = is_our_own_lack(code);
      co_return Error{ours ? ErrorKind::overloaded : ErrorKind::refused,
                      ours ? ErrorSource::ourselves : other_side_, ours ? Retry::no : Retry::yes,
                      fmt::format("cannot connect to {}: {}", where(), code.message())};
    }
  }
  co_return Error{ErrorKind::timeout, other_side_, Retry::yes,
                  fmt::format("no connection to {} before the deadline", where())};
}

Task<Result<std::unique_ptr<Connection>>> Pool::open_any(const UpstreamAddress& address,
                                                         SteadyPoint deadline) {
  std::vector<tcp::endpoint> endpoints;
  if (const auto only = numeric(address.endpoint)) {
    endpoints.push_back(*only);
  } else {
    auto resolved = co_await resolver_.resolve(address.endpoint, deadline);
    if (!resolved) co_return resolved.error();
    endpoints = std::move(*resolved);
  }
  Error last{ErrorKind::unresolved, other_side_, Retry::yes,
             address.endpoint.host + " has no address"};
  for (const tcp::endpoint& endpoint : endpoints) {
    auto opened = co_await open(endpoint, deadline);
    if (!opened) {
      last = opened.error();
    } else if (!address.tls) {
      co_return std::move(*opened);
    } else {
      Connection& connection = **opened;
      connection.begin_tls(tls_, address.endpoint.host);
      connection.set_deadline(deadline);
      const auto shaken = co_await connection.shake_hands();
      if (shaken) co_return std::move(*opened);
      last = shaken.error();
      last.retry = Retry::yes;
      last.message = address.endpoint.text() + ": " + last.message;
    }
    if (core_.steady_now() >= deadline) break;
  }
  co_return last;
}

Task<Result<Pool::Place>> Pool::enter(Upstream& upstream, const Endpoint& endpoint,
                                      SteadyPoint deadline) {
  if (upstream.in_use < terms_.connections) {
    co_return Place(upstream, Place::Handed::no);
  }
  Error busy{ErrorKind::overloaded, ErrorSource::ourselves, Retry::no,
             fmt::format("{} connections to {} are in use", upstream.in_use, endpoint.text())};
  if (upstream.waiting.size() >= terms_.waiters) co_return busy;
  Waiter waiter(core_);
  upstream.waiting.push_back(&waiter);
  const SteadyPoint until = std::min(deadline, core_.steady_now() + terms_.wait_timeout);
  co_await waiter.wait(until);
  // Whoever is not in the list any more was handed a place, even where its time ran out meanwhile.
  if (std::erase(upstream.waiting, &waiter) != 0) co_return busy;
  co_return Place(upstream, Place::Handed::yes);
}

Task<Result<Pool::Lease>> Pool::connect(const UpstreamAddress& address, SteadyPoint deadline) {
  Upstream& upstream = upstreams_[address];
  const bool queued = upstream.in_use >= terms_.connections;
  auto place = co_await enter(upstream, address.endpoint, deadline);
  if (!place) co_return place.error();
  Lease lease{std::move(*place), nullptr};
  while (queued && !upstream.idle.empty()) {
    lease = take_youngest(upstream, std::move(lease.place));
    if (!lease.connection->is_stale()) co_return lease;
  }
  auto opened = co_await open_any(address, deadline);
  if (!opened) co_return opened.error();
  lease.connection = std::move(*opened);
  lease.pooled_until = numeric(address.endpoint)
                           ? SteadyPoint::max()
                           : core_.steady_now() + limits::named_connection_age;
  co_return lease;
}

}  // namespace ringside::http
