#include "shard/split_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "shard/schemes.h"
#include "tests/shard/some_topology.h"

namespace ringside::shard {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAreArray;

std::vector<std::string> leaves_of(const State& state) {
  std::vector<std::string> leaves;
  for (const Shard& shard : state.shards) leaves.push_back(shard.at);
  return leaves;
}

std::size_t find_leaf(const State& state, const std::string& name) {
  const auto leaves = leaves_of(state);
  return static_cast<std::size_t>(std::find(leaves.begin(), leaves.end(), name) - leaves.begin());
}

// tests/golden/README.md says where these answers come from.
TEST(SplitTree, SplitsAndFindsAsTheKnownAnswersSay) {
  std::ifstream in(std::string(RINGSIDE_SOURCE_DIR) + "/tests/golden/split_tree.json");
  const auto golden = nlohmann::json::parse(in);
  State state = tree_of(golden.at("initial_shards").get<std::size_t>());
  ASSERT_EQ(golden.at("steps").size(), 8U);
  for (const auto& step : golden.at("steps")) {
    if (!step.at("split").is_null()) {
      const auto topology = topology_of(caches(5), "split-tree", state);
      auto split =
          cut_state(*topology, {find_leaf(state, step.at("split").get<std::string>()), {}, {}});
      ASSERT_TRUE(split) << split.error().message;
      state = *std::move(split);
      EXPECT_THAT(leaves_of(state),
                  UnorderedElementsAreArray(step.at("leaves").get<std::vector<std::string>>()));
    }
    const auto topology = topology_of(caches(5), "split-tree", state);
    ASSERT_GT(step.at("owner").size(), 50U);
    for (const auto& [key, leaf] : step.at("owner").items()) {
      EXPECT_EQ(state.shards[topology->bucket_for(key_of(key + "\n"))].at, leaf) << key;
    }
  }
}

TEST(SplitTree, GivesALeafItsNumberAndItsHalfTheNext) {
  const auto before = topology_of(caches(3), "split-tree", tree_of(2));
  const auto state = cut_state(*before, {1, {}, {"cache-2"}});
  ASSERT_TRUE(state);
  EXPECT_EQ(state->shards[1], (Shard{"shard_1_1", "cache-1", std::nullopt}));
  EXPECT_EQ(state->shards[2], (Shard{"shard_1_3", "cache-2", 1}));
  const auto after = topology_of(caches(3), "split-tree", *state);
  EXPECT_TRUE(after->extends(*before));
  EXPECT_EQ(owner_name(*after, key_of("3\n")), "cache-2");
  EXPECT_EQ(after->bucket_for(key_of("5\n")), 1);
}

// Nobody is named for anything at first, and with one shard more all would count anew.
TEST(SplitTree, ACutMovesNothingElse) {
  const auto before = topology_of(caches(4), "split-tree", first_tree());
  for (const std::size_t shard : {2U, 3U, 40U}) {
    const auto state = cut_state(*before, {shard, {}, {"cache-0"}});
    ASSERT_TRUE(state);
    const auto after = topology_of(caches(4), "split-tree", *state);
    for (std::size_t i = 0; i < before->bucket_owners().size(); ++i) {
      EXPECT_EQ(after->bucket_owners()[i], before->bucket_owners()[i]) << shard << " " << i;
    }
    // Nor does a member that leaves from the middle from then on.
    const auto left = topology_of(without(caches(4), 1), "split-tree", after->state_to_keep());
    for (std::size_t i = 0; i < after->bucket_owners().size(); ++i) {
      if (after->bucket_owners()[i] == 1) continue;
      EXPECT_EQ(left->members()[left->bucket_owners()[i]].name,
                after->members()[after->bucket_owners()[i]].name);
    }
  }
}

TEST(SplitTree, RefusesTreesThatAreNone) {
  const auto wrong = [](std::vector<Shard> shards) {
    const auto made = Topology::make(caches(3), "split-tree", 1, {std::move(shards), {}});
    return made ? std::string{} : made.error().message;
  };
  EXPECT_THAT(wrong({{"shard_1", "", {}}}), HasSubstr("shards[0].at: \"shard_1\" is no leaf"));
  EXPECT_THAT(wrong({{"shard_0_2", "", {}}}), HasSubstr("is no leaf"));
  EXPECT_THAT(wrong({{"shard_00", "", {}}}), HasSubstr("is no leaf"));
  EXPECT_THAT(wrong({{"leaf", "", {}}}), HasSubstr("is no leaf"));
  EXPECT_THAT(wrong({{"shard_0_0", "", {}}}), HasSubstr("below shard_0 overlap or leave keys out"));
  EXPECT_THAT(wrong({{"shard_0_0", "", {}}, {"shard_0_0_0", "", 0}}), HasSubstr("is a leaf too"));
  EXPECT_THAT(wrong({{"shard_0_0", "", {}}, {"shard_0_0", "", 0}}), HasSubstr("overlap"));
  EXPECT_EQ(wrong({{"shard_0_0", "", {}}, {"shard_0_1", "", 0}}), "");
}

TEST(SplitTree, SplitsNoFurtherThanItsLimit) {
  State state = tree_of(1);
  for (int split = 0; split < 24; ++split) {
    auto next = split_leaf(state, {0, {}, {}});
    ASSERT_TRUE(next) << split;
    state = *std::move(next);
  }
  const auto refused = split_leaf(state, {0, {}, {}});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("not split any further"));
}

}  // namespace
}  // namespace ringside::shard
