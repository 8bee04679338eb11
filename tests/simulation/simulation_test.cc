#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/simulation/scene.h"
#include "tests/simulation/seeds.h"

namespace ringside::simulation {
namespace {

const Shape whole_tier{.replicas = 11, .sidecars = 2, .cores = 2};

// Something of everything.
std::string trace_of(std::uint64_t seed) {
  Scene scene(seed, whole_tier);
  EXPECT_TRUE(scene.run_until_answered(50));
  scene.tier.crash_replica(3);
  EXPECT_TRUE(scene.run_until_answered(100));
  scene.world.freeze(scene.tier.replica_machine(4));
  scene.tier.start_replica(3);
  EXPECT_TRUE(scene.run_until_answered(150));
  scene.world.thaw(scene.tier.replica_machine(4));
  EXPECT_TRUE(scene.run_until_all_answered());
  return scene.world.trace();
}

TEST(Simulation, TheSameSeedGivesTheSameTrace) {
  const std::string trace = trace_of(1);
  EXPECT_GT(trace.size(), 10'000U);
  EXPECT_TRUE(trace == trace_of(1));
  EXPECT_FALSE(trace == trace_of(2));
}

TEST(Simulation, EveryKeyIsFetchedOnce) {
  for (const std::uint64_t seed : seeds(5)) {
    SCOPED_TRACE(shown(seed));
    Scene scene(seed, whole_tier);
    ASSERT_TRUE(scene.run_until_all_answered());
    EXPECT_EQ(scene.clients.wrong(), std::vector<std::string>());
    EXPECT_EQ(scene.clients.repeats(), 0U);
    const std::set<std::string> keys(scene.targets.begin(), scene.targets.end());
    EXPECT_EQ(scene.tier.origin().fetches().size(), keys.size());
    for (const auto& [target, fetches] : scene.tier.origin().fetches()) {
      EXPECT_EQ(fetches, 1U) << target;
    }
  }
}

// A hundred at once for the same, on all cores of both sidecars and of the replica.
TEST(Simulation, WhatManyAskForAtOnceIsFetchedOnce) {
  for (const std::uint64_t seed : seeds(5)) {
    SCOPED_TRACE(shown(seed));
    World world(seed);
    SimulatedTier tier(world, {.replicas = 3, .sidecars = 2, .cores = 3});
    const std::vector<std::string> targets(100, target_of("page", 300'000, 300'000));
    const SimulatedClients clients(world, "clients", tier.addresses(), targets, targets.size());
    ASSERT_TRUE(world.run_until([&] { return clients.all_answered(); }, scene_patience));
    EXPECT_EQ(clients.wrong(), std::vector<std::string>());
    EXPECT_EQ(tier.origin().all_fetches(), 1U);
  }
}

TEST(Simulation, BetweenTurnsNoStoreHoldsMoreThanItMay) {
  Scene scene(1, whole_tier);
  std::size_t turns = 0;
  scene.world.at_end_of_turn([&](const World::Machine&, net::Core&) {
    ++turns;
    for (std::size_t index = 0; index < scene.tier.replicas(); ++index) {
      const auto store = *scene.tier.replica(index).sheet().totals().store;
      EXPECT_LE(store.used_bytes, store.limit_bytes);
    }
  });
  ASSERT_TRUE(scene.run_until_answered(20));
  EXPECT_GT(turns, 100U);
}

// What becomes of a replica, or of the way to it.
enum class Fault {
  requests_lost,
  answers_lost,
  all_late,
  connections_reset,
  machine_gone,
  process_gone,
  process_anew,
  process_frozen,
};

// Longer than the sidecar waits before it doubts a replica.
constexpr Milliseconds late{2 * limits::suspicion_after};

void strike(Fault fault, Scene& scene, std::size_t struck) {
  SimulatedNetwork& network = scene.world.network();
  World::Machine& replica = scene.tier.replica_machine(struck);
  const SimulatedHost& sidecar = scene.tier.sidecar_machine(0).host;
  switch (fault) {
    case Fault::requests_lost:
      return network.cut(sidecar, replica.host);
    case Fault::answers_lost:
      return network.cut(replica.host, sidecar);
    case Fault::all_late:
      network.isolate(replica.host);
      scene.world.run_for(late);
      return network.rejoin(replica.host);
    case Fault::connections_reset:
      return network.reset_between(sidecar, replica.host);
    case Fault::machine_gone:
      return network.isolate(replica.host);
    case Fault::process_gone:
      return scene.tier.crash_replica(struck);
    case Fault::process_anew:
      scene.tier.crash_replica(struck);
      scene.world.run_for(late);
      return scene.tier.start_replica(struck);
    case Fault::process_frozen:
      scene.world.freeze(replica);
      scene.world.run_for(late);
      return scene.world.thaw(replica);
  }
}

class SimulationOfFault : public testing::TestWithParam<Fault> {};

TEST_P(SimulationOfFault, EveryRequestIsAnsweredAllTheSame) {
  for (const std::uint64_t seed : seeds(5)) {
    SCOPED_TRACE(shown(seed));
    Scene scene(seed, {.replicas = 3, .sidecars = 1, .cores = 2});
    const std::size_t before = scene.world.random().below(scene.targets.size());
    const std::size_t struck = scene.world.random().below(3);
    ASSERT_TRUE(scene.run_until_answered(before));
    strike(GetParam(), scene, struck);
    ASSERT_TRUE(scene.run_until_all_answered());
    EXPECT_EQ(scene.clients.wrong(), std::vector<std::string>());
    // Only an answer that was on its way breaks; nobody can finish it.
    EXPECT_LE(scene.clients.repeats(), Scene::clients_at_once);
    EXPECT_EQ(scene.clients.unanswered(), 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, SimulationOfFault,
                         testing::Values(Fault::requests_lost, Fault::answers_lost, Fault::all_late,
                                         Fault::connections_reset, Fault::machine_gone,
                                         Fault::process_gone, Fault::process_anew,
                                         Fault::process_frozen));

TEST(Simulation, WhereOneSidecarDiesTheClientsGoToTheOtherAndComeBack) {
  for (const std::uint64_t seed : seeds(3)) {
    SCOPED_TRACE(shown(seed));
    Scene scene(seed, whole_tier);
    ASSERT_TRUE(scene.run_until_answered(60));
    scene.tier.crash_sidecar(0);
    ASSERT_TRUE(scene.run_until_answered(120));
    scene.tier.start_sidecar(0);
    scene.tier.crash_sidecar(1);
    ASSERT_TRUE(scene.run_until_all_answered());
    EXPECT_EQ(scene.clients.wrong(), std::vector<std::string>());
    EXPECT_LE(scene.clients.repeats(), 2 * Scene::clients_at_once);
  }
}

}  // namespace
}  // namespace ringside::simulation
