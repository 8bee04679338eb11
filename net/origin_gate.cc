#include "net/origin_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/log.h"

namespace ringside::net {
namespace {

std::string url(const UpstreamAddress& address) {
  return fmt::format("http{}://{}", address.tls ? "s" : "", address.endpoint.text());
}

}  // namespace

bool Places::has_room(const IpAddress& client, std::size_t most) const noexcept {
  return in_use_ < most && has_share(client, most);
}

bool Places::has_share(const IpAddress& client, std::size_t most) const noexcept {
  if (client == IpAddress{}) return true;
  const auto row = in_use_of_.find(client);
  return row == in_use_of_.end() || row->second < std::max<std::size_t>(most - most / 4, 1);
}

void Places::take(const IpAddress& client) {
  ++in_use_;
  if (client != IpAddress{}) ++in_use_of_[client];
}

void Places::leave(const IpAddress& client) noexcept {
  RINGSIDE_CHECK(in_use_ > 0);
  --in_use_;
  const auto row = in_use_of_.find(client);
  if (row != in_use_of_.end() && --row->second == 0) in_use_of_.erase(row);
}

// One request in the queue. Guarded by the gate's mutex, but for the bell.
struct OriginGate::Waiting {
  enum class Told { nothing, admitted, refused, served };  // admitted: a slot is kept for it
  Bell bell;
  IpAddress client;
  Told told = Told::nothing;
};

// Leaves the queue with its scope, however the wait ends; a slot that was kept and not taken goes
// to the next.
class OriginGate::QueuePosition {
 public:
  QueuePosition(OriginGate& gate, Bell bell, const IpAddress& client) : gate_(gate) {
    waiting_.bell = std::move(bell);
    waiting_.client = client;
  }
  ~QueuePosition() {
    {
      const std::lock_guard lock(gate_.mutex_);
      if (waiting_.told == Waiting::Told::nothing) {
        if (gate_.queue_.remove(&waiting_) != 0) gate_.left_queue(waiting_);
      }
      if (waiting_.told != Waiting::Told::admitted) return;
    }
    gate_.leave(waiting_.client);
  }
  QueuePosition(const QueuePosition&) = delete;
  QueuePosition& operator=(const QueuePosition&) = delete;

  [[nodiscard]] Waiting& waiting() noexcept { return waiting_; }

