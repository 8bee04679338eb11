#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "tests/simulation/changing_scene.h"
#include "tests/simulation/handoff_scenes.h"
#include "tests/simulation/moving_scene.h"

// Shards are cut, and keys are placed, while what they hold is asked for, moves and changes.

namespace ringside::simulation {
namespace {

Shape with_state(Shape shape, std::string_view scheme, shard::State state) {
  shape.scheme = scheme;
  shape.state = std::move(state);
  return shape;
}

shard::State one_range() { return {{{"", "cache-0", std::nullopt}}, {}}; }
shard::State one_leaf() { return {{{"shard_0", "cache-0", std::nullopt}}, {}}; }

std::string page_key(std::size_t number) { return fmt::format("ZZ\n/page-{}", number); }

std::string any_name(World& world, std::size_t replicas) {
  return fmt::format("cache-{}", world.random().below(replicas));
}

// Some shard at some page: one that holds it is hit now and then.
bool cut_somewhere(World& world, SimulatedTier& tier, std::size_t pages) {
  const std::string at = page_key(world.random().below(pages));
  const std::string name = any_name(world, tier.replicas());
  for (std::size_t shard = 0; shard < 8; ++shard) {
    if (tier.cut({shard, {at}, {name}})) return true;
  }
  return false;
}

void ranges_are_cut(std::uint64_t seed) {
  MovingScene scene(seed, with_state(MovingScene::shape_of(3), "range", one_range()));
  for (int cuts = 0; cuts < 3; ++cuts) {
    static_cast<void>(cut_somewhere(scene.world, scene.tier, scene.paths));
    scene.publish_in_any_order();
  }
  scene.expect_end();
  EXPECT_EQ(scene.clients.unanswered(), 0U);
}

void ranges_are_cut_while_the_tier_grows(std::uint64_t seed) {
  MovingScene scene(seed, with_state(MovingScene::shape_of(3), "range", one_range()));
  static_cast<void>(cut_somewhere(scene.world, scene.tier, scene.paths));
  scene.tier.grow();
  scene.publish_in_any_order();
  static_cast<void>(cut_somewhere(scene.world, scene.tier, scene.paths));
  scene.publish_in_any_order();
  scene.expect_end();
  EXPECT_EQ(scene.clients.unanswered(), 0U);
}

void leaves_split(std::uint64_t seed) {
  MovingScene scene(seed, with_state(MovingScene::shape_of(3), "split-tree", one_leaf()));
  for (std::size_t splits = 0; splits < 4; ++splits) {
    const std::size_t leaf = scene.world.random().below(splits + 1);
    EXPECT_TRUE(scene.tier.cut({leaf, {}, {any_name(scene.world, 3)}}));
    scene.publish_in_any_order();
  }
  scene.expect_end();
  EXPECT_EQ(scene.clients.unanswered(), 0U);
}

void keys_are_placed_and_moved(std::uint64_t seed) {
  MovingScene scene(seed, with_state(MovingScene::shape_of(3), "directory", {{}, "ring"}));
  for (int keys = 0; keys < 4; ++keys) {
    for (int more = 0; more < 3; ++more) {
      const std::string key = page_key(scene.world.random().below(scene.paths));
      EXPECT_TRUE(scene.tier.cut({0, {key}, {any_name(scene.world, 3)}}));
    }
    scene.publish_in_any_order();
  }
  scene.expect_end();
  EXPECT_EQ(scene.clients.unanswered(), 0U);
}

// With a scheme that cuts shards, which the seed chooses. It also chooses whether fetches wait
// while a shard moves (--split-writes).
Shape that_cuts(Shape shape, std::uint64_t seed) {
  constexpr std::array<std::string_view, 3> schemes = {"range", "ascending", "split-tree"};
  const std::string_view scheme = schemes[seed % schemes.size()];
  const bool waits = seed / schemes.size() % 2 == 0;
  shape.of_replicas = [of = shape.of_replicas, waits](cache::Settings& settings) {
    if (of) of(settings);
    settings.split_writes = waits ? cache::SplitWrites::wait : cache::SplitWrites::log;
  };
  return with_state(std::move(shape), scheme, scheme == "split-tree" ? one_leaf() : one_range());
}

// A shard, at a key where the scheme wants one.
void cut_any(World& world, SimulatedTier& tier, std::size_t pages) {
  if (cut_somewhere(world, tier, pages)) return;
  const std::string name = any_name(world, tier.replicas());
  if (!tier.cut({world.random().below(4), {}, {name}})) {
    static_cast<void>(tier.cut({0, {}, {name}}));
  }
}

void shards_are_cut_while_members_change(std::uint64_t seed) {
  MovingScene scene(seed, that_cuts(MovingScene::shape_of(3), seed));
  for (int round = 0; round < 2; ++round) {
    cut_any(scene.world, scene.tier, scene.paths);
    if (scene.world.random().one_in(2)) scene.publish_in_any_order();
    if (round == 0) scene.tier.grow();
    if (round == 1) scene.tier.remove(scene.world.random().below(2));
    scene.publish_in_any_order();
  }
  scene.tell_all();
  scene.expect_end();
  EXPECT_EQ(scene.clients.unanswered(), 0U);
}

void pages_and_members_change_while_shards_are_cut(std::uint64_t seed) {
  ChangingScene scene(seed, that_cuts(ChangingScene::usual_shape(), seed));
  for (std::size_t round = 0; round < share_of(6, less().requests); ++round) {
    cut_any(scene.world, scene.tier, scene.pages);
    if (scene.world.random().one_in(2)) scene.change_members();
    scene.tell_some();
    scene.change_page();
  }
  scene.expect_all_else_is_there();
}

// Purges and unsafe methods meet a cut before it, in it and after it.
void pages_change_while_shards_are_cut(std::uint64_t seed) {
  const bool is_range = seed % 2 == 0;
  ChangingScene scene(seed,
                      with_state(ChangingScene::usual_shape(), is_range ? "range" : "directory",
                                 is_range ? one_range() : shard::State{{}, "ring"}));
  for (std::size_t round = 0; round < share_of(6, less().requests); ++round) {
    if (scene.world.random().one_in(2)) scene.change_page();
    static_cast<void>(cut_somewhere(scene.world, scene.tier, scene.pages));
    scene.tell_some();
    scene.change_page();
    if (scene.world.random().one_in(2)) scene.change_members();
    scene.tell_some();
  }
  scene.expect_all_else_is_there();
}

constexpr auto scenes_of_cuts = std::to_array<HandoffScene>({
    {"RangesAreCut", ranges_are_cut, 20},
    {"RangesAreCutWhileTheTierGrows", ranges_are_cut_while_the_tier_grows, 20},
    {"LeavesSplit", leaves_split, 20},
    {"KeysArePlacedAndMoved", keys_are_placed_and_moved, 20},
    {"PagesChangeWhileShardsAreCut", pages_change_while_shards_are_cut, 20},
    {"ShardsAreCutWhileMembersChange", shards_are_cut_while_members_change, 20},
    {"PagesAndMembersChangeWhileShardsAreCut", pages_and_members_change_while_shards_are_cut, 20},
});

}  // namespace

std::span<const HandoffScene> cut_scenes() { return scenes_of_cuts; }

}  // namespace ringside::simulation
