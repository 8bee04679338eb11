#include "net/waiter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "net/nap.h"
#include "tests/support/fake_clock.h"
#include "tests/support/on_core.h"
#include "tests/support/scripted_peer.h"

namespace ringside::net {
namespace {

using support::eventually;
using support::run_on;
using support::start_on;

class WaiterTest : public testing::Test {
 protected:
  WaiterTest() { cores_.start(); }
  ~WaiterTest() override { cores_.stop(); }
  SteadyPoint far() { return clock_.steady_now() + Milliseconds{60'000}; }

  support::FakeClock clock_;
  CoreGroup cores_{"waiter", 2, clock_};
};

TEST_F(WaiterTest, IsWokenFromAnyThread) {
  std::shared_ptr<Waiter::Bell> bell;
  std::atomic<bool> ready{false};
  bool woken = false;
  auto end = start_on(cores_[0], [&]() -> Task<void> {
    Waiter waiter(cores_[0]);
    bell = waiter.bell();
    ready = true;
    woken = co_await waiter.wait(far());
  });
  ASSERT_TRUE(eventually([&] { return ready.load(); }));
  bell->wake();
  end.get();
  EXPECT_TRUE(woken);
  bell->wake();  // it has gone: nobody hears
}

TEST_F(WaiterTest, AWakeBeforeTheWaitIsNotLost) {
  bool first = false;
  bool second = true;
  run_on(cores_[0], [&]() -> Task<void> {
    Waiter waiter(cores_[0]);
    Waiter other(cores_[0]);
    waiter.bell()->wake();
    other.bell()->wake();
    co_await other.wait(far());  // by now the first was rung, too
    first = co_await waiter.wait(far());
    // and one wake is for one wait
    clock_.advance(Milliseconds{60'000});
    second = co_await waiter.wait(clock_.steady_now());
  });
  EXPECT_TRUE(first);
  EXPECT_FALSE(second);
}

TEST_F(WaiterTest, GivesUpAtItsDeadline) {
  std::atomic<bool> ready{false};
  bool woken = true;
  auto end = start_on(cores_[0], [&]() -> Task<void> {
    Waiter waiter(cores_[0]);
    ready = true;
    woken = co_await waiter.wait(far());
  });
  ASSERT_TRUE(eventually([&] { return ready.load(); }));
  EXPECT_TRUE(eventually([&] {
    clock_.advance(Milliseconds{60'001});
    return end.wait_for(Milliseconds{1}) == std::future_status::ready;
  }));
  EXPECT_FALSE(woken);
}

TEST_F(WaiterTest, EndsWithItsCoreAndDoesNotWaitAfter) {
  std::atomic<bool> ready{false};
  bool woken = true;
  bool woken_after = true;
  auto end = start_on(cores_[0], [&]() -> Task<void> {
    Waiter waiter(cores_[0]);
    ready = true;
    woken = co_await waiter.wait(far());
    woken_after = co_await waiter.wait(far());
    Waiter late(cores_[0]);
    woken_after = woken_after || co_await late.wait(far());
  });
  ASSERT_TRUE(eventually([&] { return ready.load(); }));
  cores_.stop();
  end.get();
  EXPECT_FALSE(woken);
  EXPECT_FALSE(woken_after);
}

TEST_F(WaiterTest, NoWakeIsLostBetweenTwoCoresAndAThread) {
  constexpr int rounds = 2'000;
  std::shared_ptr<Waiter::Bell> bells[2];
  std::atomic<int> ready{0};
  std::atomic<int> turn{0};
  std::vector<std::future<void>> ends;
  for (int side = 0; side < 2; ++side) {
    Core& core = cores_[static_cast<std::size_t>(side)];
    ends.push_back(start_on(core, [&, side]() -> Task<void> {
      Waiter waiter(core);
      bells[side] = waiter.bell();
      ready.fetch_add(1);
      Waiter pause(core);
      while (ready < 2) {
        pause.bell()->wake();
        co_await pause.wait(far());
      }
      for (int round = 0; round < rounds; ++round) {
        while (turn.load() != round * 2 + side) co_await waiter.wait(far());
        turn.fetch_add(1);
        bells[1 - side]->wake();
      }
    }));
  }
  for (auto& end : ends) end.get();
  EXPECT_EQ(turn.load(), rounds * 2);
}

TEST(CoreGroup, RunsWorkOnEveryCoreBeforeWhileAndAfterItRuns) {
  const support::FakeClock clock;
  CoreGroup cores("group", 3, clock);
  std::vector<std::thread::id> threads(3);
  const auto note = [&](Core& core) { threads[core.index()] = std::this_thread::get_id(); };
  cores.on_each(note);
  EXPECT_EQ(threads[2], std::this_thread::get_id());
  cores.start();
  cores.on_each(note);
  EXPECT_NE(threads[0], std::this_thread::get_id());
  EXPECT_NE(threads[0], threads[1]);
  EXPECT_NE(threads[1], threads[2]);
  cores.stop();
  cores.stop();
  cores.on_each(note);
  EXPECT_EQ(threads[1], std::this_thread::get_id());
  cores.on_each([](Core& core) { EXPECT_TRUE(core.stopped() && core.draining()); });
}

TEST(CoreGroup, OneThatWasNeverStartedEnds) {
  const support::FakeClock clock;
  CoreGroup cores("group", 2, clock);
}

TEST_F(WaiterTest, ANapGoesByTheClockOfTheCore) {
  const SteadyPoint until = clock_.steady_now() + Milliseconds{60'000};
  std::atomic<bool> began{false};
  auto end = start_on(cores_[0], [&]() -> Task<void> {
    began = true;
    co_await nap_until(cores_[0], until);
    EXPECT_GE(clock_.steady_now(), until);
  });
  ASSERT_TRUE(eventually([&] { return began.load(); }));
  clock_.advance(Milliseconds{60'000});
  end.get();
}

TEST_F(WaiterTest, ANapEndsWithTheCore) {
  std::atomic<bool> began{false};
  auto end = start_on(cores_[0], [&]() -> Task<void> {
    began = true;
    co_await nap_until(cores_[0], far());
  });
  ASSERT_TRUE(eventually([&] { return began.load(); }));
  cores_.stop();
  end.get();
  EXPECT_LT(clock_.steady_now(), far());
}

}  // namespace
}  // namespace ringside::net
