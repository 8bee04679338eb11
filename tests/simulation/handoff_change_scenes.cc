#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tests/simulation/handoff_scenes.h"
#include "tests/simulation/moving_scene.h"

// The tier changes, and nothing else goes wrong.

namespace ringside::simulation {
namespace {

void grows(std::uint64_t seed) {
  MovingScene scene(seed, 4);
  scene.tier.grow();
  scene.publish_in_any_order();
  scene.expect_end();
  EXPECT_EQ(scene.clients.unanswered(), 0U);
}

// Thirteen processes: every mix of those that know of it and those that don't.
void ten_become_eleven(std::uint64_t seed) {
  MovingScene scene(seed, 10);
  scene.tier.grow();
  scene.publish_in_any_order();
  scene.expect_end();
  EXPECT_EQ(scene.clients.unanswered(), 0U);
}

// Shards and keys of a tier that has had its scheme for a while.
shard::State state_of(std::string_view scheme, std::size_t replicas) {
  shard::State state;
  if (scheme == "directory") state.fallback = "ring";
  for (std::size_t page = 0; page < 60; page += 3) {
    if (scheme != "range" && scheme != "directory") break;
    const bool is_first = scheme == "range" && page == 0;
    state.shards.push_back({is_first ? "" : fmt::format("ZZ\n/page-{}", page),
                            fmt::format("cache-{}", page / 3 % replicas), std::nullopt});
  }
  return state;
}

Shape of_scheme(std::string_view scheme) {
  constexpr std::size_t replicas = 4;
  Shape shape = MovingScene::shape_of(replicas);
  shape.scheme = scheme;
  shape.state = state_of(scheme, replicas);
  return shape;
}

// As ten become eleven, under a scheme that the seed chooses, and back again.
void grows_under_another_scheme(std::uint64_t seed) {
  constexpr std::array<std::string_view, 4> schemes = {"vbucket", "range", "split-tree",
                                                       "directory"};
  MovingScene scene(seed, of_scheme(schemes[seed % schemes.size()]));
  scene.tier.grow();
  scene.publish_in_any_order();
  scene.tier.remove(scene.any_replica());
  scene.publish_in_any_order();
  scene.expect_end();
  EXPECT_EQ(scene.clients.unanswered(), 0U);
}

void grows_among_members_that_prove_themselves(std::uint64_t seed) {
  Shape shape = with_peer_key({.replicas = 3, .sidecars = 1, .cores = 1});
  shape.knows_peers = true;
  MovingScene scene(seed, shape);
  scene.tier.grow();
  scene.publish_in_any_order();
  scene.expect_end();
}

// SimulatedClients check the Age of each answer.
void grows_after_a_while(std::uint64_t seed) {
  MovingScene scene(seed, 3);
  EXPECT_TRUE(scene.run_until_all_answered());
  scene.world.run_for(Milliseconds{5'000});
  SimulatedClients later(scene.world, "later", scene.tier.addresses(), scene.targets, 1);
  scene.tier.grow();
  scene.tell_all();
  EXPECT_TRUE(scene.world.run_until([&] { return later.all_answered(); }, scene_patience));
  EXPECT_EQ(later.wrong(), std::vector<std::string>());
  scene.expect_end();
}

// All know of it before it is anywhere.
void newcomer_is_awaited(std::uint64_t seed) {
  MovingScene scene(seed, 4);
  scene.tier.announce();
  scene.publish_in_any_order();
  EXPECT_TRUE(scene.run_until_answered(scene.requests() / 2));
  scene.tier.start_replica(4);
  scene.publish_in_any_order();
  scene.expect_end();
}

void shrinks(std::uint64_t seed) {
  MovingScene scene(seed, 5);
  const std::size_t leaver = scene.any_replica();
  scene.tier.remove(leaver);
  scene.publish_in_any_order();
  ASSERT_TRUE(scene.run_until_given(leaver));
  EXPECT_EQ(scene.stored_at(leaver), 0U);
  scene.tier.crash_replica(leaver);
  scene.expect_end();
  EXPECT_EQ(scene.clients.unanswered(), 0U);
}

void restarts_one_after_the_other(std::uint64_t seed) {
  MovingScene scene(seed, 4);
  for (std::size_t index = 0; index < scene.tier.replicas(); ++index) {
    scene.tier.leave(index);
    ASSERT_TRUE(scene.run_until_given(index));
    scene.tier.crash_replica(index);
    const auto some_more = [&] {
      return std::min(scene.clients.answered() + 10, scene.requests());
    };
    ASSERT_TRUE(scene.run_until_answered(some_more()));
    scene.tier.start_replica(index);
    ASSERT_TRUE(scene.run_until_answered(some_more()));
    // As a StatefulSet does: the next one when this one is ready.
    if (seed % 2 == 0) {
      ASSERT_TRUE(scene.run_until_settled());
    }
  }
  scene.expect_end();
}

void changes_overlap(std::uint64_t seed) {
  MovingScene scene(seed, 4);
  scene.tier.grow();
  scene.publish_in_any_order();
  scene.tier.remove(scene.world.random().below(3));
  scene.publish_in_any_order();
  scene.tier.grow();
  scene.publish_in_any_order();
  scene.expect_end();
  EXPECT_EQ(scene.clients.unanswered(), 0U);
}

// While all is on its way to it, the newcomer is no member any more: all comes back.
void change_is_taken_back(std::uint64_t seed) {
  MovingScene scene(seed, 4);
  scene.tier.grow();
  scene.tell_all();
  scene.run_for_a_while();
  const std::size_t newcomer = scene.tier.replicas() - 1;
  scene.tier.remove(newcomer);
  scene.publish_in_any_order();
  ASSERT_TRUE(scene.run_until_given(newcomer));
  scene.expect_end();
  EXPECT_EQ(scene.stored_at(newcomer), 0U) << "a fill that ended late, too, is gone";
  EXPECT_EQ(scene.clients.unanswered(), 0U);
}

// All comes back, and goes there again while nothing was started anew: what it had at first counts
// no more.
void change_is_made_again(std::uint64_t seed) {
  MovingScene scene(seed, 4);
  scene.tier.grow();
  scene.tell_all();
  scene.run_for_a_while();
  const std::size_t newcomer = scene.tier.replicas() - 1;
  scene.tier.weigh(newcomer, 0);
  scene.publish_in_any_order();
  ASSERT_TRUE(scene.run_until_given(newcomer));
  scene.tier.weigh(newcomer, 1);
  scene.publish_in_any_order();
  scene.expect_end();
  EXPECT_EQ(scene.clients.unanswered(), 0U);
}

// A version is for people: the newer topology may have the lower one.
void stateful_set_is_made_anew(std::uint64_t seed) {
  MovingScene scene(seed, 4);
  scene.tier.grow();
  scene.publish_in_any_order();
  if (seed % 2 == 0) scene.tier.grow();
  if (seed % 2 != 0) scene.tier.remove(scene.any_replica());
  scene.tier.begin_anew();
  scene.publish_in_any_order();
  scene.expect_end();
  EXPECT_EQ(scene.clients.unanswered(), 0U);
}

// The newcomer has no room for what is to be its own. All answers are right, and it ends.
void newcomer_is_short_of_memory(std::uint64_t seed) {
  Shape shape = MovingScene::shape_of(2);
  shape.of_starts = [](cache::Replica::Start& start) {
    if (start.name == "cache-2") start.memory_bytes = limits::kMiB;
  };
  MovingScene scene(seed, shape);
  scene.tier.grow();
  scene.publish_in_any_order();
  EXPECT_TRUE(scene.run_until_all_answered());
  EXPECT_EQ(scene.clients.wrong(), std::vector<std::string>());
  EXPECT_EQ(scene.clients.unanswered(), 0U);
  EXPECT_TRUE(scene.run_until_settled());
  const auto store = scene.tier.replica(2).sheet().totals().store;
  EXPECT_LE(store->used_bytes, limits::kMiB);
  EXPECT_GT(store->entries, 0U);
}

void weights_change(std::uint64_t seed) {
  MovingScene scene(seed, 4);
  const std::size_t heavy = scene.any_replica();
  scene.tier.weigh(heavy, 3);
  scene.publish_in_any_order();
  scene.tier.weigh(heavy, 0);  // drains
  scene.tier.weigh(scene.any_replica(), 2);
  scene.publish_in_any_order();
  scene.expect_end();
  EXPECT_EQ(scene.clients.unanswered(), 0U);
}

// A member that is to have nothing gives all of it away, and is given it back with another weight.
void drain_by_weight(MovingScene& scene, bool comes_back) {
  const std::size_t light = scene.any_replica();
  scene.tier.weigh(light, 0);
  scene.publish_in_any_order();
  ASSERT_TRUE(scene.run_until_given(light));
  EXPECT_EQ(scene.stored_at(light), 0U);
  if (comes_back) {
    scene.tier.weigh(light, 1);
    scene.publish_in_any_order();
  }
  scene.expect_end();
  EXPECT_EQ(scene.clients.unanswered(), 0U);
  if (!comes_back) {
    EXPECT_EQ(scene.stored_at(light), 0U);
  }
}

void weight_becomes_zero(std::uint64_t seed) {
  MovingScene scene(seed, 4);
  drain_by_weight(scene, seed % 2 == 0);
}

// All that have a table or a state but `directory`, whose placed keys stay where they are.
void drains_under_another_scheme(std::uint64_t seed) {
  constexpr std::array<std::string_view, 3> schemes = {"vbucket", "range", "split-tree"};
  MovingScene scene(seed, of_scheme(schemes[seed % schemes.size()]));
  drain_by_weight(scene, seed % 2 == 0);
}

// Nobody is left to give anything to: all of it is lost, and nobody waits for ever.
void all_restart_at_once(std::uint64_t seed) {
  MovingScene scene(seed, 4);
  for (std::size_t index = 0; index < scene.tier.replicas(); ++index) {
    scene.tier.leave(index);
    scene.run_for_a_while();
  }
  for (std::size_t index = 0; index < scene.tier.replicas(); ++index) {
    ASSERT_TRUE(scene.run_until_given(index));
  }
  EXPECT_TRUE(scene.run_until_all_answered());
  for (std::size_t index = 0; index < scene.tier.replicas(); ++index) {
    scene.tier.crash_replica(index);
  }
  for (std::size_t index = 0; index < scene.tier.replicas(); ++index) {
    scene.tier.start_replica(index);
    if (seed % 2 == 0) scene.run_for_a_while();
  }
  scene.world.run_for(limits::holder_pause_most);
  SimulatedClients later(scene.world, "later", scene.tier.addresses(), scene.targets, 1);
  EXPECT_TRUE(scene.world.run_until([&] { return later.all_answered(); }, scene_patience));
  EXPECT_EQ(later.wrong(), std::vector<std::string>());
  // Once with the restart, and once before it: where nobody is to take a bucket, nobody is asked
  // for it.
  scene.expect_end(2 * scene.paths);
}

constexpr auto scenes_of_changes = std::to_array<HandoffScene>({
    {"Grows", grows, 20},
    {"TenBecomeEleven", ten_become_eleven, 5},
    {"GrowsUnderAnotherScheme", grows_under_another_scheme, 12},
    {"GrowsAmongMembersThatProveThemselves", grows_among_members_that_prove_themselves, 5},
    {"GrowsAfterAWhile", grows_after_a_while, 5},
    {"NewcomerIsAwaited", newcomer_is_awaited, 20},
    {"Shrinks", shrinks, 20},
    {"RestartsOneAfterTheOther", restarts_one_after_the_other, 10},
    {"ChangesOverlap", changes_overlap, 20},
    {"ChangeIsTakenBack", change_is_taken_back, 10},
    {"ChangeIsMadeAgain", change_is_made_again, 10},
    {"StatefulSetIsMadeAnew", stateful_set_is_made_anew, 10},
    {"NewcomerIsShortOfMemory", newcomer_is_short_of_memory, 5},
    {"WeightsChange", weights_change, 20},
    {"WeightBecomesZero", weight_becomes_zero, 10},
    {"DrainsUnderAnotherScheme", drains_under_another_scheme, 12},
    {"AllRestartAtOnce", all_restart_at_once, 10},
});

}  // namespace

std::span<const HandoffScene> change_scenes() { return scenes_of_changes; }

}  // namespace ringside::simulation
