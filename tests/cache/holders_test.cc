#include "cache/holders.h"

#include <gtest/gtest.h>

#include "tests/support/fake_clock.h"
#include "tests/support/on_core.h"

namespace ringside::cache {
namespace {

// In an idle tier nothing rings for days, and who moves buckets asks each second.
TEST(Holders, WhoAsksAgainAndAgainIsWokenOnce) {
  support::FakeClock clock;
  net::CoreGroup cores("holders", 1, clock);
  cores.start();
  support::run_on(cores[0], [&]() -> Task<void> {
    Holders holders("cache-0", 1);
    net::Waiter waiter(cores[0]);
    const auto before = waiter.bell().use_count();
    for (int second = 0; second < 1'000; ++second) {
      EXPECT_TRUE(holders.givers(waiter.bell()).empty());
      EXPECT_TRUE(holders.take_calls(clock.steady_now(), waiter.bell()).due.empty());
    }
    EXPECT_EQ(waiter.bell().use_count(), before + 1);
    holders.change([](tier::Authority&) {});
    EXPECT_TRUE(co_await waiter.wait(clock.steady_now() + Milliseconds{60'000}));
  });
  cores.stop();
}

}  // namespace
}  // namespace ringside::cache
