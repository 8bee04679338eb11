#include "tests/simulation/world.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "base/limits.h"
#include "tests/simulation/less.h"

namespace ringside::simulation {
namespace {

constexpr Instant tick_length = limits::deadline_tick;
constexpr std::uint64_t wall_offset_most_ms = 10'000;
constexpr std::uint64_t uptime_most_s = 1'000'000;
constexpr std::uint64_t drift_most_ppm = 200;

// How late a core comes to what there is to do for it: at once, or it is kept busy by something.
Instant delay(Random& random) {
  const Instant drawn{1 + random.below(random.one_in(8) ? 400 : 10)};
  return less().delays ? Instant{1} : drawn;
}

}  // namespace

World::World(std::uint64_t seed, Clocks clocks)
    : seed_(seed),
      clocks_(clocks),
      random_(seed),
      network_(random_, time_, [this](const std::string& text) { note(text); }) {}

World::~World() {
  const char* const path = std::getenv("RINGSIDE_SIMULATION_TRACE");
  if (path != nullptr) std::ofstream(path) << trace_;
}

World::Machine& World::add_machine(const std::string& name) {
  ClockTraits traits;
  traits.uptime = Seconds{random_.below(uptime_most_s)};
  if (clocks_ == Clocks::in_seconds) traits.wall_step = Seconds{1};
  if (clocks_ == Clocks::apart) {
    traits.wall_offset = Milliseconds{random_.below(wall_offset_most_ms)};
    traits.drift_ppm = static_cast<std::int64_t>(random_.below(2 * drift_most_ppm + 1)) -
                       static_cast<std::int64_t>(drift_most_ppm);
  }
  if (less().clocks) traits = {};
  machines_.push_back(
      std::make_unique<Machine>(Machine{network_.add_host(name), SimulatedClock(time_, traits)}));
  return *machines_.back();
}

void World::run_on(const Machine& machine, net::CoreGroup& cores) {
  for (std::size_t index = 0; index < cores.size(); ++index) {
    const Instant first_tick =
        time_.now() + Instant{random_.below(static_cast<std::uint64_t>(tick_length.count()))};
    running_.push_back({&machine, &cores[index], first_tick});
  }
  rouse(&machine.host);
}

void World::kill(const Machine& machine) {
  network_.kill(machine.host);
  std::erase_if(running_, [&](const Running& one) { return one.machine == &machine; });
}

void World::revive(const Machine& machine) { network_.revive(machine.host); }

void World::freeze(const Machine& machine) {
  note(fmt::format("freeze {}", machine.host.name()));
  for (Running& one : running_) {
    if (one.machine == &machine) one.frozen = true;
  }
}

void World::thaw(const Machine& machine) {
  note(fmt::format("thaw {}", machine.host.name()));
  for (Running& one : running_) {
    if (one.machine != &machine || !one.frozen) continue;
    one.frozen = false;
    one.next_turn = time_.now() + delay(random_);
    one.next_tick = time_.now() + delay(random_);
  }
}

bool World::run_until(const std::function<bool()>& done, Milliseconds most) {
  const Instant end = time_.now() + most;
  rouse(nullptr);
  while (!done()) {
    if (time_.now() >= end || !step()) return false;
  }
  return true;
}

void World::run_for(Milliseconds time) {
  static_cast<void>(run_until([] { return false; }, time));
}

bool World::run_until_quiet(Milliseconds most) {
  const auto is_quiet = [this] {
    return !network_.next() &&
           std::all_of(running_.begin(), running_.end(),
                       [](const Running& one) { return one.frozen || !one.next_turn; });
  };
  return run_until(is_quiet, most);
}

void World::skip(Milliseconds time) {
  time_.move_to(time_.now() + time);
  for (Running& one : running_) one.next_tick = time_.now() + delay(random_);
}

void World::note(const std::string& text) {
  trace_ += fmt::format("{} {}\n", time_.now().count(), text);
}

void World::rouse(const SimulatedHost* where, const net::Core* but) {
  for (Running& one : running_) {
    const bool concerned = where == nullptr || where == &one.machine->host;
    if (!concerned || one.core == but || one.frozen || one.next_turn) continue;
    one.next_turn = time_.now() + delay(random_);
  }
}

bool World::step() {
  Running* next = nullptr;
  Instant when = Instant::max();
  for (Running& one : running_) {
    const Instant its = std::min(one.next_turn.value_or(Instant::max()), one.next_tick);
    if (one.frozen || its >= when) continue;
    next = &one;
    when = its;
  }
  const auto arrives = network_.next();
  if (arrives && *arrives <= when) {
    time_.move_to(*arrives);
    ++steps_;
    rouse(network_.deliver_next());
    return true;
  }
  if (next == nullptr) return false;
  time_.move_to(when);
  if (next->next_turn != when) tick(*next);
  take_turn(*next);
  return true;
}

void World::tick(Running& one) {
  one.next_tick = time_.now() + tick_length;
  one.core->deadlines().advance(one.core->steady_now());
}

void World::take_turn(Running& one) {
  one.next_turn.reset();
  const Machine& machine = *one.machine;
  net::Core& core = *one.core;
  if (!core.run_ready()) return;
  ++steps_;
  // It may have something for the others.
  rouse(&machine.host, &core);
  for (const TurnHook& hook : at_end_of_turn_) hook(machine, core);
}

}  // namespace ringside::simulation
