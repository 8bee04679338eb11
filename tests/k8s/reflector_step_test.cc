#include "k8s/reflector_step.h"

#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <vector>

namespace ringside::k8s {
namespace {

using namespace std::chrono_literals;
using Act = Attempt::Act;

constexpr Backoff backoff{200ms, 10'000ms};
constexpr double random = 0.0;  // waits are the half of the whole

struct Row {
  Act act;
  std::optional<Failure> failure;
  bool told;
  Milliseconds lasted;
  Step next;
};

Row ok(Step next) { return {Act::list, {}, false, 0ms, next}; }
Row ends(bool told, Milliseconds lasted, Step next) { return {Act::watch, {}, told, lasted, next}; }
Row fails(Act act, FailureReason reason, Step next) {
  return {act, Failure{reason, "", {}}, false, 5ms, next};
}

void play(const std::vector<Row>& rows) {
  ReflectorSteps steps(backoff);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    const Attempt attempt{row.act, row.failure ? &*row.failure : nullptr, row.told, row.lasted};
    const Step step = steps.next(attempt, random);
    EXPECT_EQ(step.act, row.next.act) << "row " << i;
    EXPECT_EQ(step.wait.count(), row.next.wait.count()) << "row " << i;
  }
}

TEST(ReflectorStepTest, AListIsFollowedByWatchesThatFollowEachOther) {
  play({ok({Act::watch, 0ms}), ends(true, 240'000ms, {Act::watch, 0ms}),
        ends(false, 200'000ms, {Act::watch, 0ms})});
}

TEST(ReflectorStepTest, WatchesThatEndAtOnceAreNotRepeatedInAHurry) {
  play({ok({Act::watch, 0ms}), ends(false, 1ms, {Act::watch, 0ms}),
        ends(false, 1ms, {Act::watch, 99ms}), ends(false, 1ms, {Act::watch, 199ms}),
        ends(false, 1ms, {Act::watch, 399ms}),
        ends(false, 500ms, {Act::watch, 300ms}),  // the 800 ms that it should have lasted
        ends(false, 1'700ms, {Act::watch, 0ms}),  // it lasted: all is well
        ends(false, 1ms, {Act::watch, 0ms}), ends(true, 1ms, {Act::watch, 99ms}),
        ends(true, 1ms, {Act::watch, 99ms})});  // no longer: they do tell something
}

TEST(ReflectorStepTest, ABrokenWatchIsResumedAfterABackoff) {
  play({ok({Act::watch, 0ms}),
        fails(Act::watch, FailureReason::unreachable, {Act::watch, 100ms}),
        fails(Act::watch, FailureReason::unreachable, {Act::watch, 200ms}),
        fails(Act::watch, FailureReason::unreachable, {Act::watch, 400ms}),
        {Act::watch, Failure{FailureReason::unreachable, "", {}}, true, 5ms, {Act::watch, 100ms}},
        fails(Act::watch, FailureReason::unreachable, {Act::watch, 200ms}),
        {Act::watch,
         Failure{FailureReason::unreachable, "", {}},
         false,
         60'000ms,
         {Act::watch, 100ms}}});
}

TEST(ReflectorStepTest, GoneIsListedAtOnceTheFirstTimeOnly) {
  play({ok({Act::watch, 0ms}), fails(Act::watch, FailureReason::gone, {Act::list, 0ms}),
        ok({Act::watch, 0ms}), fails(Act::watch, FailureReason::gone, {Act::list, 200ms}),
        ok({Act::watch, 0ms}), fails(Act::watch, FailureReason::gone, {Act::list, 400ms}),
        ok({Act::watch, 0ms}), ends(true, 60'000ms, {Act::watch, 0ms}),
        fails(Act::watch, FailureReason::gone, {Act::list, 0ms})});
}

TEST(ReflectorStepTest, WhatMakesNoSenseIsListedAgain) {
  play({fails(Act::list, FailureReason::malformed, {Act::list, 100ms}), ok({Act::watch, 0ms}),
        fails(Act::watch, FailureReason::malformed, {Act::list, 200ms}), ok({Act::watch, 0ms}),
        fails(Act::watch, FailureReason::not_found, {Act::list, 400ms})});
}

TEST(ReflectorStepTest, RefusalsAreAskedAgainInTheSameWay) {
  for (const Act act : {Act::list, Act::watch}) {
    for (const FailureReason reason : {FailureReason::forbidden, FailureReason::unauthorized,
                                       FailureReason::throttled, FailureReason::other}) {
      std::vector<Row> rows;
      for (const Milliseconds wait :
           {100ms, 200ms, 400ms, 800ms, 1'600ms, 3'200ms, 5'000ms, 5'000ms}) {
        rows.push_back(fails(act, reason, {act, wait}));
      }
      play(rows);
    }
  }
}

TEST(ReflectorStepTest, RetryAfterIsKeptTo) {
  const Failure throttled{FailureReason::throttled, "", 7'000ms};
  play({{Act::list, throttled, false, 1ms, {Act::list, 7'000ms}},
        {Act::list, throttled, false, 1ms, {Act::list, 7'000ms}},
        ok({Act::watch, 0ms}),
        {Act::watch, throttled, false, 1ms, {Act::watch, 7'000ms}}});
}

TEST(ReflectorStepTest, AListDoesNotCureWatchesThatFail) {
  ReflectorSteps steps(backoff);
  const Failure failure{FailureReason::malformed, "", {}};
  for (unsigned i = 1; i < 10; ++i) {
    EXPECT_EQ(steps.next({Act::watch, &failure, false, 1ms}, random).act, Act::list);
    EXPECT_EQ(steps.failures(), i);
    EXPECT_EQ(steps.next({Act::list, nullptr, false, 1ms}, random), (Step{Act::watch, 0ms}));
  }
}

}  // namespace
}  // namespace ringside::k8s
