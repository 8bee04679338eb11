#include "cache/move_pace.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/limits.h"

namespace ringside::cache {
namespace {

using std::chrono::microseconds;

constexpr std::size_t allowed = 100 * limits::kMiB;
constexpr std::size_t begun = allowed / limits::move_begin_divisor;
constexpr std::size_t slowest = allowed / limits::move_slowest_divisor;
constexpr std::size_t size = limits::move_batch_size_bytes;
constexpr microseconds fast{500};
constexpr microseconds late = fast + limits::move_delay + microseconds{3'000};

struct Moving {
  void came(microseconds took, bool is_urgent = false) {
    now += took;
    pace.came(size, took, allowed, is_urgent, now);
  }
  void came_often(microseconds took, int times) {
    for (int i = 0; i < times; ++i) came(took);
  }
  // Batches for so long.
  void came_for(Milliseconds time, microseconds took) {
    for (const SteadyPoint end = now + time; now < end;) came(took);
  }
  [[nodiscard]] std::size_t rate() const { return pace.rate_bytes_s(allowed); }

  MovePace pace;
  SteadyPoint now{Seconds{1'000}};
};

TEST(MovePace, RisesToAllThatIsAllowedWhereNobodyWaits) {
  Moving moving;
  moving.came(fast);
  EXPECT_EQ(moving.rate(), begun);
  moving.came_for(limits::move_rise / 4, fast);
  EXPECT_GT(moving.rate(), allowed * 48 / 100);
  EXPECT_LT(moving.rate(), allowed * 52 / 100);
  moving.came_for(limits::move_rise, fast + limits::move_delay);
  EXPECT_EQ(moving.rate(), allowed);
}

TEST(MovePace, IsHalvedWhereBatchesComeLate) {
  Moving moving;
  moving.came_for(limits::move_rise, fast);
  moving.came(late);
  EXPECT_EQ(moving.rate(), allowed) << "one may be late by chance";
  moving.came(late);
  EXPECT_EQ(moving.rate(), allowed / 2);
  moving.came_often(late, 10);
  EXPECT_EQ(moving.rate(), slowest) << "it does end";
  moving.came_for(limits::move_rise, fast);
  EXPECT_EQ(moving.rate(), allowed);
}

TEST(MovePace, IsHalvedOnceForAllBatchesThatWereUnderWay) {
  Moving moving;
  moving.came_for(limits::move_rise, fast);
  moving.now += late;
  for (int i = 0; i < 4; ++i) moving.pace.came(size, late, allowed, false, moving.now);
  EXPECT_EQ(moving.rate(), allowed / 2);
}

TEST(MovePace, OneThatIsVeryLateDoesNotRaiseIt) {
  Moving moving;
  moving.came(fast);
  moving.came(limits::move_rise / 2);
  EXPECT_EQ(moving.rate(), begun);
}

TEST(MovePace, BeginsAnewWhenNothingHasMovedForAWhile) {
  Moving moving;
  moving.came_for(limits::move_rise, fast);
  moving.now = moving.pace.next_batch() + 2 * limits::move_rise;
  moving.came(fast);
  EXPECT_EQ(moving.rate(), begun);
}

TEST(MovePace, WhoIsAboutToEndIsNotKeptWaiting) {
  Moving moving;
  moving.came(fast, true);
  for (int i = 0; i < 10; ++i) moving.came(late, true);
  EXPECT_EQ(moving.rate(), allowed);
}

// The way is another one since: what is the least there is learnt.
TEST(MovePace, WhatIsSlowForEverIsNotTakenForLate) {
  Moving moving;
  moving.came(fast);
  moving.came_for(limits::move_memory, late);
  EXPECT_EQ(moving.rate(), slowest);
  moving.came_for(limits::move_memory + 2 * limits::move_rise, late);
  EXPECT_EQ(moving.rate(), allowed);
}

TEST(MovePace, AsksForTheNextBatchWhenTheLastIsPaidFor) {
  Moving moving;
  moving.came_for(limits::move_rise, fast);
  moving.came_often(fast, 1'000);
  const auto busy = moving.pace.next_batch() - moving.now;
  const auto each = microseconds(size * 1'000'000 / allowed);
  EXPECT_GT(busy, 900 * (each - fast)) << "a thousand at once take their time";

  moving.now += Seconds{60};
  moving.came(fast);
  EXPECT_LE(moving.pace.next_batch(), moving.now + limits::move_begin_divisor * each)
      << "nothing is saved up";
}

}  // namespace
}  // namespace ringside::cache
