#include "replay/histogram.h"

#include <gtest/gtest.h>

namespace ringside::replay {
namespace {

TEST(Histogram, EmptyHasNoPercentiles) {
  const Histogram histogram;
  EXPECT_EQ(histogram.percentile_us(50), 0U);
  EXPECT_EQ(histogram.count(), 0U);
}

TEST(Histogram, SmallValuesAreExact) {
  Histogram histogram;
  for (std::uint64_t value = 1; value <= 100; ++value) histogram.add(value);
  EXPECT_EQ(histogram.percentile_us(1), 1U);
  EXPECT_EQ(histogram.percentile_us(50), 50U);
  EXPECT_EQ(histogram.percentile_us(99), 99U);
  EXPECT_EQ(histogram.percentile_us(99.5), 100U);
  EXPECT_EQ(histogram.percentile_us(100), 100U);
}

TEST(Histogram, ZeroCounts) {
  Histogram histogram;
  histogram.add(0);
  histogram.add(7);
  EXPECT_EQ(histogram.percentile_us(50), 0U);
  EXPECT_EQ(histogram.percentile_us(51), 7U);
}

TEST(Histogram, EveryValueIsFoundWithinOnePercentFromAbove) {
  for (unsigned bits = 1; bits <= 36; ++bits) {
    for (const std::uint64_t value : {(1ULL << bits) - 1, 1ULL << (bits - 1),
                                      (1ULL << bits) * 3 / 5, (1ULL << bits) * 9 / 10}) {
      Histogram histogram;
      histogram.add(value);
      const std::uint64_t found = histogram.percentile_us(50);
      EXPECT_GE(found, value);
      EXPECT_LE(static_cast<double>(found), static_cast<double>(value) * 1.01) << value;
    }
  }
}

TEST(Histogram, PercentilesOfManyValues) {
  Histogram histogram;
  for (std::uint64_t value = 1; value <= 1'000'000; ++value) histogram.add(value);
  EXPECT_NEAR(static_cast<double>(histogram.percentile_us(50)), 500'000, 5'000);
  EXPECT_NEAR(static_cast<double>(histogram.percentile_us(99)), 990'000, 9'900);
  EXPECT_EQ(histogram.count(), 1'000'000U);
}

TEST(Histogram, WhatIsBeyondTheLastBucketCountsInIt) {
  Histogram histogram;
  histogram.add(UINT64_MAX);
  EXPECT_EQ(histogram.percentile_us(50), Histogram::most_us);
}

}  // namespace
}  // namespace ringside::replay
