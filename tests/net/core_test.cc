#include "net/core.h"

#include <gtest/gtest.h>

#include "tests/support/fake_clock.h"
#include "tests/support/on_core.h"

namespace ringside::net {
namespace {

TEST(Core, WhatIsDecidedInATurnIsDecidedAtOneTime) {
  support::FakeClock clock;
  CoreGroup cores("test", 1, clock);
  cores.start();
  Core& core = cores[0];
  support::run_on(core, [&]() -> Task<void> {
    const SteadyPoint began = core.steady_now();
    const TimePoint wall = core.now();
    const TimePoint resident = core.resident_now();
    clock.advance(Seconds{5});
    EXPECT_EQ(core.steady_now(), began);
    EXPECT_EQ(core.now(), wall);
    EXPECT_EQ(core.resident_now(), resident);
    EXPECT_EQ(core.clock().steady_now(), began + Seconds{5});
    co_await support::NextTurn(core);
    EXPECT_EQ(core.steady_now(), began + Seconds{5});
    EXPECT_EQ(core.now(), wall + Seconds{5});
    EXPECT_EQ(core.resident_now(), resident + Seconds{5});
  });
}

TEST(Core, OutsideOfItsTurnsTheTimeIsReadEachTime) {
  support::FakeClock clock;
  CoreGroup cores("test", 1, clock);
  const SteadyPoint began = cores[0].steady_now();
  clock.advance(Seconds{5});
  EXPECT_EQ(cores[0].steady_now(), began + Seconds{5});
}

}  // namespace
}  // namespace ringside::net
