#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/core.h"
#include "tests/simulation/random.h"
#include "tests/simulation/simulated_clock.h"
#include "tests/simulation/simulated_stack.h"

namespace ringside::simulation {

// Machines, their network and their time, all in the caller's thread: the same seed and the same
// calls give the same history. Outlives what runs on the machines.
class World {
 public:
  // A machine, for one process at a time, with a clock of its own.
  struct Machine {
    SimulatedHost& host;
    SimulatedClock clock;
  };
  // alike: all show the same hour; in_seconds: likewise, and it moves on in whole seconds.
  enum class Clocks { apart, alike, in_seconds };

  explicit World(std::uint64_t seed, Clocks clocks = Clocks::apart);
  ~World();  // writes the trace where RINGSIDE_SIMULATION_TRACE says
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] Machine& add_machine(const std::string& name);
  // From now on the group's cores, which have no threads, run here; until kill().
  void run_on(const Machine& machine, net::CoreGroup& cores);
  // The machine's process is gone, see SimulatedNetwork::kill. It may be destroyed now, and the
  // next one be started after revive().
  void kill(const Machine& machine);
  void revive(const Machine& machine);
  // The machine's process does nothing until thaw(), as after SIGSTOP: its kernel goes on.
  void freeze(const Machine& machine);
  void thaw(const Machine& machine);

  // Each is called after each turn of a core's loop in which it did anything: nothing is half done
  // then. It may kill processes.
  using TurnHook = std::function<void(const Machine&, net::Core&)>;
  void at_end_of_turn(TurnHook hook) { at_end_of_turn_.push_back(std::move(hook)); }

  // Lets time pass until `done`. False: it was not for so long.
  [[nodiscard]] bool run_until(const std::function<bool()>& done, Milliseconds most);
  void run_for(Milliseconds time);
  // Until all that is left to do is to wait. False: it was not so soon.
  [[nodiscard]] bool run_until_quiet(Milliseconds most);
  // Time passes at once, in which nobody does anything.
  void skip(Milliseconds time);

  [[nodiscard]] Instant now() const noexcept { return time_.now(); }
  // What has happened so far: a thing that arrived, or a turn in which a core did anything.
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }
  [[nodiscard]] SimulatedNetwork& network() noexcept { return network_; }
  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
  [[nodiscard]] Random& random() noexcept { return random_; }
  // A line of the trace, with its time.
  void note(const std::string& text);
  [[nodiscard]] const std::string& trace() const noexcept { return trace_; }

 private:
  // A core of a process. Each takes its turns when it comes to it: what a process's cores do at the
  // same time is done in any order.
  struct Running {
    const Machine* machine;
    net::Core* core;
    Instant next_tick;
    std::optional<Instant> next_turn = {};
    bool frozen = false;
  };
  // There may be something to do for the cores on that machine but `but`; null: on all machines.
  void rouse(const SimulatedHost* where, const net::Core* but = nullptr);
  // To the next thing that happens, and lets it happen. False: there is nothing.
  bool step();
  void tick(Running& one);
  void take_turn(Running& one);

  const std::uint64_t seed_;
  const Clocks clocks_;
  Random random_;
  SimulatedTime time_;
  std::string trace_;
  SimulatedNetwork network_;
  std::vector<std::unique_ptr<Machine>> machines_;
  std::vector<Running> running_;
  std::vector<TurnHook> at_end_of_turn_;
  std::uint64_t steps_ = 0;
};

}  // namespace ringside::simulation
