#include "cache/move_pace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "base/limits.h"

namespace ringside::cache {
namespace {

using std::chrono::microseconds;

constexpr std::size_t allowed = 100 * limits::kMiB;
constexpr std::size_t begun = allowed / limits::move_begin_divisor;
constexpr std::size_t size = limits::move_batch_size_bytes;
constexpr microseconds fast{500};
constexpr microseconds delay = limits::move_delay + microseconds{3'000};
constexpr microseconds late = fast + delay;
constexpr microseconds each{size * 1'000'000 / allowed};  // at the whole rate

struct Moving {
  // A batch that was asked for as soon as it might be.
  void came(microseconds took, bool is_urgent = false, std::size_t batches = 1) {
    now = std::max(now, pace.next_batch(is_urgent)) + took;
    pace.came(batches * size, took, allowed, is_urgent, now);
  }
  // Batches for so long.
  void came_for(SteadyPoint::duration time, microseconds took) {
    for (const SteadyPoint end = now + time; now < end;) came(took);
  }
  [[nodiscard]] std::size_t rate() const { return pace.rate_bytes_s(allowed); }
  // Until the next batch may be asked for.
  [[nodiscard]] SteadyPoint::duration wait(bool is_urgent = false) const {
    return pace.next_batch(is_urgent) - now;
  }

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

// One that had waited had mostly come by then, and was the fastest for half a minute.
TEST(MovePace, ABatchThatWaitedIsPaidForAndTeachesNothing) {
  Moving moving;
  moving.pace.came_after_waiting(size, Seconds{1}, allowed, false, moving.now);
  EXPECT_EQ(moving.rate(), begun) << "nothing is known yet";
  EXPECT_LE(moving.wait(), SteadyPoint::duration{0}) << "so nobody pauses";
  moving.came_for(limits::move_rise + limits::move_rise / 4, fast);
  ASSERT_EQ(moving.rate(), allowed);
  const auto due = moving.pace.next_batch(false);
  moving.pace.came_after_waiting(8 * size, microseconds{1}, allowed, false, moving.now);
  EXPECT_EQ(moving.pace.next_batch(false), due + 8 * each);
  moving.came(fast + limits::move_delay);
  EXPECT_LE(moving.wait(), each) << "that is still in time";
}

TEST(MovePace, ABatchThatWaitedAndThenCameLateMakesTheNextOnePauseToo) {
  Moving moving;
  moving.came_for(limits::move_rise, fast);
  moving.pace.came_after_waiting(size, late, allowed, false, moving.now);
  EXPECT_EQ(moving.wait(), limits::move_yield * delay);
  EXPECT_LE(moving.wait(true), 2 * each) << "what is urgent does not";
}

TEST(MovePace, PausesAfterABatchThatCameLate) {
  Moving moving;
  moving.came_for(limits::move_rise, fast);
  moving.came(fast + limits::move_delay);
  EXPECT_LE(moving.wait(), each) << "that is in time";
  moving.came(late);
  EXPECT_EQ(moving.wait(), limits::move_yield * delay);
  moving.came(late + delay);
  EXPECT_EQ(moving.wait(), limits::move_yield * 2 * delay) << "who is later waits longer";
  moving.came(fast);
  EXPECT_LE(moving.wait(), each) << "nothing is left of it";
  EXPECT_EQ(moving.rate(), allowed);
}

TEST(MovePace, PausesOnceForAllBatchesThatWereUnderWay) {
  Moving moving;
  moving.came_for(limits::move_rise, fast);
  moving.now += late;
  for (int i = 0; i < 4; ++i) moving.pace.came(size, late, allowed, false, moving.now);
  EXPECT_GE(moving.wait(), limits::move_yield * delay);
  EXPECT_LE(moving.wait(), limits::move_yield * delay + 4 * each);
}

TEST(MovePace, DoesNotPauseForLong) {
  Moving moving;
  moving.came(fast);
  moving.came(Seconds{10});
  EXPECT_EQ(moving.wait(), limits::move_yield_most);
}

TEST(MovePace, OneThatIsVeryLateDoesNotRaiseIt) {
  Moving moving;
  moving.came(fast);
  moving.came(limits::move_rise / 2);
  EXPECT_EQ(moving.rate(), begun);
}

TEST(MovePace, OneResponseThatIsLargeIsNotLateForItsSize) {
  Moving moving;
  moving.came_for(limits::move_rise, fast);
  moving.came(20 * fast, false, 20);
  EXPECT_LE(moving.wait(), 20 * each);
  moving.came(20 * fast + delay + 20 * each, false, 20);
  EXPECT_GE(moving.wait(), limits::move_yield * delay);
}

TEST(MovePace, RisesWhereEachBatchTakesLong) {
  Moving moving;
  for (int i = 0; i < 10; ++i) moving.came(limits::move_rise * 3 / 2);
  EXPECT_EQ(moving.rate(), allowed);
}

TEST(MovePace, BeginsAnewWhenNothingHasMovedForAWhile) {
  Moving moving;
  moving.came_for(limits::move_rise, fast);
  moving.now = moving.pace.next_batch(false) + 2 * limits::move_rise;
  moving.came(fast);
  EXPECT_EQ(moving.rate(), begun);
}

TEST(MovePace, WhoIsAboutToEndIsNotKeptWaiting) {
  Moving moving;
  moving.came(fast, true);
  for (int i = 0; i < 10; ++i) moving.came(late, true);
  EXPECT_EQ(moving.rate(), allowed);
  EXPECT_LE(moving.wait(), each);
}

TEST(MovePace, WhoIsAboutToEndIsNotKeptWaitingByThePauseOfAnother) {
  Moving moving;
  moving.came_for(limits::move_rise, fast);
  moving.came(Seconds{1});
  EXPECT_EQ(moving.wait(), limits::move_yield_most);
  EXPECT_LE(moving.wait(true), each);
  moving.came(fast, true);
  EXPECT_LE(moving.wait(true), each);
  EXPECT_GT(moving.wait(), limits::move_yield_most / 2) << "the others wait all the same";
}

// The way is another one since: what is the least there is learnt.
TEST(MovePace, WhatIsSlowForEverIsNotTakenForLate) {
  Moving moving;
  moving.came(fast);
  moving.came_for(limits::move_memory - late, late);
  EXPECT_EQ(moving.wait(), limits::move_yield * delay);
  moving.came_for(limits::move_memory + 2 * limits::move_rise, late);
  EXPECT_LE(moving.wait(), each);
  EXPECT_EQ(moving.rate(), allowed);
}

TEST(MovePace, AsksForTheNextBatchWhenTheLastIsPaidFor) {
  Moving moving;
  moving.came_for(limits::move_rise, fast);
  for (int i = 0; i < 1'000; ++i) moving.pace.came(size, fast, allowed, false, moving.now);
  EXPECT_GT(moving.wait(), 900 * each) << "a thousand at once take their time";

  moving.now += Seconds{60};
  moving.came(fast);
  const microseconds most = limits::move_begin_divisor * each;
  EXPECT_LE(moving.wait(), most);
  EXPECT_GE(moving.wait(), -5 * limits::deadline_tick) << "nothing is saved up";
}

}  // namespace
}  // namespace ringside::cache
