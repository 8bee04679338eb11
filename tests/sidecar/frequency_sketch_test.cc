#include "sidecar/frequency_sketch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/hash.h"

namespace ringside::sidecar {
namespace {

std::uint64_t key(int number) { return hash64("key " + std::to_string(number)); }

TEST(FrequencySketch, CountsUpToItsMost) {
  FrequencySketch sketch(1024);
  EXPECT_EQ(sketch.frequency(key(1)), 0U);
  for (unsigned asked = 1; asked <= 2 * FrequencySketch::most; ++asked) {
    sketch.add(key(1));
    EXPECT_EQ(sketch.frequency(key(1)), std::min(asked, FrequencySketch::most));
  }
  EXPECT_EQ(sketch.frequency(key(2)), 0U);
}

TEST(FrequencySketch, SharedCountsOnlyMakeKeysSeemMoreFrequent) {
  FrequencySketch sketch(1024);
  for (int i = 0; i < 4'000; ++i) sketch.add(key(i % 500));
  int too_high = 0;
  for (int i = 0; i < 500; ++i) {
    EXPECT_GE(sketch.frequency(key(i)), 8U);
    too_high += sketch.frequency(key(i)) > 8 ? 1 : 0;
  }
  EXPECT_LT(too_high, 100);
}

TEST(FrequencySketch, WhatWasHotLongAgoIsForgotten) {
  FrequencySketch sketch(64);
  for (int i = 0; i < 15; ++i) sketch.add(key(0));
  for (int i = 0; i < 6'400; ++i) sketch.add(key(1));
  EXPECT_LE(sketch.frequency(key(0)), 2U);
  EXPECT_GT(sketch.frequency(key(1)), 5U);
}

TEST(FrequencySketch, TheSmallestCountsAllKeysTogether) {
  FrequencySketch sketch(1);
  sketch.add(key(1));
  EXPECT_EQ(sketch.frequency(key(2)), 1U);
}

}  // namespace
}  // namespace ringside::sidecar
