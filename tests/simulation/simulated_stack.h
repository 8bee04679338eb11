#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "net/stack.h"
#include "net/waiter.h"
#include "tests/simulation/random.h"
#include "tests/simulation/simulated_clock.h"

namespace ringside::simulation {

class SimulatedConnection;
class SimulatedListener;
class SimulatedNetwork;

// One machine with one process on it: what that process has in the place of the kernel's stack.
class SimulatedHost final : public net::Stack {
 public:
  SimulatedHost(SimulatedNetwork& network, std::string name, const IpAddress& address)
      : network_(network), name_(std::move(name)), address_(address) {}

  Result<std::unique_ptr<net::Listener>> listen(net::Core& core, const Endpoint& address,
                                                bool joins) override;
  Task<Result<std::unique_ptr<net::Transport>>> connect(net::Core& core, net::SocketAddress address,
                                                        SteadyPoint deadline,
                                                        ErrorSource other_side) override;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const IpAddress& address() const noexcept { return address_; }

 private:
  SimulatedNetwork& network_;
  const std::string name_;
  const IpAddress address_;
};

// TCP in memory: the machines, what is on its way between them, and what does not arrive. It works
// only when it is told to deliver, and outlives the processes on it.
class SimulatedNetwork {
 public:
  // What happens is told to `note`, a line each.
  SimulatedNetwork(Random& random, const SimulatedTime& time,
                   std::function<void(std::string)> note);
  ~SimulatedNetwork();

  // A new machine.
  SimulatedHost& add_host(std::string name);

  // Nothing that `from` sends arrives at `to` any more. What is sent meanwhile arrives after
  // heal(), as TCP sends it again; only attempts to connect are lost.
  void cut(const SimulatedHost& from, const SimulatedHost& to);
  void heal(const SimulatedHost& from, const SimulatedHost& to);
  // The same with all other machines, both ways: it has no power, or no cable.
  void isolate(const SimulatedHost& host);
  void rejoin(const SimulatedHost& host);
  // What could not arrive because of a cut never will.
  void lose_held(const SimulatedHost& from, const SimulatedHost& to);
  // Something between the two ends their connections with a reset.
  void reset_between(const SimulatedHost& one, const SimulatedHost& other);
  // The process has ended without a word, its machine goes on: who is connected is told by a reset,
  // and who comes is refused. Of what the process still does until it is destroyed nobody hears.
  void kill(const SimulatedHost& host);
  // Its machine is ready for the next process.
  void revive(const SimulatedHost& host);

  // How many things the host has sent; what it does in between cannot be told from outside.
  [[nodiscard]] std::uint64_t sent_by(const SimulatedHost& host) const;
  // After so many things more its process has died, in the middle of what it does: it is to be
  // killed as soon as has_died().
  void let_die_after(const SimulatedHost& host, std::uint64_t things);
  [[nodiscard]] bool has_died(const SimulatedHost& host) const;

  // Of how many things that are sent one takes long; 0: none.
  void set_slow_one_in(std::uint64_t count) noexcept { slow_one_in_ = count; }

  // When the next of what is on its way arrives.
  [[nodiscard]] std::optional<Instant> next() const;
  // Lets it arrive. Its time has come. Returns where: nobody else has anything to do now.
  const SimulatedHost* deliver_next();

  [[nodiscard]] Random& random() noexcept { return random_; }

 private:
  friend class SimulatedConnection;
  friend class SimulatedHost;
  friend class SimulatedListener;

  struct Attempt;  // to connect
  using Event = std::function<void()>;
  struct Held {
    const SimulatedHost* from;
    const SimulatedHost* to;
    Event event;
  };

  template <class... Parts>
  void note(fmt::format_string<Parts...> format, Parts&&... parts) {
    note_(fmt::format(format, std::forward<Parts>(parts)...));
  }
  [[nodiscard]] Instant arrival();
  // Of so many bytes that could be read or written at once, those that are.
  [[nodiscard]] std::size_t piece_of(std::size_t bytes);
  // Counts what `host` sends. False: it is dead.
  [[nodiscard]] bool may_send(const SimulatedHost& host);
  void at(Instant when, const SimulatedHost& where, Event event);
  [[nodiscard]] bool passes(const SimulatedHost& from, const SimulatedHost& to) const;
  [[nodiscard]] const SimulatedHost* host_at(const IpAddress& address) const;
  // One of those who listen there; null: nobody does.
  [[nodiscard]] SimulatedListener* listener_at(const net::SocketAddress& address);
  // The three steps of a handshake.
  void ask(const std::shared_ptr<Attempt>& attempt);
  void arrive(const std::shared_ptr<Attempt>& attempt, const SimulatedHost& at_host);
  void answer(const std::shared_ptr<Attempt>& attempt, const SimulatedHost& by);

  Random& random_;
  const SimulatedTime& time_;
  const std::function<void(std::string)> note_;
  std::vector<std::unique_ptr<SimulatedHost>> hosts_;
  std::multimap<net::SocketAddress, SimulatedListener*> listeners_;
  // In order of time, then of sending.
  std::map<std::pair<Instant, std::uint64_t>, std::pair<const SimulatedHost*, Event>> events_;
  std::uint64_t events_made_ = 0;
  std::uint64_t connections_made_ = 0;
  std::vector<std::weak_ptr<SimulatedConnection>> connections_;
  std::set<std::pair<std::string, std::string>> cuts_;  // by name: pointers have no fixed order
  std::vector<Held> held_;
  // By name, likewise.
  std::set<std::string> dead_;
  std::map<std::string, std::uint64_t> sent_;
  std::map<std::string, std::uint64_t> dies_at_;  // having sent so much
  std::uint64_t slow_one_in_ = 50;
};

// Accepts what the network has completed.
class SimulatedListener final : public net::Listener {
 public:
  SimulatedListener(SimulatedNetwork& network, net::Core& core, const net::SocketAddress& address);
  ~SimulatedListener() override { close(); }

  Task<Result<std::unique_ptr<net::Transport>>> accept() override;
  std::unique_ptr<net::Transport> accept_now() override;
  void close() noexcept override;
  [[nodiscard]] std::uint16_t port() const noexcept override { return address_.port; }

  // The handshake has ended.
  void complete(std::shared_ptr<SimulatedConnection> connection);

 private:
  SimulatedNetwork& network_;
  net::Core& core_;
  const net::SocketAddress address_;
  net::Waiter waiter_;
  std::deque<std::shared_ptr<SimulatedConnection>> backlog_;
  bool closed_ = false;
};

}  // namespace ringside::simulation
