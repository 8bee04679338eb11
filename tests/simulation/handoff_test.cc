#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "tests/simulation/scene.h"
#include "tests/simulation/seeds.h"

// A tier grows whose replicas know each other: what one has, the others ask it for.

namespace ringside::simulation {
namespace {

constexpr std::size_t requests = 300;
constexpr std::size_t paths = 60;

// Tells all processes of the tier's replicas, each after some more answers, in any order.
void publish_in_any_order(Scene& scene) {
  std::vector<std::size_t> processes(scene.tier.replicas() + scene.tier.sidecars());
  std::iota(processes.begin(), processes.end(), 0);
  for (std::size_t left = processes.size(); left > 0; --left) {
    std::swap(processes[left - 1], processes[scene.world.random().below(left)]);
    const std::size_t process = processes[left - 1];
    if (process >= scene.tier.replicas()) {
      scene.tier.publish(process - scene.tier.replicas());
    } else if (scene.tier.has_replica(process)) {
      scene.tier.tell_replica(process);
    }
    ASSERT_TRUE(scene.run_until_answered(scene.clients.answered() + 4));
  }
}

TEST(SimulationOfHandoff, ATierThatGrowsFetchesNothingAgain) {
  for (const std::uint64_t seed : seeds(20)) {
    SCOPED_TRACE(shown(seed));
    Scene scene(seed, {.replicas = 5, .sidecars = 2, .cores = 2, .knows_peers = true}, requests,
                paths);
    ASSERT_TRUE(scene.run_until_answered(requests / 3));
    scene.tier.grow();
    publish_in_any_order(scene);
    ASSERT_TRUE(scene.run_until_all_answered());
    EXPECT_EQ(scene.clients.wrong(), std::vector<std::string>());
    EXPECT_EQ(scene.clients.unanswered(), 0U);
    for (const auto& [target, fetched] : scene.tier.origin().fetches()) {
      EXPECT_EQ(fetched, 1U) << target;
    }
  }
}

TEST(SimulationOfHandoff, MembersThatProveThemselvesFetchNothingAgainEither) {
  for (const std::uint64_t seed : seeds(5)) {
    SCOPED_TRACE(shown(seed));
    Shape shape = with_peer_key({.replicas = 3, .sidecars = 1, .cores = 1});
    shape.knows_peers = true;
    Scene scene(seed, shape, requests, paths);
    ASSERT_TRUE(scene.run_until_answered(requests / 3));
    scene.tier.grow();
    publish_in_any_order(scene);
    ASSERT_TRUE(scene.run_until_all_answered());
    EXPECT_EQ(scene.clients.wrong(), std::vector<std::string>());
    for (const auto& [target, fetched] : scene.tier.origin().fetches()) {
      EXPECT_EQ(fetched, 1U) << target;
    }
  }
}

TEST(SimulationOfHandoff, AnyReplicaMayCrashMeanwhileAndComeBack) {
  for (const std::uint64_t seed : seeds(20)) {
    SCOPED_TRACE(shown(seed));
    Scene scene(seed, {.replicas = 5, .sidecars = 2, .cores = 2, .knows_peers = true}, requests,
                paths);
    ASSERT_TRUE(scene.run_until_answered(requests / 3));
    scene.tier.grow();
    const std::size_t victim = scene.world.random().below(scene.tier.replicas());
    scene.tier.crash_replica(victim);
    publish_in_any_order(scene);
    scene.tier.start_replica(victim);
    ASSERT_TRUE(scene.run_until_all_answered());
    EXPECT_EQ(scene.clients.wrong(), std::vector<std::string>());
    EXPECT_EQ(scene.clients.unanswered(), 0U);
  }
}

TEST(SimulationOfHandoff, AReplicaThatHangsMeanwhileIsWaitedForOnce) {
  for (const std::uint64_t seed : seeds(10)) {
    SCOPED_TRACE(shown(seed));
    Scene scene(seed, {.replicas = 5, .sidecars = 2, .cores = 1, .knows_peers = true}, requests,
                paths);
    ASSERT_TRUE(scene.run_until_answered(requests / 3));
    scene.tier.grow();
    const std::size_t victim = scene.world.random().below(scene.tier.replicas());
    auto& machine = scene.tier.replica_machine(victim);
    scene.world.freeze(machine);
    for (std::size_t index = 0; index < scene.tier.replicas(); ++index) {
      if (index != victim) scene.tier.tell_replica(index);
    }
    scene.tier.publish(0);
    ASSERT_TRUE(scene.run_until_answered(requests / 2));
    scene.world.thaw(machine);
    scene.tier.tell_replica(victim);
    scene.tier.publish(1);
    ASSERT_TRUE(scene.run_until_all_answered());
    EXPECT_EQ(scene.clients.wrong(), std::vector<std::string>());
    EXPECT_EQ(scene.clients.unanswered(), 0U);
  }
}

}  // namespace
}  // namespace ringside::simulation
