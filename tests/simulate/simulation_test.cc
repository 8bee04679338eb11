#include "simulate/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hash.h"

namespace ringside::simulate {
namespace {

using testing::HasSubstr;

Step step_of(std::size_t replicas, std::string_view without = "") {
  Step step{std::to_string(replicas), {}};
  for (std::size_t i = 0; i < replicas; ++i) {
    const std::string name = "cache-" + std::to_string(i);
    if (name != without) step.members.push_back({name, 1, ""});
  }
  return step;
}

std::vector<Row> simulated(const std::vector<std::string>& schemes, const std::vector<Step>& steps,
                           const KeySet& keys) {
  return simulate(schemes, steps, keys, [](const Progress&) {});
}

TEST(KeySet, GeneratedKeysAreThoseOfTheDefaultShardKey) {
  const KeySet keys = KeySet::generated(3, 1);
  ASSERT_EQ(keys.size(), 3U);
  std::string room;
  EXPECT_EQ(keys.key(2, room).bytes, "ZZ\n/key/2\n");
  EXPECT_EQ(keys.hash(2), hash64("ZZ\n/key/2\n"));
  EXPECT_DOUBLE_EQ(keys.weight(0), 1);
  EXPECT_DOUBLE_EQ(keys.weight(2), 1.0 / 3);
  EXPECT_DOUBLE_EQ(KeySet::generated(3, 0).weight(2), 1);
  EXPECT_DOUBLE_EQ(KeySet::generated(3, 2).weight(2), 1.0 / 9);
}

TEST(KeySet, KeysThatComeAgainAddUp) {
  KeySet keys;
  for (int i = 0; i < 1000; ++i) keys.add(std::to_string(i), 1);
  keys.add("7", 2.5);
  ASSERT_EQ(keys.size(), 1000U);
  std::string room;
  EXPECT_EQ(keys.key(7, room).bytes, "7");
  EXPECT_EQ(keys.key(7, room).hash, hash64("7"));
  EXPECT_DOUBLE_EQ(keys.weight(7), 3.5);
}

// What goes by buckets and what goes by keys is reckoned by two ways: each key asked for its owner
// must give the same.
TEST(Simulation, AgreesWithAskingForEachKey) {
  const KeySet keys = KeySet::generated(5000, 1);
  for (const char* const scheme : {"ring", "nginx"}) {
    const auto rows = simulated({scheme}, {step_of(10), step_of(11)}, keys);
    ASSERT_EQ(rows.size(), 2U);
    const auto before = *shard::Topology::make(step_of(10).members, scheme, 1);
    const auto after = *shard::Topology::make(step_of(11).members, scheme, 2);
    std::uint64_t moved = 0;
    double weight_moved = 0;
    double weight = 0;
    std::string room;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto from = before->members()[before->owner(keys.key(i, room))].name;
      const auto to = after->members()[after->owner(keys.key(i, room))].name;
      weight += keys.weight(i);
      if (from == to) continue;
      ++moved;
      weight_moved += keys.weight(i);
    }
    EXPECT_FALSE(rows[0].figures.movement);
    ASSERT_TRUE(rows[1].figures.movement);
    EXPECT_EQ(rows[1].figures.movement->keys, moved) << scheme;
    EXPECT_NEAR(rows[1].figures.movement->weight_percent, 100 * weight_moved / weight, 1e-9);
    EXPECT_DOUBLE_EQ(rows[1].figures.movement->between_stays_percent, 0);
    EXPECT_NEAR(rows[1].figures.movement->least_percent, 100.0 / 11, 1e-9);
  }
}

TEST(Simulation, RangesAreCutWhereTheKeysAre) {
  const KeySet alike = KeySet::generated(20'000, 0);
  for (const char* const scheme : {"range", "ascending"}) {
    const auto rows = simulated({scheme}, {step_of(10), step_of(11)}, alike);
    EXPECT_EQ(rows[0].figures.empty, 0U) << scheme;
    EXPECT_LT(rows[0].figures.keys.peak, 1.1) << scheme;
    ASSERT_TRUE(rows[1].figures.movement);
    EXPECT_NEAR(rows[1].figures.movement->keys_percent, 100.0 / 11, 1) << scheme;
    EXPECT_DOUBLE_EQ(rows[1].figures.movement->between_stays_percent, 0) << scheme;
  }
  // The first of these is asked for as often as the last thousands together.
  const KeySet zipf = KeySet::generated(20'000, 0.8);
  const auto by_requests = simulated({"range"}, {step_of(10)}, zipf);
  const auto by_keys = simulated({"ascending"}, {step_of(10)}, zipf);
  EXPECT_LT(by_requests[0].figures.weight.peak, 1.5);
  EXPECT_GT(by_keys[0].figures.weight.peak, 1.5);
}

// With 64 shards for 40 replicas, some have twice as many keys as others.
TEST(Simulation, ATreeIsSplitUntilNoLeafHasMoreThanItsShare) {
  const KeySet alike = KeySet::generated(50'000, 0);
  const auto rows = simulated({"split-tree"}, {step_of(40), step_of(41)}, alike);
  EXPECT_LT(rows[0].figures.keys.peak, 1.3);
  EXPECT_GT(rows[0].figures.keys.least, 0.7);
  ASSERT_TRUE(rows[1].figures.movement);
  EXPECT_NEAR(rows[1].figures.movement->keys_percent, 100.0 / 41, 0.5);
  EXPECT_DOUBLE_EQ(rows[1].figures.movement->between_stays_percent, 0);
}

TEST(Simulation, KeysOfADirectoryStayWhereTheyArePlaced) {
  const KeySet keys = KeySet::generated(10'000, 0);
  const auto rows =
      simulated({"directory"}, {step_of(10), step_of(11), step_of(11, "cache-3")}, keys);
  EXPECT_LT(rows[0].figures.keys.peak, 1.2);
  ASSERT_TRUE(rows[1].figures.movement);
  EXPECT_EQ(rows[1].figures.movement->keys, 0U);
  EXPECT_EQ(rows[1].figures.empty, 1U) << "the new replica gets keys that are new";
  ASSERT_TRUE(rows[2].figures.movement);
  EXPECT_NEAR(rows[2].figures.movement->keys_percent, 10, 1) << "those of the replica that left";
}

TEST(Simulation, ADirectoryPlacesByWeight) {
  Step step = step_of(3);
  step.members[0].weight = 0;
  step.members[1].weight = 3;
  const auto rows = simulated({"directory"}, {step}, KeySet::generated(10'000, 0));
  EXPECT_NEAR(rows[0].figures.keys.peak, 1, 0.1);
  EXPECT_NEAR(rows[0].figures.keys.least, 1, 0.1);
}

TEST(Simulation, ADirectoryThatIsFullLeavesOtherKeysToItsFallback) {
  const KeySet keys = KeySet::generated(40'000, 1);
  const auto rows = simulated({"directory", "ring"}, {step_of(10), step_of(11)}, keys);
  ASSERT_TRUE(rows[1].figures.movement);
  const auto& directory = *rows[1].figures.movement;
  const auto& ring = *rows[3].figures.movement;
  EXPECT_GT(directory.keys, 0U);
  EXPECT_LT(directory.keys, ring.keys * 3 / 4) << "12,288 of 40,000 stay";
  EXPECT_LT(directory.weight_percent, ring.weight_percent / 4)
      << "those are what is asked for most";
}

TEST(Simulation, OneKeyIsARangeAtLeast) {
  KeySet one;
  one.add("ZZ\n/only\n", 5);
  const auto rows = simulated({"range"}, {step_of(10), step_of(11)}, one);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_TRUE(rows[1].figures.movement);
}

TEST(Simulation, ASchemeThatRefusesGoesOnWithTheMembersThatItHad) {
  const KeySet keys = KeySet::generated(100, 0);
  const auto rows =
      simulated({"jump", "ring"}, {step_of(10), step_of(11, "cache-3"), step_of(11)}, keys);
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(rows[0].refusal, "");
  EXPECT_THAT(rows[1].refusal, HasSubstr("without a gap"));
  EXPECT_EQ(rows[1].before, 0U);
  EXPECT_EQ(rows[2].refusal, "");
  EXPECT_EQ(rows[2].before, 0U);
  EXPECT_NEAR(rows[2].figures.movement->least_percent, 100.0 / 11, 1e-9);
  EXPECT_EQ(rows[4].refusal, "");
  EXPECT_EQ(rows[5].before, 1U);
}

TEST(Simulation, RefusedFromTheStartThereIsNothingBefore) {
  Step weighted = step_of(3);
  weighted.members[1].weight = 2;
  const auto rows = simulated({"simple-sha1"}, {weighted, step_of(3)}, KeySet::generated(100, 0));
  EXPECT_NE(rows[0].refusal, "");
  EXPECT_EQ(rows[1].before, std::nullopt);
  EXPECT_FALSE(rows[1].figures.movement);
}

TEST(Simulation, TellsHowFarItIs) {
  const KeySet keys = KeySet::generated(70'000, 0);
  std::vector<std::uint64_t> done;
  const auto hear = [&done](const Progress& progress) {
    EXPECT_EQ(progress.all, 140'000U);
    done.push_back(progress.done);
  };
  const auto rows = simulate({"ring", "nginx"}, {step_of(2)}, keys, hear);
  EXPECT_EQ(done, (std::vector<std::uint64_t>{0, 70'000, 135'536}));
}

}  // namespace
}  // namespace ringside::simulate
