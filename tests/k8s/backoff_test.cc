#include "k8s/backoff.h"

#include <gtest/gtest.h>

namespace ringside::k8s {
namespace {

using namespace std::chrono_literals;

constexpr Backoff backoff{200ms, 10'000ms};

TEST(BackoffTest, DoublesUpToTheMostAndIsSpread) {
  struct Case {
    unsigned earlier;
    Milliseconds least;
    Milliseconds most;
  };
  for (const Case& each : {Case{0, 100ms, 200ms}, Case{1, 200ms, 400ms}, Case{2, 400ms, 800ms},
                           Case{5, 3'200ms, 6'400ms}, Case{6, 5'000ms, 10'000ms},
                           Case{4'000'000'000, 5'000ms, 10'000ms}}) {
    EXPECT_EQ(backoff.wait(each.earlier, 0.0), each.least) << each.earlier;
    EXPECT_EQ(backoff.wait(each.earlier, 0.5), (each.least + each.most) / 2) << each.earlier;
    EXPECT_LE(backoff.wait(each.earlier, 0.999'999), each.most) << each.earlier;
    EXPECT_GE(backoff.wait(each.earlier, 0.999'999), each.most - 1ms) << each.earlier;
  }
}

TEST(BackoffTest, WhatTheServerAsksForIsNeverUndercut) {
  EXPECT_EQ(backoff.wait(0, 0.9, 30'000ms), 30'000ms);
  EXPECT_EQ(backoff.wait(0, 0.0, 1ms), 100ms);
  EXPECT_EQ(backoff.wait(10, 0.0, 0ms), 5'000ms);
}

}  // namespace
}  // namespace ringside::k8s