 private:
  OriginGate& gate_;
  Waiting waiting_;
};

OriginGate::OriginGate(UpstreamAddress address, const Terms& terms,
                       std::shared_ptr<OriginCounts> counts)
    : address_(std::move(address)), counts_(std::move(counts)), terms_(terms) {}

Error OriginGate::circuit_is_open(SteadyPoint now) {
  counts_->refused_circuit_open.fetch_add(1);
  return {ErrorKind::circuit_open, ErrorSource::ourselves, Retry::yes,
          fmt::format("the origin {} has failed again and again; it is asked again in {} ms",
                      address_.endpoint.text(), breaker_.time_to_probe(now).count())};
}

Error OriginGate::queue_is_full() {
  counts_->refused_queue_full.fetch_add(1);
  return {ErrorKind::overloaded, ErrorSource::ourselves, Retry::yes,
          fmt::format("{} requests wait for the origin {} already", queue_.size(),
                      address_.endpoint.text())};
}

Error OriginGate::queue_took_too_long() {
  counts_->refused_queue_timeout.fetch_add(1);
  return {
      ErrorKind::overloaded, ErrorSource::ourselves, Retry::no,
      fmt::format("the origin {} had no room for the request in time", address_.endpoint.text())};
}

// The slot was counted already. With the mutex held.
Result<OriginGate::SlotPointer> OriginGate::take_slot(SteadyPoint now, const IpAddress& client) {
  return std::make_shared<Slot>(shared_from_this(), client, breaker_.ask(now));
}

// In, refused, or (nullopt) to wait: then `waiting` is in the queue, where there is one. With the
// mutex held.
std::optional<Result<OriginGate::SlotPointer>> OriginGate::let_in(SteadyPoint now,
                                                                  const IpAddress& client,
                                                                  Waiting* waiting) {
  if (!breaker_.would_grant(now)) return circuit_is_open(now);
  // Where there is room, all who wait have their share.
  if (slots_.has_room(client, terms_.connections)) {
    slots_.take(client);
    counts_->in_use.fetch_add(1);
    return take_slot(now, client);
  }
  if (!queued_.has_room(client, terms_.queue)) return queue_is_full();
  if (waiting != nullptr) {
    queue_.push_back(waiting);
    queued_.take(client);
    counts_->queued.fetch_add(1);
  }
  return std::nullopt;
}

// A wait that ends races with a slot that is handed on; the mutex orders them:
//   1. leave() takes the first of the queue, keeps the slot for it (told: admitted), rings
//   2. its time is over before it has heard the bell
//   3. it looks at what it was told, not at why it woke, and has the slot
// If 2 comes before 1, it has left the queue, and the slot goes to the next.
Task<Result<std::shared_ptr<OriginGate::Slot>>> OriginGate::enter(Core& core, SteadyPoint deadline,
                                                                  const IpAddress& client) {
  const auto self = shared_from_this();
  {
    const std::lock_guard lock(mutex_);
    auto decided = let_in(core.steady_now(), client, nullptr);
    if (decided) co_return *std::move(decided);
  }
  Waiter waiter(core);
  QueuePosition position(*this, waiter.bell(), client);
  Milliseconds timeout{0};
  {
    const std::lock_guard lock(mutex_);
    auto decided = let_in(core.steady_now(), client, &position.waiting());
    if (decided) co_return *std::move(decided);
    timeout = terms_.queue_timeout;
  }
  co_await waiter.wait(std::min(deadline, core.steady_now() + timeout));

  const std::lock_guard lock(mutex_);
  const SteadyPoint now = core.steady_now();
  switch (position.waiting().told) {
    case Waiting::Told::nothing:
      co_return queue_took_too_long();
    case Waiting::Told::refused:
      co_return circuit_is_open(now);
    case Waiting::Told::admitted:
    case Waiting::Told::served:
      break;
  }
  if (!breaker_.would_grant(now)) co_return circuit_is_open(now);
  position.waiting().told = Waiting::Told::served;
  co_return take_slot(now, client);
}

void OriginGate::left_queue(const Waiting& waiting) noexcept {
  queued_.leave(waiting.client);
  counts_->queued.fetch_sub(1);
}

// A slot that nobody has goes to the first that waits and has not its share. With the mutex held;
// the bells are rung without.
void OriginGate::hand_on(std::list<Bell>& woken) {
  for (auto at = queue_.begin();
       at != queue_.end() && slots_.has_room(IpAddress{}, terms_.connections);) {
    Waiting& next = **at;
    if (!slots_.has_share(next.client, terms_.connections)) {
      ++at;
      continue;
    }
    at = queue_.erase(at);
    left_queue(next);
    slots_.take(next.client);
    counts_->in_use.fetch_add(1);
    next.told = Waiting::Told::admitted;
    woken.push_back(next.bell);
  }
}

Result<std::shared_ptr<OriginGate::Tunnel>> OriginGate::open_tunnel(const IpAddress& client) {
  const std::lock_guard lock(mutex_);
  if (!tunnels_.has_room(client, terms_.tunnels)) {
    return Error{
        ErrorKind::overloaded, ErrorSource::ourselves, Retry::yes,
        fmt::format("the origin {} has as many tunnels as it may", address_.endpoint.text())};
  }
  tunnels_.take(client);
  return std::make_shared<Tunnel>(shared_from_this(), client);
}

OriginGate::Tunnel::~Tunnel() {
  const std::lock_guard lock(gate_->mutex_);
  gate_->tunnels_.leave(client_);
}

void OriginGate::leave(const IpAddress& client) {
  std::list<Bell> woken;
  {
    const std::lock_guard lock(mutex_);
    slots_.leave(client);
    counts_->in_use.fetch_sub(1);
    hand_on(woken);
  }
  for (const Bell& bell : woken) bell->wake();
}

// A line when the circuit opens and one when it closes again, for operators; none for the probes
// between, and few for an origin that comes and goes. With the mutex held.
void OriginGate::tell(bool was_closed, SteadyPoint now) {
  const bool is_closed = breaker_.state(now) == CircuitBreaker::State::closed;
  if (was_closed == is_closed) return;
  if (is_closed) {
    if (std::exchange(has_complained_, false)) log::info("origin {} answers again", url(address_));
    return;
  }
  if (!complaints_.next(now)) return;
  has_complained_ = true;
  log::warning("origin {} does not answer: {}; left alone for {} ms", url(address_), failure_,
               breaker_.time_to_probe(now).count());
}

void OriginGate::settle(const CircuitBreaker::Permit& permit, CircuitBreaker::Outcome outcome,
                        SteadyPoint now, const std::string& why) {
  std::list<Bell> woken;
  {
    const std::lock_guard lock(mutex_);
    const bool was_closed = breaker_.state(now) == CircuitBreaker::State::closed;
    if (outcome == CircuitBreaker::Outcome::failed) failure_ = why;
    const bool opened = breaker_.settle(permit, outcome, now);
    tell(was_closed, now);
    if (!opened) return;
    counts_->circuits_opened.fetch_add(1);
    // Those who wait would only be refused later.
    for (Waiting* const waiting : queue_) {
      waiting->told = Waiting::Told::refused;
      left_queue(*waiting);
      woken.push_back(waiting->bell);
    }
    queue_.clear();
  }
  for (const Bell& bell : woken) bell->wake();
}

bool OriginGate::would_admit(SteadyPoint now) const {
  const std::lock_guard lock(mutex_);
  if (!breaker_.would_grant(now)) return false;
  return slots_.has_room(IpAddress{}, terms_.connections) || queue_.size() < terms_.queue;
}

CircuitBreaker::State OriginGate::circuit(SteadyPoint now) const {
  const std::lock_guard lock(mutex_);
  return breaker_.state(now);
}

std::string OriginGate::failure(SteadyPoint now) const {
  const std::lock_guard lock(mutex_);
  switch (breaker_.state(now)) {
    case CircuitBreaker::State::closed:
      return {};
    case CircuitBreaker::State::open:
      return fmt::format("origin {} does not answer: {}", url(address_), failure_);
    case CircuitBreaker::State::half_open:
      break;
  }
  return fmt::format("origin {} did not answer: {}; the next request tries it", url(address_),
                     failure_);
}

void OriginGate::set_connections(std::size_t connections) {
  std::list<Bell> woken;
  {
    const std::lock_guard lock(mutex_);
    terms_.connections = connections;
    hand_on(woken);
  }
  for (const Bell& bell : woken) bell->wake();
}

OriginGate::Slot::~Slot() {
  // A probe that was given up makes room for the next one; what time it is says nothing then.
  if (!settled_) gate_->settle(permit_, CircuitBreaker::Outcome::undecided, SteadyPoint{}, {});
  gate_->leave(client_);
}

void OriginGate::Slot::settle(CircuitBreaker::Outcome outcome, SteadyPoint now,
                              const std::string& why) {
  RINGSIDE_CHECK(!settled_);
  settled_ = true;
  gate_->settle(permit_, outcome, now, why);
}

}  // namespace ringside::net
