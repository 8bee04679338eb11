#include "tier/holdings.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace ringside::tier {
namespace {

Holdings some_holdings() {
  Holdings holdings{{77, 3}, std::vector<Epoch>(shard::bucket_count)};
  for (const std::size_t bucket : {0U, 1U, 2U, 9U, 16'383U}) holdings.epochs[bucket] = 1;
  holdings.epochs[3] = 1'000'000'000;
  return holdings;
}

TEST(Holdings, AreReadAsTheyWereWritten) {
  const Holdings none{{1, 0}, {}};
  for (const Holdings& holdings : {none, some_holdings()}) {
    const auto read = parse_holdings(to_text(holdings));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, holdings);
  }
}

TEST(Holdings, AreALineForEachRun) {
  EXPECT_EQ(to_text(some_holdings()),
            "00000000000000000077 3\n"
            "0 2 1\n"
            "3 3 1000000000\n"
            "9 9 1\n"
            "16383 16383 1\n");
}

TEST(Holdings, MereCopiesHaveNoEpoch) {
  Holdings holdings = some_holdings();
  holdings.copies.resize(shard::bucket_count);
  for (const std::size_t bucket : {4U, 5U, 8U}) holdings.copies[bucket] = true;
  holdings.is_draining = true;
  holdings.leavers = {{"cache-9", {"10.0.0.9", 80}}, {"b", {"::1", 81}}};
  EXPECT_EQ(to_text(holdings),
            "00000000000000000077 3\n"
            "draining\n"
            "leaver cache-9 10.0.0.9:80\n"
            "leaver b [::1]:81\n"
            "0 2 1\n"
            "3 3 1000000000\n"
            "4 5 0\n"
            "8 8 0\n"
            "9 9 1\n"
            "16383 16383 1\n");
  const auto read = parse_holdings(to_text(holdings));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, holdings);
  EXPECT_TRUE(read->has(4) && read->has(3));
  EXPECT_FALSE(read->has(7));
}

TEST(Holdings, WhoHoldsNothingSaysSo) {
  Holdings holdings{{1, 2}, std::vector<Epoch>(shard::bucket_count)};
  const auto read = parse_holdings(to_text(holdings));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->version, holdings.version);
  EXPECT_EQ(read->epoch(0), 0U);
}

TEST(Holdings, WhatIsNoneIsRefusedByItsLine) {
  struct Case {
    std::string_view text;
    std::size_t line;
  };
  const std::vector<Case> cases{
      {"", 1},
      {"1 2", 1},  // no line without its end
      {"\n", 1},
      {"0 1\n", 1},  // no incarnation
      {"1\n", 1},
      {"1 2 3\n", 1},
      {"-1 2\n", 1},
      {"18446744073709551616 1\n", 1},
      {"1 1\n1 1\n", 2},  // no epoch
      {"1 1\n1 1 -1\n", 2},
      {"1 1\n1 1 1\ndraining\n", 3},
      {"1 1\nDraining\n", 2},
      {"1 1\nleaver a\n", 2},
      {"1 1\nleaver a h\n", 2},
      {"1 1\nleaver  h:1\n", 2},
      {"1 1\n1 1 1\nleaver a h:1\n", 3},
      {"1 1\n1 1 1000000001\n", 2},
      {"1 1\n2 1 1\n", 2},         // backwards
      {"1 1\n0 16384 1\n", 2},     // no such bucket
      {"1 1\n0 1 1\n1 2 1\n", 3},  // twice
      {"1 1\n5 5 1\n4 4 1\n", 3},  // out of order
      {"1 1\n0 1 1 \n", 2},
      {"1 1\n 0 1 1\n", 2},
      {"1 1\n0 1 1\nx", 3},
  };
  for (const Case& one : cases) {
    const auto read = parse_holdings(one.text);
    ASSERT_FALSE(read) << one.text;
    EXPECT_EQ(read.error().message, "holdings: line " + std::to_string(one.line) + " is none")
        << one.text;
  }
}

}  // namespace
}  // namespace ringside::tier
