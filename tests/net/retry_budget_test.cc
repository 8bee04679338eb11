#include "net/retry_budget.h"

#include <gtest/gtest.h>

#include <vector>

namespace ringside::net {
namespace {

constexpr SteadyPoint began{Milliseconds{1'000'000}};

void count(RetryBudget& budget, unsigned requests, SteadyPoint now) {
  for (unsigned i = 0; i < requests; ++i) budget.count_request(now);
}

// How many repeats of so many wishes are granted.
unsigned spend(RetryBudget& budget, unsigned wishes, SteadyPoint now) {
  unsigned granted = 0;
  for (unsigned i = 0; i < wishes; ++i) granted += budget.spend(now) ? 1 : 0;
  return granted;
}

TEST(RetryBudget, IsAShareOfTheRequestsOrTheFloor) {
  struct Case {
    RetryBudget::Terms terms;
    unsigned requests;
    unsigned granted;  // of 1000 wishes
  };
  for (const Case& one : std::vector<Case>{{{20, 0}, 0, 0},
                                           {{20, 0}, 4, 0},
                                           {{20, 0}, 5, 1},
                                           {{20, 0}, 999, 199},
                                           {{20, 0}, 1000, 200},
                                           {{20, 10}, 0, 10},
                                           {{20, 10}, 50, 10},
                                           {{20, 10}, 100, 20},
                                           {{100, 0}, 300, 300},
                                           {{0, 0}, 1000, 0}}) {
    RetryBudget budget(one.terms);
    count(budget, one.requests, began);
    EXPECT_EQ(spend(budget, 1000, began), one.granted)
        << one.terms.percent << " % of " << one.requests;
  }
}

TEST(RetryBudget, OfAnUpstreamThatAlwaysFailsTheLoadGrowsByTheShare) {
  RetryBudget budget;
  unsigned repeats = 0;
  SteadyPoint now = began;
  for (int i = 0; i < 60'000; ++i, now += Milliseconds{1}) {
    budget.count_request(now);
    repeats += budget.spend(now) ? 1 : 0;
  }
  EXPECT_GE(repeats, 60'000u * limits::retry_budget_percent / 100 * 9 / 10);
  EXPECT_LE(repeats, 60'000u * limits::retry_budget_percent / 100 + limits::retry_budget_floor);
}

TEST(RetryBudget, TheFloorIsForEachSecond) {
  RetryBudget budget;
  for (int second = 0; second < 30; ++second) {
    EXPECT_EQ(spend(budget, 100, began + Seconds{second}), limits::retry_budget_floor) << second;
  }
}

TEST(RetryBudget, WhatIsOlderThanTheWindowIsForgotten) {
  const RetryBudget::Terms terms{20, 0};
  RetryBudget budget(terms);
  count(budget, 1000, began);
  const SteadyPoint last = began + limits::retry_budget_window - Milliseconds{1};
  EXPECT_EQ(spend(budget, 50, last), 50u);
  EXPECT_EQ(spend(budget, 50, began + limits::retry_budget_window), 0u);
  // The repeats of a second ago are in the window still, its requests are not.
  count(budget, 300, began + limits::retry_budget_window);
  EXPECT_EQ(spend(budget, 50, began + limits::retry_budget_window), 10u);
  // A long silence empties all of it.
  EXPECT_EQ(spend(budget, 50, began + Seconds{3600}), 0u);
}

}  // namespace
}  // namespace ringside::net
