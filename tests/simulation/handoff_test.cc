#include <gtest/gtest.h>

#include <algorithm>
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
  for (const std::uint64_t seed : seeds(fewer_where_slow(20))) {
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
  for (const std::uint64_t seed : seeds(fewer_where_slow(5))) {
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

void expect_one_fetch_each(Scene& scene) {
  EXPECT_EQ(scene.clients.wrong(), std::vector<std::string>());
  EXPECT_EQ(scene.clients.unanswered(), 0U);
  for (const auto& [target, fetched] : scene.tier.origin().fetches()) {
    EXPECT_EQ(fetched, 1U) << target;
  }
}

TEST(SimulationOfHandoff, WhatIsStoredLiesWithItsOwnersInTheEnd) {
  for (const std::uint64_t seed : seeds(fewer_where_slow(10))) {
    SCOPED_TRACE(shown(seed));
    Scene scene(seed, {.replicas = 4, .sidecars = 2, .cores = 2, .knows_peers = true}, requests,
                paths);
    ASSERT_TRUE(scene.run_until_answered(requests / 3));
    scene.tier.grow();
    publish_in_any_order(scene);
    ASSERT_TRUE(scene.run_until_all_answered());
    ASSERT_TRUE(scene.run_until_settled());
    expect_one_fetch_each(scene);
    std::uint64_t stored = 0;
    for (std::size_t index = 0; index < scene.tier.replicas(); ++index) {
      stored += scene.tier.replica(index).sheet().totals().store->entries;
    }
    EXPECT_EQ(stored, scene.tier.origin().fetches().size());
  }
}

TEST(SimulationOfHandoff, ATierThatShrinksFetchesNothingAgain) {
  for (const std::uint64_t seed : seeds(fewer_where_slow(20))) {
    SCOPED_TRACE(shown(seed));
    Scene scene(seed, {.replicas = 5, .sidecars = 2, .cores = 2, .knows_peers = true}, requests,
                paths);
    ASSERT_TRUE(scene.run_until_answered(requests / 3));
    const std::size_t leaver = scene.world.random().below(scene.tier.replicas());
    scene.tier.remove(leaver);
    publish_in_any_order(scene);
    ASSERT_TRUE(scene.run_until_given(leaver));
    EXPECT_EQ(scene.tier.replica(leaver).sheet().totals().store->entries, 0U);
    scene.tier.crash_replica(leaver);
    ASSERT_TRUE(scene.run_until_all_answered());
    expect_one_fetch_each(scene);
  }
}

TEST(SimulationOfHandoff, ARollingRestartFetchesNothingAgain) {
  for (const std::uint64_t seed : seeds(fewer_where_slow(10))) {
    SCOPED_TRACE(shown(seed));
    Scene scene(seed, {.replicas = 4, .sidecars = 2, .cores = 2, .knows_peers = true}, requests,
                paths);
    ASSERT_TRUE(scene.run_until_answered(requests / 6));
    for (std::size_t index = 0; index < scene.tier.replicas(); ++index) {
      scene.tier.leave(index);
      ASSERT_TRUE(scene.run_until_given(index));
      scene.tier.crash_replica(index);
      ASSERT_TRUE(scene.run_until_answered(std::min(scene.clients.answered() + 10, requests)));
      scene.tier.start_replica(index);
      ASSERT_TRUE(scene.run_until_answered(std::min(scene.clients.answered() + 10, requests)));
      // As a StatefulSet does: the next one when this one is ready.
      if (seed % 2 == 0) {
        ASSERT_TRUE(scene.run_until_settled());
      }
    }
    ASSERT_TRUE(scene.run_until_all_answered());
    expect_one_fetch_each(scene);
  }
}

TEST(SimulationOfHandoff, ChangesThatOverlapFetchNothingAgain) {
  for (const std::uint64_t seed : seeds(fewer_where_slow(20))) {
    SCOPED_TRACE(shown(seed));
    Scene scene(seed, {.replicas = 4, .sidecars = 2, .cores = 2, .knows_peers = true}, requests,
                paths);
    ASSERT_TRUE(scene.run_until_answered(requests / 4));
    scene.tier.grow();
    publish_in_any_order(scene);
    scene.tier.remove(scene.world.random().below(3));
    publish_in_any_order(scene);
    scene.tier.grow();
    publish_in_any_order(scene);
    ASSERT_TRUE(scene.run_until_all_answered());
    ASSERT_TRUE(scene.run_until_settled());
    expect_one_fetch_each(scene);
  }
}

// A tier that changes while its pages do.
struct ChangingScene {
  static constexpr std::size_t pages = 12;

  explicit ChangingScene(std::uint64_t seed)
      : world(seed), tier(world, shape()), client(world, "client"), author(world, "author") {
    for (std::size_t number = 0; number < pages; ++number) {
      static_cast<void>(client.get(tier.address(), page(number)));
    }
  }

  static Shape shape() {
    const auto all = Network::parse("0.0.0.0/0").value();
    return {.replicas = 4,
            .sidecars = 2,
            .cores = 2,
            .knows_peers = true,
            .of_replicas = [all](cache::Settings& settings) { settings.purge_from = {all}; },
            .of_sidecars = [all](sidecar::Settings& settings) { settings.purge_from = {all}; }};
  }
  static std::string page(std::size_t number) { return fmt::format("/page-{}", number); }
  static std::string purge_request(const std::string& target) {
    return fmt::format("PURGE {} HTTP/1.1\r\nHost: a.test\r\n\r\n", target);
  }

  // Tells the replicas of the members, and perhaps a sidecar: the other one goes on as before.
  void tell_some() {
    for (std::size_t index = 0; index < tier.replicas(); ++index) {
      tier.tell_replica(index);
      world.run_for(Milliseconds{world.random().below(20)});
    }
    for (std::size_t index = 0; index < tier.sidecars(); ++index) {
      if (world.random().below(2) == 0) tier.publish(index);
    }
  }

  // What is said by then, nobody is given any more.
  void change_page() {
    const std::string target = page(world.random().below(pages));
    const auto meanwhile = client.begin(tier.address(1), get_request(target));
    world.run_for(Milliseconds{world.random().below(12)});
    tier.origin().renew();
    const bool is_purge = world.random().below(2) == 0;
    const auto request = is_purge ? purge_request(target) : post_request(target);
    const auto done = author.ask(tier.address(world.random().below(2)), request);
    EXPECT_EQ(done.reply.status, 200) << done.reply.body;
    EXPECT_TRUE(world.run_until([&] { return meanwhile->done; }, most));
    for (std::size_t round = 0; round < 3; ++round) {
      for (std::size_t sidecar = 0; sidecar < 2; ++sidecar) {
        const auto after = client.get(tier.address(sidecar), target);
        EXPECT_EQ(after.reply.status, 200);
        EXPECT_EQ(after.reply.field("x-version"), tier.origin().version()) << target;
      }
      world.run_for(Milliseconds{world.random().below(300)});
    }
  }

  World world;
  SimulatedTier tier;
  SimulatedClient client;
  SimulatedClient author;
};

TEST(SimulationOfHandoff, NothingOldComesBackWithWhatMoves) {
  for (const std::uint64_t seed : seeds(fewer_where_slow(20))) {
    SCOPED_TRACE(shown(seed));
    ChangingScene scene(seed);
    for (int round = 0; round < 6; ++round) {
      switch (scene.world.random().below(3)) {
        case 0:
          scene.tier.grow();
          break;
        case 1:
          scene.tier.remove(scene.world.random().below(2));
          break;
        default:
          break;
      }
      scene.tell_some();
      scene.change_page();
      scene.tell_some();
      scene.change_page();
    }
  }
}

TEST(SimulationOfHandoff, AnyReplicaMayCrashMeanwhileAndComeBack) {
  for (const std::uint64_t seed : seeds(fewer_where_slow(20))) {
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
  for (const std::uint64_t seed : seeds(fewer_where_slow(10))) {
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
