#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
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

// Its sidecar has nobody else to tell of what a POST makes invalid, and so tells no number. For two
// seconds the replica awaited one, and fetched again what the leaver had stored. The leaver is the
// one that holds all, since it was the first.
TEST(SimulationOfGrowth, AnOnlyMemberIsFilledByALeaverAfterAnUnsafeMethod) {
  Shape shape{.replicas = 2, .sidecars = 1, .cores = 1, .knows_peers = true};
  shape.of_replicas = [](cache::Settings& settings) { settings.move_rate_mib_s = 0; };
  World world(1);
  SimulatedTier tier(world, shape);
  SimulatedClient client(world, "client");
  const auto get = [&](int number) {
    return client.get(tier.address(), fmt::format("/page-{}", number));
  };
  for (int number = 0; number < 20; ++number) EXPECT_EQ(get(number).reply.status, 200);
  tier.remove(0);
  for (std::size_t index = 0; index < tier.replicas(); ++index) tier.tell_replica(index);
  tier.publish(0);
  world.run_for(Milliseconds{1'000});
  EXPECT_EQ(client.ask(tier.address(), post_request("/page-0")).reply.status, 200);
  for (int number = 1; number < 20; ++number) {
    EXPECT_EQ(get(number).reply.status, 200);
    EXPECT_EQ(tier.origin().fetches(fmt::format("/page-{}", number)), 1U);
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

TEST(SimulationOfGrowth, ReloadThatTurnsMovingOffStopsWhatMovesAndTheHoldersGoOn) {
  constexpr std::size_t newcomer = 2, pages = 450;
  for (const std::uint64_t seed : seeds(3)) {
    SCOPED_TRACE(shown(seed));
    World world(seed);
    SimulatedTier tier(world, {.replicas = 2, .sidecars = 1, .cores = 1, .knows_peers = true});
    SimulatedClient client(world, "client");
    const auto expect_one_fetch_each = [&] {
      for (std::size_t number = 0; number < pages; ++number) {
        const std::string target = fmt::format("/page-{}", number);
        EXPECT_EQ(client.get(tier.address(), target).reply.status, 200);
        EXPECT_EQ(tier.origin().fetches(target), 1U) << target;
      }
    };
    const auto move_at = [&](std::size_t rate_mib_s) {
      auto settings = std::make_shared<cache::Settings>(*tier.replica(newcomer).settings());
      settings->move_rate_mib_s = rate_mib_s;
      tier.replica(newcomer).apply(std::move(settings));
    };
    const auto moved = [&] {
      return tier.replica(newcomer).sheet().totals().store->moved_responses;
    };
    expect_one_fetch_each();

    tier.grow();
    for (std::size_t index = 0; index < tier.replicas(); ++index) tier.tell_replica(index);
    move_at(1);
    ASSERT_TRUE(world.run_until([&] { return moved() > 0; }, scene_patience));
    move_at(0);
    // What was asked for already comes.
    world.run_for(limits::move_timeout);
    const std::uint64_t moved_by_then = moved();
    world.run_for(scene_patience);
    EXPECT_EQ(moved(), moved_by_then);
    EXPECT_GT(tier.buckets_away(newcomer), 0U);
    EXPECT_FALSE(tier.has_two_authorities());
    tier.publish(0);
    expect_one_fetch_each();

    move_at(limits::move_rate_mib_s);
    ASSERT_TRUE(world.run_until([&] { return tier.is_settled(); }, scene_patience));
    EXPECT_EQ(tier.stored_responses(0) + tier.stored_responses(1) + tier.stored_responses(newcomer),
              pages);
    expect_one_fetch_each();
  }
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
