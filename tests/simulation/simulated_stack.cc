#include "tests/simulation/simulated_stack.h"

#include <algorithm>

#include "net/core.h"
#include "tests/simulation/less.h"
#include "tests/simulation/simulated_connection.h"

namespace ringside::simulation {
namespace {

constexpr std::uint16_t first_free_port = 32'768;
// For who waits without an end; a deadline must be one that the wheel can count to.
constexpr std::chrono::hours long_wait{24};

}  // namespace

struct SimulatedNetwork::Attempt {
  const SimulatedHost& from;
  const net::SocketAddress to;
  const std::shared_ptr<net::Waiter::Bell> bell;  // of who waits
  std::shared_ptr<SimulatedConnection> connection = nullptr;
  bool established = false;  // as far as the client knows
  bool abandoned = false;
};

Result<std::unique_ptr<net::Listener>> SimulatedHost::listen(net::Core& core,
                                                             const Endpoint& address, bool joins) {
  net::SocketAddress where{address_, address.port};
  auto& listeners = network_.listeners_;
  if (where.port == 0) where.port = first_free_port;
  while (address.port == 0 && listeners.contains(where)) ++where.port;
  if (!joins && listeners.contains(where)) {
    return invalid_input("somebody listens at " + where.text() + " already");
  }
  std::unique_ptr<net::Listener> listener =
      std::make_unique<SimulatedListener>(network_, core, where);
  return listener;
}

Task<Result<std::unique_ptr<net::Transport>>> SimulatedHost::connect(net::Core& core,
                                                                     net::SocketAddress address,
                                                                     SteadyPoint deadline,
                                                                     ErrorSource other_side) {
  const Error refused{ErrorKind::refused, other_side, Retry::yes,
                      fmt::format("cannot connect to {}", address.text())};
  if (!network_.may_send(*this)) co_return refused;
  net::Waiter waiter(core);
  const auto attempt = std::make_shared<SimulatedNetwork::Attempt>(
      SimulatedNetwork::Attempt{*this, address, waiter.bell()});
  network_.ask(attempt);
  const bool answered = co_await waiter.wait(deadline);
  attempt->abandoned = true;
  if (answered && attempt->established) co_return attempt->connection->open(0, core);
  if (attempt->established) attempt->connection->close(0);
  if (answered) co_return refused;
  co_return Error{ErrorKind::timeout, other_side, Retry::yes, refused.message};
}

SimulatedNetwork::SimulatedNetwork(Random& random, const SimulatedTime& time,
                                   std::function<void(std::string)> note)
    : random_(random), time_(time), note_(std::move(note)) {}

SimulatedNetwork::~SimulatedNetwork() = default;

SimulatedHost& SimulatedNetwork::add_host(std::string name) {
  const auto address = IpAddress::parse(fmt::format("10.0.0.{}", hosts_.size() + 1)).value();
  hosts_.push_back(std::make_unique<SimulatedHost>(*this, std::move(name), address));
  return *hosts_.back();
}

void SimulatedNetwork::cut(const SimulatedHost& from, const SimulatedHost& to) {
  note("cut {} -> {}", from.name(), to.name());
  cuts_.emplace(from.name(), to.name());
}

void SimulatedNetwork::heal(const SimulatedHost& from, const SimulatedHost& to) {
  note("heal {} -> {}", from.name(), to.name());
  cuts_.erase({from.name(), to.name()});
  // At once: what is sent from now on must not overtake it.
  std::vector<Held> held = std::exchange(held_, {});
  for (Held& one : held) {
    if (one.from == &from && one.to == &to) {
      one.event();
    } else {
      held_.push_back(std::move(one));
    }
  }
}

void SimulatedNetwork::lose_held(const SimulatedHost& from, const SimulatedHost& to) {
  note("lose {} -> {}", from.name(), to.name());
  std::erase_if(held_, [&](const Held& one) { return one.from == &from && one.to == &to; });
}

void SimulatedNetwork::kill(const SimulatedHost& host) {
  note("kill {}", host.name());
  std::erase_if(listeners_, [&](const auto& row) { return row.first.address == host.address(); });
  dies_at_.erase(host.name());
  for (const auto& weak : connections_) {
    if (const auto connection = weak.lock()) connection->lose(host);
  }
  std::erase_if(connections_, [](const auto& weak) { return weak.expired(); });
  dead_.insert(host.name());
}

void SimulatedNetwork::revive(const SimulatedHost& host) {
  note("revive {}", host.name());
  dead_.erase(host.name());
}

void SimulatedNetwork::isolate(const SimulatedHost& host) {
  for (const auto& other : hosts_) {
    if (other.get() == &host) continue;
    cut(host, *other);
    cut(*other, host);
  }
}

void SimulatedNetwork::rejoin(const SimulatedHost& host) {
  for (const auto& other : hosts_) {
    if (other.get() == &host) continue;
    heal(host, *other);
    heal(*other, host);
  }
}

void SimulatedNetwork::reset_between(const SimulatedHost& one, const SimulatedHost& other) {
  note("reset between {} and {}", one.name(), other.name());
  for (const auto& weak : connections_) {
    const auto connection = weak.lock();
    if (connection && connection->is_between(one, other)) connection->reset_both();
  }
}

std::uint64_t SimulatedNetwork::sent_by(const SimulatedHost& host) const {
  const auto found = sent_.find(host.name());
  return found == sent_.end() ? 0 : found->second;
}

void SimulatedNetwork::let_die_after(const SimulatedHost& host, std::uint64_t things) {
  dies_at_[host.name()] = sent_by(host) + things;
}

bool SimulatedNetwork::has_died(const SimulatedHost& host) const {
  const auto found = dies_at_.find(host.name());
  return found != dies_at_.end() && sent_by(host) >= found->second;
}

bool SimulatedNetwork::may_send(const SimulatedHost& host) {
  if (dead_.contains(host.name()) || has_died(host)) return false;
  ++sent_[host.name()];
  return true;
}

std::optional<Instant> SimulatedNetwork::next() const {
  if (events_.empty()) return std::nullopt;
  return events_.begin()->first.first;
}

const SimulatedHost* SimulatedNetwork::deliver_next() {
  const auto row = events_.extract(events_.begin());
  const auto& [where, event] = row.mapped();
  event();
  return where;
}

std::size_t SimulatedNetwork::piece_of(std::size_t bytes) {
  const bool is_cut = random_.one_in(4);
  const std::size_t drawn = is_cut ? 1 + random_.below(bytes) : bytes;
  return less().pieces ? bytes : drawn;
}

// Most of what is sent arrives soon, now and then something takes long.
Instant SimulatedNetwork::arrival() {
  const bool slow = slow_one_in_ != 0 && random_.one_in(slow_one_in_);
  const std::uint64_t most_us = slow ? 30'000 : 500;
  const Instant drawn{50 + random_.below(most_us)};
  if (less().jitter) return time_.now() + Instant{slow && !less().stalls ? 15'000 : 300};
  return time_.now() + (less().stalls ? std::min(drawn, Instant{550}) : drawn);
}

void SimulatedNetwork::at(Instant when, const SimulatedHost& where, Event event) {
  events_.emplace(std::pair(when, events_made_++), std::pair(&where, std::move(event)));
}

bool SimulatedNetwork::passes(const SimulatedHost& from, const SimulatedHost& to) const {
  return !cuts_.contains({from.name(), to.name()});
}

const SimulatedHost* SimulatedNetwork::host_at(const IpAddress& address) const {
  for (const auto& host : hosts_) {
    if (host->address() == address) return host.get();
  }
  return nullptr;
}

SimulatedListener* SimulatedNetwork::listener_at(const net::SocketAddress& address) {
  const auto [first, end] = listeners_.equal_range(address);
  const auto count = std::distance(first, end);
  if (count == 0) return nullptr;
  return std::next(first,
                   static_cast<std::ptrdiff_t>(random_.below(static_cast<std::uint64_t>(count))))
      ->second;
}

void SimulatedNetwork::ask(const std::shared_ptr<Attempt>& attempt) {
  const SimulatedHost* const host = host_at(attempt->to.address);
  if (host == nullptr) return;
  at(arrival(), *host, [this, attempt, host] { arrive(attempt, *host); });
}

void SimulatedNetwork::arrive(const std::shared_ptr<Attempt>& attempt,
                              const SimulatedHost& at_host) {
  if (!passes(attempt->from, at_host)) return;
  if (listener_at(attempt->to) != nullptr) {
    attempt->connection =
        std::make_shared<SimulatedConnection>(*this, ++connections_made_, attempt->from, at_host);
    connections_.push_back(attempt->connection);
  }
  at(arrival(), attempt->from, [this, attempt, &at_host] { answer(attempt, at_host); });
}

void SimulatedNetwork::answer(const std::shared_ptr<Attempt>& attempt, const SimulatedHost& by) {
  const bool nobody_waits = attempt->abandoned || dead_.contains(attempt->from.name());
  if (!passes(by, attempt->from) || nobody_waits) return;
  note("{} {} {}", attempt->from.name(), attempt->connection ? "is connected to" : "is refused by",
       by.name());
  if (attempt->connection) {
    attempt->established = true;
    attempt->connection->tell_established(attempt->to);
  }
  attempt->bell->wake();
}

SimulatedListener::SimulatedListener(SimulatedNetwork& network, net::Core& core,
                                     const net::SocketAddress& address)
    : network_(network), core_(core), address_(address), waiter_(core) {
  network_.listeners_.emplace(address_, this);
}

Task<Result<std::unique_ptr<net::Transport>>> SimulatedListener::accept() {
  while (!closed_ && !core_.stopped()) {
    if (auto transport = accept_now()) co_return transport;
    co_await waiter_.wait(core_.steady_now() + long_wait);
  }
  co_return std::unique_ptr<net::Transport>();
}

std::unique_ptr<net::Transport> SimulatedListener::accept_now() {
  if (closed_ || backlog_.empty()) return nullptr;
  const auto connection = std::move(backlog_.front());
  backlog_.pop_front();
  return connection->open(1, core_);
}

void SimulatedListener::close() noexcept {
  if (std::exchange(closed_, true)) return;
  std::erase_if(network_.listeners_, [this](const auto& row) { return row.second == this; });
  for (const auto& connection : backlog_) {
    connection->reset_on_close(1);
    connection->close(1);
  }
  waiter_.close();
}

void SimulatedListener::complete(std::shared_ptr<SimulatedConnection> connection) {
  backlog_.push_back(std::move(connection));
  waiter_.bell()->wake();
}

}  // namespace ringside::simulation
