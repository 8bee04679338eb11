#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "base/limits.h"
#include "tests/simulation/client.h"
#include "tests/simulation/less.h"
#include "tests/simulation/tier.h"
#include "tests/simulation/world.h"

namespace ringside::simulation {

// What an answer may take beyond the waits that a test counts.
inline constexpr Milliseconds slack{200};

// Of simulated time: longer than all that may be waited for.
inline constexpr Milliseconds scene_patience = 10 * limits::request_deadline;

// As far as a network that stalls now and then lets it.
inline constexpr Milliseconds at_once{400};

// A wait as a fast clock measures it.
inline constexpr Milliseconds by_a_fast_clock(Milliseconds wait) { return wait - wait / 1'000; }

// `count` requests for `/NAME-0` to `/NAME-{paths - 1}`.
inline std::vector<std::string> some_targets(Random& random, const std::string& name,
                                             std::size_t count, std::size_t paths) {
  std::vector<std::string> targets;
  for (std::size_t i = 0; i < count; ++i) {
    targets.push_back(fmt::format("/{}-{}", name, random.below(paths)));
  }
  return targets;
}

// Of scenes in which all is stored: page(0) to page(pages - 1).
inline constexpr std::size_t pages = 24;
inline std::string page(std::size_t number) { return fmt::format("/page-{}", number); }

// What the sidecars have counted of their replicas.
inline std::uint64_t ejections(SimulatedTier& tier) {
  std::uint64_t sum = 0;
  for (std::size_t index = 0; index < tier.sidecars(); ++index) {
    for (const auto& shard : tier.sidecar(index).sheet().totals().shards) {
      sum += shard.of("ringside_replica_ejections_total");
    }
  }
  return sum;
}
// Cores of sidecars that take a replica for dead, at present; each replica for itself.
inline std::uint64_t ejected(SimulatedTier& tier) {
  std::uint64_t sum = 0;
  for (std::size_t index = 0; index < tier.sidecars(); ++index) {
    for (const auto& shard : tier.sidecar(index).sheet().totals().shards) {
      sum += shard.of("ringside_replicas_ejected");
    }
  }
  return sum;
}

// A world with a tier and clients who ask for some targets.
struct Scene {
  static constexpr std::size_t clients_at_once = 4;

  explicit Scene(std::uint64_t seed, Shape shape = {}, std::size_t requests = 200,
                 std::size_t paths = 50)
      : world(seed),
        targets(some_targets(world.random(), "page", requests, paths)),
        tier(world, std::move(shape)),
        clients(world, "clients", tier.addresses(), targets, less().clients ? 1 : clients_at_once) {
  }

  [[nodiscard]] bool run_until_answered(std::size_t count) {
    return world.run_until([&] { return clients.answered() >= count; }, scene_patience);
  }
  [[nodiscard]] bool run_until_all_answered() { return run_until_answered(targets.size()); }
  // For what takes long to find out: looked at now and then.
  [[nodiscard]] bool run_until_seen(const std::function<bool()>& done) {
    constexpr Milliseconds pause{5};
    constexpr Milliseconds patience{20'000};
    for (Milliseconds passed{0}; passed < patience; passed += pause) {
      if (done()) return true;
      world.run_for(pause);
    }
    return false;
  }
  [[nodiscard]] bool run_until_settled() {
    return run_until_seen([this] { return tier.is_settled(); });
  }
  [[nodiscard]] bool run_until_given(std::size_t leaver) {
    return run_until_seen([this, leaver] { return tier.buckets_to_give(leaver) == 0; });
  }

  World world;
  const std::vector<std::string> targets;
  SimulatedTier tier;
  SimulatedClients clients;
};

}  // namespace ringside::simulation
