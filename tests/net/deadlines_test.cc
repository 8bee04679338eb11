#include "net/deadlines.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "base/limits.h"

namespace ringside::net {
namespace {

constexpr SteadyPoint wheel_start{Milliseconds{5'000}};

// Remembers when it was broken off.
class Probe final : public Deadline {
 public:
  Probe(Deadlines& wheel, const SteadyPoint& now) : Deadline(wheel), now_(now) {}
  std::vector<SteadyPoint> expired;
  SteadyPoint again{};  // set anew to this when it expires

 private:
  void expire() noexcept override {
    EXPECT_FALSE(armed());
    expired.push_back(now_);
    if (again != SteadyPoint{}) set(std::exchange(again, SteadyPoint{}));
  }
  const SteadyPoint& now_;
};

class DeadlinesTest : public testing::Test {
 protected:
  void pass(Milliseconds by) {
    now_ += by;
    wheel_.advance(now_);
  }
  SteadyPoint now_ = wheel_start;
  Deadlines wheel_{wheel_start};
};

TEST_F(DeadlinesTest, ExpiresOnceAndNeverEarly) {
  Probe probe(wheel_, now_);
  EXPECT_FALSE(probe.armed());
  probe.set(wheel_start + Milliseconds{100});
  EXPECT_TRUE(probe.armed());
  EXPECT_EQ(probe.at(), wheel_start + Milliseconds{100});
  pass(Milliseconds{99});
  EXPECT_TRUE(probe.expired.empty());
  pass(limits::deadline_tick);
  EXPECT_EQ(probe.expired.size(), 1U);
  EXPECT_FALSE(probe.armed());
  pass(Milliseconds{100'000});
  EXPECT_EQ(probe.expired.size(), 1U);
}

TEST_F(DeadlinesTest, TellWhenTheyAreNextOfUse) {
  int earlier = 0;
  Deadlines wheel(wheel_start, [&] { ++earlier; });
  const SteadyPoint after_a_turn = wheel.next();
  EXPECT_GT(after_a_turn, wheel_start + Seconds{80});
  Probe probe(wheel, now_);
  probe.set(wheel_start + Milliseconds{100});
  EXPECT_EQ(earlier, 1);
  EXPECT_EQ(wheel.next(), wheel_start + Milliseconds{100});
  Probe later(wheel, now_);
  later.set(wheel_start + Milliseconds{500});
  probe.set(wheel_start + Milliseconds{300});  // it stays where it is until its old time comes
  EXPECT_EQ(earlier, 1);
  EXPECT_EQ(wheel.next(), wheel_start + Milliseconds{100});
  wheel.advance(wheel_start + Milliseconds{100});
  EXPECT_EQ(wheel.next(), wheel_start + Milliseconds{300});
  wheel.advance(wheel_start + Milliseconds{300});
  EXPECT_EQ(probe.expired.size(), 1U);
  EXPECT_EQ(wheel.next(), wheel_start + Milliseconds{500});
}

TEST_F(DeadlinesTest, NobodyIsToldOfAnEarlierOneTwice) {
  int earlier = 0;
  Deadlines wheel(wheel_start, [&] { ++earlier; });
  static_cast<void>(wheel.next());
  Probe first(wheel, now_);
  Probe second(wheel, now_);
  first.set(wheel_start + Milliseconds{200});
  second.set(wheel_start + Milliseconds{100});
  EXPECT_EQ(earlier, 1);
}

TEST_F(DeadlinesTest, MayMoveBothWaysAndBeCleared) {
  Probe later(wheel_, now_);
  later.set(wheel_start + Milliseconds{100});
  later.set(wheel_start + Milliseconds{500});
  Probe sooner(wheel_, now_);
  sooner.set(wheel_start + Milliseconds{500});
  sooner.set(wheel_start + Milliseconds{100});
  Probe cleared(wheel_, now_);
  cleared.set(wheel_start + Milliseconds{100});
  cleared.clear();
  Probe set_again(wheel_, now_);
  set_again.set(wheel_start + Milliseconds{100});
  set_again.clear();
  set_again.set(wheel_start + Milliseconds{300});
  pass(Milliseconds{120});
  EXPECT_EQ(later.expired.size(), 0U);
  EXPECT_EQ(sooner.expired.size(), 1U);
  EXPECT_EQ(set_again.expired.size(), 0U);
  pass(Milliseconds{200});
  EXPECT_EQ(set_again.expired.size(), 1U);
  pass(Milliseconds{200});
  EXPECT_EQ(later.expired.size(), 1U);
  EXPECT_EQ(cleared.expired.size(), 0U);
}

TEST_F(DeadlinesTest, OneThatHasPassedExpiresAtTheNextTick) {
  pass(Milliseconds{1'000});
  Probe probe(wheel_, now_);
  probe.set(wheel_start);
  EXPECT_TRUE(probe.expired.empty());
  pass(limits::deadline_tick);
  EXPECT_EQ(probe.expired.size(), 1U);
}

TEST_F(DeadlinesTest, MayBeSetAnewWhileItExpires) {
  Probe probe(wheel_, now_);
  probe.set(wheel_start + Milliseconds{100});
  probe.again = wheel_start + Milliseconds{200};
  pass(Milliseconds{110});
  EXPECT_TRUE(probe.armed());
  pass(Milliseconds{110});
  EXPECT_EQ(probe.expired.size(), 2U);
  probe.set(now_ + Milliseconds{100});
  probe.again = wheel_start;  // long gone: at the next tick, not in an endless loop
  pass(Milliseconds{120});
  pass(Milliseconds{20});
  EXPECT_EQ(probe.expired.size(), 4U);
}

TEST_F(DeadlinesTest, OneThatEndsIsForgotten) {
  auto probe = std::make_unique<Probe>(wheel_, now_);
  Probe neighbour(wheel_, now_);
  probe->set(wheel_start + Milliseconds{100});
  neighbour.set(wheel_start + Milliseconds{100});
  probe.reset();
  pass(Milliseconds{200});
  EXPECT_EQ(neighbour.expired.size(), 1U);
}

TEST_F(DeadlinesTest, GoesRoundForLateOnes) {
  Probe late(wheel_, now_);
  const Milliseconds in{10 * 60'000};  // more than seven turns of the wheel
  late.set(wheel_start + in);
  for (Milliseconds passed{0}; passed < in; passed += Milliseconds{1'000}) {
    EXPECT_TRUE(late.expired.empty()) << passed.count();
    pass(Milliseconds{1'000});
  }
  pass(limits::deadline_tick);
  EXPECT_EQ(late.expired.size(), 1U);
}

TEST_F(DeadlinesTest, ALongPauseMissesNone) {
  std::vector<std::unique_ptr<Probe>> probes;
  for (unsigned index = 0; index < 1'000; ++index) {
    probes.push_back(std::make_unique<Probe>(wheel_, now_));
    probes.back()->set(wheel_start + Milliseconds{index * 997});
  }
  pass(Milliseconds{500'000});
  pass(Milliseconds{600'000});
  for (const auto& probe : probes) EXPECT_EQ(probe->expired.size(), 1U);
}

// Against what it should do, with every kind of move.
TEST_F(DeadlinesTest, AgreesWithASimpleModelOverRandomMoves) {
  std::mt19937 random(11);
  const auto up_to = [&random](unsigned most) { return Milliseconds{random() % most}; };
  std::vector<std::unique_ptr<Probe>> probes;
  for (unsigned index = 0; index < 100; ++index) {
    probes.push_back(std::make_unique<Probe>(wheel_, now_));
  }
  for (unsigned step = 0; step < 4'000; ++step) {
    Probe& probe = *probes[random() % probes.size()];
    const auto dice = random() % 10;
    if (dice < 6) probe.set(now_ + up_to(dice < 3 ? 300 : 200'000));
    if (dice == 6) probe.clear();
    const SteadyPoint before = now_;
    pass(dice == 9 && step % 50 == 0 ? up_to(300'000) : up_to(100));
    for (const auto& each : probes) {
      ASSERT_TRUE(!each->armed() || each->at() + limits::deadline_tick * 2 > now_) << step;
      for (const SteadyPoint at : each->expired) {
        ASSERT_GE(at, each->at());  // never early
        ASSERT_GE(at, before);
      }
      each->expired.clear();
    }
  }
}

}  // namespace
}  // namespace ringside::net
