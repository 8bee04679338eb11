#include "http1/pool.h"

#include <fmt/format.h>

#include "base/limits.h"
#include "http1/exchange.h"
#include "http1/introduction.h"
#include "net/stack.h"

namespace ringside::http {

Pool::Pool(net::Core& core, ErrorSource other_side) : Pool(core, other_side, Terms()) {}

Pool::Pool(net::Core& core, ErrorSource other_side, const Terms& terms)
    : core_(core),
      other_side_(other_side),
      terms_(terms),
      resolver_(core, other_side, terms.name_servers) {}

Pool::~Pool() = default;

std::unique_ptr<hop::Exchange> Pool::exchange() { return std::make_unique<Exchange>(core_, *this); }

Pool::Slot::Slot(Upstream& upstream, Handed handed) noexcept : upstream_(&upstream) {
  if (handed == Handed::no) ++upstream.in_use;
}

Pool::Slot& Pool::Slot::operator=(Slot&& other) noexcept {
  leave();
  upstream_ = std::exchange(other.upstream_, nullptr);
  return *this;
}

void Pool::Slot::leave() noexcept {
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

Pool::Lease Pool::take_youngest(Upstream& upstream, Slot slot) {
  Idle& youngest = upstream.idle.back();
  Lease lease{std::move(slot), std::move(youngest.connection), false, youngest.pooled_until,
              std::move(youngest.proven)};
  upstream.idle.pop_back();
  return lease;
}

bool Pool::is_still_proven(const hop::ProvenPeer* proven) const noexcept {
  return self_ == nullptr || (proven != nullptr && self_->keys->has(proven->key));
}

void Pool::introduce_as(std::shared_ptr<const hop::PeerIdentity> self) {
  self_ = std::move(self);
  for (auto& [address, upstream] : upstreams_) {
    std::erase_if(upstream.idle,
                  [this](const Idle& idle) { return !is_still_proven(idle.proven.get()); });
  }
}

std::optional<Pool::Lease> Pool::take_idle(const UpstreamAddress& address, bool must_be_alive,
                                           std::string_view peer) {
  const auto found = upstreams_.find(address);
  if (found == upstreams_.end()) return std::nullopt;
  Upstream& upstream = found->second;
  if (upstream.in_use >= terms_.connections) return std::nullopt;
  // The youngest first: it is the least likely to have been closed, and the rest can age away.
  while (!upstream.idle.empty()) {
    auto lease = take_youngest(upstream, Slot(upstream, Slot::Handed::no));
    if (self_ != nullptr && lease.proven->name != peer) continue;
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
  if (lease.pooled_until <= now || !is_still_proven(lease.proven.get())) return;
  lease.connection->clear_deadline();
  lease.connection->rest();
  idle.push_back({std::move(lease.connection), now, lease.pooled_until, std::move(lease.proven)});
}

bool Pool::close_idle() {
  const SteadyPoint oldest = core_.steady_now() - limits::upstream_idle_timeout;
  for (auto row = upstreams_.begin(); row != upstreams_.end();) {
    Upstream& upstream = row->second;
    while (!upstream.idle.empty() && upstream.idle.front().since <= oldest) {
      upstream.idle.pop_front();
    }
    const bool unused = upstream.idle.empty() && upstream.in_use == 0 && upstream.waiting.empty();
    row = unused ? upstreams_.erase(row) : std::next(row);
  }
  const bool knows_names = resolver_.forget_old();
  return knows_names || !upstreams_.empty();
}

void Pool::Opening::give_up() noexcept {
  is_given_up_ = true;
  if (connection_ != nullptr) connection_->give_up();
}

Task<Result<hop::ProvenPeer>> Pool::prove(Connection& connection, std::string_view peer,
                                          Opening* opening) {
  const auto self = self_;
  if (opening == nullptr) co_return co_await introduce(connection, *self, peer);
  if (opening->is_given_up_) {
    co_return Error{ErrorKind::timeout, other_side_, Retry::yes, "given up before its proof"};
  }
  connection.set_deadline(opening->proof_by_);
  opening->connection_ = &connection;
  auto proven = co_await introduce(connection, *self, peer);
  opening->connection_ = nullptr;
  co_return proven;
}

Task<Result<Pool::Opened>> Pool::open(const UpstreamAddress& address,
                                      const net::SocketAddress& where, SteadyPoint deadline,
                                      std::string_view peer, Opening* opening) {
  auto transport = co_await core_.stack().connect(core_, where, deadline, other_side_);
  if (!transport) co_return transport.error();
  Opened opened{std::make_unique<Connection>(core_, *std::move(transport), other_side_), nullptr};
  Connection& connection = *opened.connection;
  connection.set_deadline(deadline);
  if (address.tls) {
    connection.begin_tls(tls_, address.endpoint.host);
    const auto shaken = co_await connection.shake_hands();
    if (!shaken) {
      Error failure = shaken.error();
      failure.retry = Retry::yes;
      failure.message = address.endpoint.text() + ": " + failure.message;
      co_return failure;
    }
  }
  if (self_ != nullptr) {
    auto proven = co_await prove(connection, peer, opening);
    if (!proven) co_return proven.error();
    opened.proven = std::make_shared<const hop::ProvenPeer>(*std::move(proven));
  }
  co_return opened;
}

Task<Result<Pool::Opened>> Pool::open_any(const UpstreamAddress& address, SteadyPoint deadline,
                                          std::string_view peer, Opening* opening) {
  std::vector<net::SocketAddress> addresses;
  if (const auto only = net::numeric(address.endpoint)) {
    addresses.push_back(*only);
  } else {
    auto resolved = co_await resolver_.resolve(address.endpoint, deadline);
    if (!resolved) co_return resolved.error();
    addresses = std::move(*resolved);
  }
  Error last{ErrorKind::unresolved, other_side_, Retry::yes,
             address.endpoint.host + " has no address"};
  for (const net::SocketAddress& where : addresses) {
    auto opened = co_await open(address, where, deadline, peer, opening);
    if (opened) co_return opened;
    last = opened.error();
    if (core_.steady_now() >= deadline || (opening != nullptr && opening->is_given_up_)) break;
  }
  co_return last;
}

Task<Result<Pool::Slot>> Pool::enter(Upstream& upstream, const Endpoint& endpoint,
                                     SteadyPoint deadline) {
  if (upstream.in_use < terms_.connections) {
    co_return Slot(upstream, Slot::Handed::no);
  }
  Error busy{ErrorKind::overloaded, ErrorSource::ourselves, Retry::no,
             fmt::format("{} connections to {} are in use", upstream.in_use, endpoint.text())};
  if (upstream.waiting.size() >= terms_.waiters) co_return busy;
  net::Waiter waiter(core_);
  upstream.waiting.push_back(&waiter);
  const SteadyPoint until = std::min(deadline, core_.steady_now() + terms_.wait_timeout);
  co_await waiter.wait(until);
  // Whoever is not in the list any more was handed a slot, even where its time ran out meanwhile.
  if (std::erase(upstream.waiting, &waiter) != 0) co_return busy;
  co_return Slot(upstream, Slot::Handed::yes);
}

Task<Result<Pool::Lease>> Pool::connect(const UpstreamAddress& address, SteadyPoint deadline,
                                        std::string_view peer, Opening* opening) {
  Upstream& upstream = upstreams_[address];
  const bool queued = upstream.in_use >= terms_.connections;
  auto slot = co_await enter(upstream, address.endpoint, deadline);
  if (!slot) co_return slot.error();
  Lease lease{std::move(*slot), nullptr};
  while (queued && !upstream.idle.empty()) {
    lease = take_youngest(upstream, std::move(lease.slot));
    const bool is_right = self_ == nullptr || lease.proven->name == peer;
    if (is_right && !lease.connection->is_stale()) co_return lease;
  }
  auto opened = co_await open_any(address, deadline, peer, opening);
  if (!opened) co_return opened.error();
  lease.connection = std::move(opened->connection);
  lease.proven = std::move(opened->proven);
  lease.pooled_until = net::numeric(address.endpoint)
                           ? SteadyPoint::max()
                           : core_.steady_now() + limits::named_connection_age;
  co_return lease;
}

}  // namespace ringside::http
