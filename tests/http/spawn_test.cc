#include "http/spawn.h"

#include <gtest/gtest.h>

#include <boost/asio/post.hpp>
#include <new>
#include <stdexcept>
#include <thread>

#include "base/check.h"
#include "http/core.h"

namespace ringside::http {
namespace {

Task<void> throws_once_resumed(Core& core) {
  Timer timer(core.executor(), Timer::time_point::min());
  co_await timer.async_wait(use_task);
  throw std::runtime_error("the coroutine's");
}

// Runs `work` on a core of its own; the process is to end by it.
void run_on_a_core(const std::function<void(Core&)>& work) {
  crash_on_uncaught();
  const SystemClock clock;
  CoreGroup cores("cache-7", 1, clock);
  cores.start();
  asio::post(cores[0].context(), [&] { work(cores[0]); });
  while (true) std::this_thread::yield();
}

// One of `up`'s components that is gone is the end of all, with its name.
TEST(CrashDeathTest, WhateverEndsACoreEndsTheProcessAndNamesIt) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(run_on_a_core([](Core& core) { spawn(core.context(), throws_once_resumed(core)); }),
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
  spawn(cores[0].context(), work());
  cores.stop();
  EXPECT_TRUE(ran);
  EXPECT_FALSE(cores.running());
}

}  // namespace
}  // namespace ringside::http
