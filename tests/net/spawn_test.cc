
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <thread>

#include "base/check.h"
#include "net/core.h"
#include "net/nap.h"

namespace ringside::net {
namespace {

Task<void> throws_once_resumed(Core& core) {
  co_await nap(core, SteadyPoint::duration{0});
  throw std::runtime_error("the coroutine's");
}

// Runs `work` on a core of its own; the process is to end by it.
void run_on_a_core(const std::function<void(Core&)>& work) {
  crash_on_uncaught();
  const SystemClock clock;
  CoreGroup cores("cache-7", 1, clock);
  cores.start();
  cores[0].post([&] { work(cores[0]); });
  while (true) std::this_thread::yield();
}

// One of `up`'s components that is gone is the end of all, with its name.
TEST(CrashDeathTest, WhateverEndsACoreEndsTheProcessAndNamesIt) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(run_on_a_core([](Core& core) { core.spawn(throws_once_resumed(core)); }),
              testing::KilledBySignal(SIGABRT),
              "^ringside: cache-7 ended by an exception, and all with it: the coroutine's\n$");
  EXPECT_EXIT(run_on_a_core([](Core&) { throw std::bad_alloc(); }),
              testing::KilledBySignal(SIGABRT),
              "^ringside: cache-7 ended by an exception, and all with it: std::bad_alloc\n$");
  EXPECT_EXIT(run_on_a_core([](Core&) { throw 1; }), testing::KilledBySignal(SIGABRT),
              "^ringside: cache-7 ended by an exception, and all with it: of no known type\n$");
  EXPECT_EXIT(run_on_a_core([](Core&) { RINGSIDE_CHECK(1 == 2); }),
              testing::KilledBySignal(SIGABRT),
              "^ringside: cache-7: broken invariant: 1 == 2 \\(.*\\)\n$");
}

TEST(Spawn, WhatEndsWellEndsNothing) {
  const SystemClock clock;
  CoreGroup cores("cache-7", 1, clock);
  EXPECT_FALSE(cores.running());
  cores.start();
  EXPECT_TRUE(cores.running());
  bool ran = false;
  const auto work = [&]() -> Task<void> {
    ran = true;
    co_return;
  };
  cores[0].spawn(work());
  cores.stop();
  EXPECT_TRUE(ran);
  EXPECT_FALSE(cores.running());
}

}  // namespace
}  // namespace ringside::net
