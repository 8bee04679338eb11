#include "shard/member.h"

#include <gtest/gtest.h>

#include <compare>
#include <random>
#include <vector>

#include "base/limits.h"

namespace ringside::shard {
namespace {

TEST(NaturalOrder, ComparesRunsOfDigitsAsNumbers) {
  const std::vector<std::string> sorted = {
      "",
      "1",
      "2",
      "10",
      "10a",
      "a",
      "a-1",
      "a0",
      "a00",
      "a01",
      "a1",
      "a1b",
      "a2",
      "cache",
      "cache-",
      "cache-0",
      "cache-2",
      "cache-9",
      "cache-10",
      "cache-11",
      "cache-100",
      "cache-99999999999999999999999999",
      "cache-100000000000000000000000000",
      "cache-a",
      "caché-1",
  };
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    for (std::size_t j = 0; j < sorted.size(); ++j) {
      EXPECT_TRUE(natural_order(sorted[i], sorted[j]) == (i <=> j))
          << sorted[i] << " " << sorted[j];
    }
  }
}

// A sort needs an order without circles; leading zeros are where one could hide.
TEST(NaturalOrder, IsTotal) {
  std::mt19937_64 dice(20);
  std::vector<std::string> names;
  for (int i = 0; i < 60; ++i) {
    std::string& name = names.emplace_back();
    for (std::size_t size = dice() % 6; size > 0; --size) name.push_back("01a-"[dice() % 4]);
  }
  for (const auto& a : names) {
    for (const auto& b : names) {
      EXPECT_EQ(std::is_eq(natural_order(a, b)), a == b) << a << " " << b;
      EXPECT_EQ(std::is_lt(natural_order(a, b)), std::is_gt(natural_order(b, a))) << a << " " << b;
      for (const auto& c : names) {
        if (std::is_lt(natural_order(a, b)) && std::is_lt(natural_order(b, c))) {
          EXPECT_TRUE(std::is_lt(natural_order(a, c))) << a << " " << b << " " << c;
        }
      }
    }
  }
}

// What both begin with is skipped, eight bytes at once.
TEST(NaturalOrder, IsThatOfWhatStandsBehindACommonBeginning) {
  std::mt19937_64 dice(21);
  for (int i = 0; i < 20'000; ++i) {
    std::string a;
    std::string b;
    for (std::size_t size = dice() % 12; size > 0; --size) a.push_back("01a-"[dice() % 4]);
    for (std::size_t size = dice() % 12; size > 0; --size) b.push_back("01a-"[dice() % 4]);
    std::string common;
    for (std::size_t size = dice() % 20; size > 0; --size) common.push_back("01a-"[dice() % 4]);
    common.push_back('-');  // or a number would begin in it
    EXPECT_EQ(natural_order(common + a, common + b), natural_order(a, b))
        << common << a << " " << b;
  }
}

TEST(Member, HasANameThatCanStandEverywhere) {
  for (const std::string name : {"cache-0", "10.0.0.1:8080", "[::1]:80", "a_b.c", "\"", "x"}) {
    EXPECT_TRUE(check_member_name(name)) << name;
  }
  EXPECT_TRUE(check_member_name(std::string(limits::member_name_size_bytes, 'a')));
  EXPECT_FALSE(check_member_name(std::string(limits::member_name_size_bytes + 1, 'a')));
  for (const std::string& name : {std::string(), std::string("a b"), std::string("a\n"),
                                  std::string("a\0", 2), std::string("é"), std::string("\x7f")}) {
    EXPECT_FALSE(check_member_name(name)) << name;
  }
}

TEST(Member, HasAWeightAndPerhapsAZone) {
  EXPECT_TRUE(check_member_weight(0));
  EXPECT_TRUE(check_member_weight(1));
  EXPECT_TRUE(check_member_weight(limits::member_weight));
  EXPECT_FALSE(check_member_weight(limits::member_weight + 1));
  EXPECT_TRUE(check_member_weights(0, 0));
  EXPECT_TRUE(check_member_weights(2, 1));
  EXPECT_TRUE(check_member_weights(17, limits::topology_weight));
  EXPECT_FALSE(check_member_weights(17, limits::topology_weight + 1));
  EXPECT_FALSE(check_member_weights(1, 0));
  EXPECT_TRUE(check_member_zone(""));
  EXPECT_TRUE(check_member_zone("eu-central-1a"));
  EXPECT_TRUE(check_member_zone(std::string(limits::member_zone_size_bytes, 'z')));
  EXPECT_FALSE(check_member_zone(std::string(limits::member_zone_size_bytes + 1, 'z')));
  EXPECT_FALSE(check_member_zone("a b"));
}

}  // namespace
}  // namespace ringside::shard
