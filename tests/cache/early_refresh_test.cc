#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "cache/serving.h"
#include "tests/cache/some_fields.h"
#include "tests/cache/some_freshness.h"
#include "tests/support/fake_clock.h"

namespace ringside::cache {
namespace {

// When `stored` begins to be refreshed, to the millisecond: the first moment of those at which it
// is.
Milliseconds begin_of_refresh(const Freshness& stored, std::uint64_t key_hash, unsigned percent) {
  Milliseconds before{-1};
  Milliseconds at_last = stored.lifetime - stored.initial_age - Milliseconds{1};
  while (at_last - before > Milliseconds{1}) {
    const Milliseconds middle = (before + at_last) / 2;
    const bool begun = refreshes_early(stored, key_hash, percent, stored.received + middle);
    (begun ? at_last : before) = middle;
  }
  return at_last;
}

TEST(RefreshesEarly, WithinTheLastPartOfTheLifetimeAndNotBefore) {
  const Freshness stored = stored_with("max-age=100");
  for (std::uint64_t key_hash = 0; key_hash < 200; ++key_hash) {
    EXPECT_FALSE(refreshes_early(stored, key_hash, 20, received + Milliseconds{79'999}));
    EXPECT_TRUE(refreshes_early(stored, key_hash, 20, received + Milliseconds{99'999}));
    EXPECT_FALSE(refreshes_early(stored, key_hash, 20, received + Seconds{100}));  // stale
    EXPECT_FALSE(refreshes_early(stored, key_hash, 0, received + Milliseconds{99'999}));
    EXPECT_FALSE(refreshes_early(stored, key_hash, 20, received - Seconds{5}));
  }
}

TEST(RefreshesEarly, OnceBegunItDoesNotEndBeforeTheLifetime) {
  const Freshness stored = stored_with("max-age=10");
  for (std::uint64_t key_hash = 0; key_hash < 50; ++key_hash) {
    for (Milliseconds passed = begin_of_refresh(stored, key_hash, 50); passed < Seconds{10};
         passed += Milliseconds{100}) {
      EXPECT_TRUE(refreshes_early(stored, key_hash, 50, received + passed));
    }
  }
}

TEST(RefreshesEarly, KeysStoredTogetherAreSpreadOverTheWholeWindow) {
  const Freshness stored = stored_with("max-age=100");
  std::vector<int> tenths(10);
  for (std::uint64_t key_hash = 0; key_hash < 1000; ++key_hash) {
    const Milliseconds begin = begin_of_refresh(stored, key_hash, 20);
    ++tenths.at(static_cast<std::size_t>((begin - Seconds{80}) / Seconds{2}));
  }
  for (const int keys : tenths) {
    EXPECT_GT(keys, 60);
    EXPECT_LT(keys, 140);
  }
}

TEST(RefreshesEarly, TheSameKeyBeginsElsewhereNextTime) {
  Freshness stored = stored_with("max-age=100");
  const auto first = begin_of_refresh(stored, 7, 50);
  EXPECT_EQ(begin_of_refresh(stored, 7, 50), first);
  stored.received += Milliseconds{1};
  EXPECT_NE(begin_of_refresh(stored, 7, 50), first);
}

TEST(RefreshesEarly, NotWhatDoesNotChangeOrIsValidatedAnyway) {
  for (const std::string_view never :
       {"max-age=100, immutable", "max-age=100, no-cache", "max-age=0", "", "no-cache"}) {
    EXPECT_FALSE(refreshes_early(stored_with(never), 1, 100, received + Milliseconds{99'999}))
        << never;
  }
  for (const std::string_view also : {"max-age=100, must-revalidate", "s-maxage=100"}) {
    EXPECT_TRUE(refreshes_early(stored_with(also), 1, 100, received + Milliseconds{99'999}))
        << also;
  }
}

TEST(RefreshesEarly, WhatComesOldIsNotRefreshedAtOnce) {
  const auto fields = fields_of({{"Cache-Control", "max-age=100"}, {"Age", "90"}});
  const Rules rules;
  const auto directives = effective_directives(fields, rules);
  const auto stored = freshness_of({200, fields, directives, {received, received}, rules});
  for (std::uint64_t key_hash = 0; key_hash < 200; ++key_hash) {
    EXPECT_FALSE(refreshes_early(stored, key_hash, 20, received + Milliseconds{7'999}));
    EXPECT_TRUE(refreshes_early(stored, key_hash, 20, received + Milliseconds{9'999}));
  }
}

TEST(RefreshesEarly, ExtremesDoNotOverflow) {
  const Freshness longest = stored_with("max-age=99999999999");
  EXPECT_FALSE(refreshes_early(longest, 1, 1, received + Seconds{1}));
  EXPECT_TRUE(refreshes_early(longest, 1, 1, received + Seconds{2'147'483'647}));
  EXPECT_TRUE(refreshes_early(longest, 1, 4'000'000'000, received + Seconds{2'147'483'647}));
}

}  // namespace
}  // namespace ringside::cache
