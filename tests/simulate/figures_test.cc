#include "simulate/figures.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ringside::simulate {
namespace {

using Members = std::vector<shard::Member>;

Members of(const std::vector<std::pair<std::string, std::uint32_t>>& weights) {
  Members members;
  for (const auto& [name, weight] : weights) members.push_back({name, weight, ""});
  return members;
}

TEST(LeastMoved, IsWhatTheReplicasThatGrowGain) {
  struct Case {
    const char* what;
    Members before;
    Members after;
    double least;
  };
  const std::vector<Case> cases{
      {"nothing changes", of({{"a", 1}, {"b", 1}}), of({{"a", 1}, {"b", 1}}), 0},
      {"a third comes", of({{"a", 1}, {"b", 1}}), of({{"a", 1}, {"b", 1}, {"c", 1}}), 1.0 / 3},
      {"one of three goes", of({{"a", 1}, {"b", 1}, {"c", 1}}), of({{"a", 1}, {"c", 1}}), 1.0 / 3},
      {"another in its place", of({{"a", 1}, {"b", 1}}), of({{"a", 1}, {"c", 1}}), 0.5},
      {"all are others", of({{"a", 1}}), of({{"b", 1}}), 1},
      {"one weighs double", of({{"a", 1}, {"b", 1}}), of({{"a", 2}, {"b", 1}}), 2.0 / 3 - 0.5},
      {"one drains", of({{"a", 1}, {"b", 1}, {"c", 2}}), of({{"a", 1}, {"b", 1}, {"c", 0}}), 0.5},
  };
  for (const Case& one : cases) {
    EXPECT_NEAR(least_moved(one.before, one.after), one.least, 1e-12) << one.what;
  }
}

TEST(Renumbering, GoesByName) {
  const Renumbering places =
      renumbering(of({{"a", 1}, {"b", 1}, {"c", 1}}), of({{"c", 5}, {"a", 1}}));
  EXPECT_EQ(places, (Renumbering{1, std::nullopt, 0}));
}

// Ten keys: a had six of them, b four. Then c comes, and a place in the order is another's.
TEST(Figures, OfAHandfulOfKeys) {
  const Members before = of({{"a", 1}, {"b", 1}});
  const Members after = of({{"0", 0}, {"a", 1}, {"b", 1}, {"c", 2}});
  Tallying tallying(before, after);
  tallying.add({3, 30}, 0, 1);  // stay at a
  tallying.add({2, 10}, 0, 3);  // from a to c, who is new
  tallying.add({1, 20}, 0, 2);  // from a to b, who was there before
  tallying.add({4, 40}, 1, 3);  // from b to c
  const Tally tally = std::move(tallying).take();
  EXPECT_EQ(tally.of_members, (std::vector<Load>{{}, {3, 30}, {1, 20}, {6, 50}}));
  EXPECT_EQ(tally.all, (Load{10, 100}));
  EXPECT_EQ(tally.moved, (Load{7, 70}));
  EXPECT_EQ(tally.between_stays, (Load{1, 20}));

  const Figures figures = figures_of(tally, before, after);
  ASSERT_TRUE(figures.movement);
  EXPECT_EQ(figures.movement->keys, 7U);
  EXPECT_DOUBLE_EQ(figures.movement->keys_percent, 70);
  EXPECT_DOUBLE_EQ(figures.movement->weight_percent, 70);
  EXPECT_DOUBLE_EQ(figures.movement->between_stays_percent, 10);
  EXPECT_DOUBLE_EQ(figures.movement->least_percent, 50);
  EXPECT_DOUBLE_EQ(figures.movement->least_keys, 5);
  // Fair are 2.5, 2.5 and 5 keys: 1.2, 0.4 and 1.2 of it.
  EXPECT_DOUBLE_EQ(figures.keys.peak, 1.2);
  EXPECT_DOUBLE_EQ(figures.keys.least, 0.4);
  EXPECT_NEAR(figures.keys.deviation, std::sqrt((0.04 + 0.36 + 0.04) / 3), 1e-12);
  // Fair are 25, 25 and 50 requests.
  EXPECT_DOUBLE_EQ(figures.weight.peak, 1.2);
  EXPECT_DOUBLE_EQ(figures.weight.least, 0.8);
  EXPECT_EQ(figures.empty, 0U);
}

TEST(Figures, WithoutABeforeNothingMoves) {
  const Members members = of({{"a", 1}, {"b", 1}, {"c", 0}});
  Tallying tallying({}, members);
  tallying.add({4, 4}, 0);
  const Figures figures = figures_of(std::move(tallying).take(), {}, members);
  EXPECT_FALSE(figures.movement);
  EXPECT_EQ(figures.empty, 1U);  // b: of c, which has no weight, nothing is expected
  EXPECT_EQ(figures.keys, (Balance{2, 0, 1}));
}

TEST(Figures, WithoutAnyWeightThereIsNoBalance) {
  const Members members = of({{"a", 1}});
  Tallying tallying({}, members);
  tallying.add({1, 0}, 0);
  EXPECT_EQ(figures_of(std::move(tallying).take(), {}, members).weight, Balance{});
}

}  // namespace
}  // namespace ringside::simulate
