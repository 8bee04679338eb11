#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/simulation/tier.h"
#include "tests/simulation/world.h"

namespace ringside::simulation {
namespace {

constexpr std::size_t requests = 200;
constexpr std::size_t paths = 50;
constexpr std::size_t clients_at_once = 4;
// Of simulated time: longer than all that may be waited for.
constexpr Milliseconds most = 10 * limits::request_deadline;

std::vector<std::string> some_targets(Random& random) {
  std::vector<std::string> targets;
  for (std::size_t i = 0; i < requests; ++i) {
    targets.push_back(fmt::format("/page-{}", random.below(paths)));
  }
  return targets;
}

// A world with a tier of three and clients who ask for some targets.
struct Scene {
  explicit Scene(std::uint64_t seed)
      : world(seed),
        targets(some_targets(world.random())),
        tier(world, 3),
        clients(world, tier.address(), targets, clients_at_once) {}

  World world;
  const std::vector<std::string> targets;
  SimulatedTier tier;
  SimulatedClients clients;
};

std::string trace_of(std::uint64_t seed) {
  Scene scene(seed);
  EXPECT_TRUE(scene.world.run_until([&] { return scene.clients.all_answered(); }, most));
  return scene.world.trace();
}

TEST(Simulation, TheSameSeedGivesTheSameTrace) {
  const std::string trace = trace_of(1);
  EXPECT_GT(trace.size(), requests);
  EXPECT_TRUE(trace == trace_of(1));
  EXPECT_FALSE(trace == trace_of(2));
}

TEST(Simulation, EveryKeyIsFetchedOnce) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    Scene scene(seed);
    ASSERT_TRUE(scene.world.run_until([&] { return scene.clients.all_answered(); }, most));
    EXPECT_EQ(scene.clients.wrong(), std::vector<std::string>());
    EXPECT_EQ(scene.clients.repeats(), 0U);
    const std::set<std::string> keys(scene.targets.begin(), scene.targets.end());
    EXPECT_EQ(scene.tier.origin().fetches().size(), keys.size());
    for (const auto& [target, fetches] : scene.tier.origin().fetches()) {
      EXPECT_EQ(fetches, 1U) << target;
    }
  }
}

// What becomes of a replica, or of the way to it.
enum class Fault { requests_lost, answers_lost, all_late, machine_gone, process_gone };

// Longer than the sidecar waits before it doubts a replica.
constexpr Milliseconds late{2 * limits::suspicion_after};

void strike(Fault fault, Scene& scene, World::Machine& replica) {
  SimulatedNetwork& network = scene.world.network();
  const SimulatedHost& sidecar = scene.tier.sidecar_machine().host;
  const SimulatedHost& origin = scene.tier.origin().host();
  if (fault == Fault::process_gone) return scene.world.kill(replica);
  if (fault != Fault::answers_lost) network.cut(sidecar, replica.host);
  if (fault != Fault::requests_lost) network.cut(replica.host, sidecar);
  if (fault == Fault::all_late) {
    EXPECT_FALSE(scene.world.run_until([] { return false; }, late));
    network.heal(sidecar, replica.host);
    network.heal(replica.host, sidecar);
  }
  if (fault != Fault::machine_gone) return;
  network.cut(origin, replica.host);
  network.cut(replica.host, origin);
}

class SimulationOfFault : public testing::TestWithParam<Fault> {};

TEST_P(SimulationOfFault, EveryRequestIsAnsweredAllTheSame) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    Scene scene(seed);
    const std::size_t before = scene.world.random().below(requests);
    const std::size_t struck = scene.world.random().below(3);
    ASSERT_TRUE(scene.world.run_until([&] { return scene.clients.answered() >= before; }, most));
    strike(GetParam(), scene, scene.tier.replica_machine(struck));
    ASSERT_TRUE(scene.world.run_until([&] { return scene.clients.all_answered(); }, most));
    EXPECT_EQ(scene.clients.wrong(), std::vector<std::string>());
    // Only an answer that was on its way breaks; nobody can finish it.
    EXPECT_LE(scene.clients.repeats(), clients_at_once);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, SimulationOfFault,
                         testing::Values(Fault::requests_lost, Fault::answers_lost, Fault::all_late,
                                         Fault::machine_gone, Fault::process_gone));

}  // namespace
}  // namespace ringside::simulation
