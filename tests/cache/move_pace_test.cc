#include "cache/move_pace.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/limits.h"

namespace ringside::cache {
namespace {

using std::chrono::microseconds;

constexpr std::size_t allowed = 100 * limits::kMiB;
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
  [[nodiscard]] std::size_t rate() const { return pace.rate_bytes_s(allowed); }

  MovePace pace;
  SteadyPoint now{Seconds{1'000}};
};

TEST(MovePace, IsAllThatIsAllowedWhereNobodyWaits) {
  Moving moving;
  moving.came_often(fast, 100);
  EXPECT_EQ(moving.rate(), allowed);
  moving.came_often(fast + limits::move_delay, 100);
  EXPECT_EQ(moving.rate(), allowed);
}

TEST(MovePace, IsHalvedByWhatComesLateAndComesBackLittleByLittle) {
  Moving moving;
  moving.came(fast);
  moving.came(late);
  EXPECT_EQ(moving.rate(), allowed / 2);
  moving.came_often(late, 10);
  EXPECT_EQ(moving.rate(), allowed / limits::move_slowest_divisor) << "it does end";
  moving.came(fast);
  EXPECT_EQ(moving.rate(), 2 * allowed / limits::move_slowest_divisor);
  moving.came_often(fast, 100);
  EXPECT_EQ(moving.rate(), allowed);
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
  moving.came_often(late, 2'000);
  EXPECT_EQ(moving.rate(), allowed);
}

TEST(MovePace, AsksForTheNextBatchWhenTheLastIsPaidFor) {
  Moving moving;
  moving.came_often(fast, 1'000);
  const auto busy = moving.pace.next_batch() - moving.now;
  const auto each = microseconds(size * 1'000'000 / allowed);
  EXPECT_GT(busy, 900 * (each - fast)) << "a thousand at once take their time";

  moving.now += Seconds{60};
  moving.came(fast);
  EXPECT_LE(moving.pace.next_batch(), moving.now + each) << "nothing is saved up";
}

}  // namespace
}  // namespace ringside::cache
