#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <memory>
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
  // A machine, for one process, with a clock of its own.
  struct Machine {
    SimulatedHost& host;
    SimulatedClock clock;
  };

  explicit World(std::uint64_t seed);

  [[nodiscard]] Machine& add_machine(const std::string& name);
  // From now on the group's cores, which have no threads, run here; until kill().
  void run_on(const Machine& machine, net::CoreGroup& cores);
  // The machine's process is gone, see SimulatedNetwork::kill.
  void kill(const Machine& machine);

  // Lets time pass until `done`. False: it was not for so long.
  [[nodiscard]] bool run_until(const std::function<bool()>& done, Milliseconds most);

  [[nodiscard]] SimulatedNetwork& network() noexcept { return network_; }
  [[nodiscard]] Random& random() noexcept { return random_; }
  // A line of the trace, with its time.
  void note(const std::string& text);
  [[nodiscard]] const std::string& trace() const noexcept { return trace_; }

 private:
  struct Running {
    const Machine* machine;
    net::Core* core;
    Instant next_tick;
  };
  // Runs what is ready, on one machine or, with null, on all.
  void poll(const SimulatedHost* where);
  // To the next thing that happens, and lets it happen. Returns where; null: nowhere.
  const SimulatedHost* step();

  Random random_;
  SimulatedTime time_;
  std::string trace_;
  SimulatedNetwork network_;
  std::vector<std::unique_ptr<Machine>> machines_;
  std::vector<Running> running_;
};

}  // namespace ringside::simulation
