#include "tests/simulation/world.h"

#include <algorithm>

#include "base/limits.h"

namespace ringside::simulation {
namespace {

constexpr Instant tick = limits::deadline_tick;
constexpr std::uint64_t wall_offset_most_ms = 10'000;
constexpr std::uint64_t uptime_most_s = 1'000'000;

}  // namespace

World::World(std::uint64_t seed)
    : random_(seed), network_(random_, time_, [this](const std::string& text) { note(text); }) {}

World::Machine& World::add_machine(const std::string& name) {
  const Milliseconds wall_offset{random_.below(wall_offset_most_ms)};
  const Seconds uptime{random_.below(uptime_most_s)};
  machines_.push_back(std::make_unique<Machine>(
      Machine{network_.add_host(name), SimulatedClock(time_, wall_offset, uptime)}));
  return *machines_.back();
}

void World::run_on(const Machine& machine, net::CoreGroup& cores) {
  for (std::size_t index = 0; index < cores.size(); ++index) {
    const Instant first_tick =
        time_.now() + Instant{random_.below(static_cast<std::uint64_t>(tick.count()))};
    running_.push_back({&machine, &cores[index], first_tick});
  }
}

void World::kill(const Machine& machine) {
  network_.kill(machine.host);
  std::erase_if(running_, [&](const Running& one) { return one.machine == &machine; });
}

bool World::run_until(const std::function<bool()>& done, Milliseconds most) {
  const Instant end = time_.now() + most;
  poll(nullptr);
  while (!done()) {
    if (time_.now() >= end) return false;
    poll(step());
  }
  return true;
}

void World::note(const std::string& text) {
  trace_ += fmt::format("{} {}\n", time_.now().count(), text);
}

// What runs on one machine has something to do for others on it at most: the rest of the world is
// told over the network.
void World::poll(const SimulatedHost* where) {
  std::vector<net::Core*> cores;
  for (const Running& one : running_) {
    if (where == nullptr || where == &one.machine->host) cores.push_back(one.core);
  }
  for (bool any = true; any;) {
    any = false;
    random_.shuffle(cores);
    for (net::Core* core : cores) any = core->run_ready() || any;
  }
}

const SimulatedHost* World::step() {
  const auto first = std::min_element(
      running_.begin(), running_.end(),
      [](const Running& one, const Running& other) { return one.next_tick < other.next_tick; });
  const auto arrives = network_.next();
  if (arrives && (first == running_.end() || *arrives <= first->next_tick)) {
    time_.move_to(*arrives);
    return network_.deliver_next();
  }
  if (first == running_.end()) return nullptr;
  time_.move_to(first->next_tick);
  first->next_tick += tick;
  first->core->deadlines().advance(first->core->steady_now());
  return &first->machine->host;
}

}  // namespace ringside::simulation
