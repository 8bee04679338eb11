#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/simulation/scene.h"
#include "tests/simulation/seeds.h"

// A tier grows under load: its sidecars hear of the new replica one after the other.

namespace ringside::simulation {
namespace {

constexpr std::size_t requests = 300;

TEST(SimulationOfGrowth, FromTenToElevenEveryAnswerIsRightAndOnlyWhatMovesIsFetchedAgain) {
  for (const std::uint64_t seed : seeds(3)) {
    SCOPED_TRACE(shown(seed));
    Scene scene(seed, {.replicas = 10, .sidecars = 2, .cores = 2}, requests, 60);
    ASSERT_TRUE(scene.run_until_answered(requests / 3));
    scene.tier.grow();
    scene.tier.publish(0);
    // For a while they know different topologies.
    ASSERT_TRUE(scene.run_until_answered(requests / 2));
    scene.tier.publish(1);
    ASSERT_TRUE(scene.run_until_all_answered());
    EXPECT_EQ(scene.clients.wrong(), std::vector<std::string>());
    EXPECT_EQ(scene.clients.repeats(), 0U);

    SimulatedClient client(scene.world, "client");
    std::map<std::size_t, std::size_t> keys_by_fetches;
    const auto fetches = scene.tier.origin().fetches();
    for (const auto& [target, fetched] : fetches) {
      ++keys_by_fetches[fetched];
      const auto reply = client.get(scene.tier.address(seed % 2), target).reply;
      const bool has_moved = scene.tier.named_in(reply.field("cache-status")) == 10;
      EXPECT_LE(fetched, has_moved ? 2U : 1U) << target;
    }
    EXPECT_GT(keys_by_fetches[1], 3 * keys_by_fetches[2]);
  }
}

TEST(SimulationOfGrowth, NewcomerThatAsksHoldersForNoMoreSendsTheSidecarToThem) {
  for (const std::size_t fills_most : {std::size_t{0}, limits::fills_most}) {
    SCOPED_TRACE(fills_most);
    Shape shape{.replicas = 3, .sidecars = 1, .cores = 1, .knows_peers = true};
    shape.of_replicas = [fills_most](cache::Settings& settings) {
      settings.fills_most = fills_most;
      settings.move_rate_mib_s = 0;
    };
    World world(1);
    SimulatedTier tier(world, shape);
    SimulatedClient client(world, "client");
    std::size_t by_newcomer = 0;
    const auto ask_all = [&] {
      for (int number = 0; number < 40; ++number) {
        const std::string target = fmt::format("/page-{}", number);
        const auto reply = client.get(tier.address(), target).reply;
        EXPECT_EQ(reply.status, 200);
        if (tier.named_in(reply.field("cache-status")) == 3) ++by_newcomer;
      }
    };
    ask_all();
    tier.grow();
    for (std::size_t index = 0; index < tier.replicas(); ++index) tier.tell_replica(index);
    world.run_for(Milliseconds{1'000});
    tier.publish(0);
    ask_all();
    EXPECT_EQ(by_newcomer > 0, fills_most > 0);
    const auto fetches = tier.origin().fetches();
    EXPECT_EQ(fetches.size(), 40U);
    for (const auto& [target, fetched] : fetches) EXPECT_EQ(fetched, 1U) << target;
  }
}

TEST(SimulationOfGrowth, NewcomerWithoutRoomWaitsAndTheHoldersAnswerMeanwhile) {
  constexpr std::size_t newcomer = 2, all_pages = 450;
  Shape shape{.replicas = 2, .sidecars = 1, .cores = 1, .knows_peers = true};
  // What comes by moving alone is stored there, so that nothing else needs room.
  shape.of_replicas = [](cache::Settings& settings) { settings.fills_most = 0; };
  shape.of_starts = [](cache::Replica::Start& start) {
    if (start.name == "cache-2") start.memory_bytes = limits::kMiB;
  };
  World world(1);
  SimulatedTier tier(world, shape);
  SimulatedClient client(world, "client");
  // How many the holders answer, which are not fetched again for it.
  const auto by_holders = [&] {
    std::size_t count = 0;
    for (std::size_t number = 0; number < all_pages; ++number) {
      const std::string target = fmt::format("/page-{}", number);
      const auto reply = client.get(tier.address(), target).reply;
      EXPECT_EQ(reply.status, 200);
      if (tier.named_in(reply.field("cache-status")) == newcomer) continue;
      EXPECT_EQ(tier.origin().fetches(target), 1U) << target;
      ++count;
    }
    return count;
  };
  EXPECT_EQ(by_holders(), all_pages);
  tier.grow();
  for (std::size_t index = 0; index < tier.replicas(); ++index) tier.tell_replica(index);
  const auto store = [&] { return *tier.replica(newcomer).sheet().totals().store; };
  ASSERT_TRUE(world.run_until([&] { return store().moves_waiting > 0; }, scene_patience));
  tier.publish(0);
  const std::size_t while_it_waits = by_holders();
  EXPECT_GT(store().moves_waiting, 0U);

  ASSERT_TRUE(world.run_until([&] { return tier.is_settled(); }, scene_patience));
  EXPECT_EQ(store().moves_waiting, 0U);
  EXPECT_LT(by_holders(), while_it_waits);
}

TEST(SimulationOfGrowth, TheNewReplicaDiesWhileOnlyOneSidecarKnowsOfItAndComesBack) {
  for (const std::uint64_t seed : seeds(3)) {
    SCOPED_TRACE(shown(seed));
    Scene scene(seed, {.replicas = 10, .sidecars = 2, .cores = 1}, requests, 60);
    ASSERT_TRUE(scene.run_until_answered(requests / 4));
    scene.tier.grow();
    scene.tier.publish(0);
    ASSERT_TRUE(scene.run_until_answered(requests / 2));
    scene.tier.crash_replica(10);
    scene.tier.publish(1);
    ASSERT_TRUE(scene.run_until_answered(requests * 3 / 4));
    scene.tier.start_replica(10);
    ASSERT_TRUE(scene.run_until_all_answered());
    EXPECT_EQ(scene.clients.wrong(), std::vector<std::string>());
    EXPECT_EQ(scene.clients.unanswered(), 0U);
  }
}

}  // namespace
}  // namespace ringside::simulation
