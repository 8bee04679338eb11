#include "net/weighted_choice.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace ringside::net {
namespace {

// The first choices, as letters; '-' where there is none.
std::string choices(WeightedChoice& choice, std::size_t count, std::span<const bool> usable) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    const auto next = choice.next(usable);
    out += next ? static_cast<char>('a' + *next) : '-';
  }
  return out;
}

TEST(WeightedChoice, SpreadsByWeightWithoutBursts) {
  struct Case {
    std::vector<std::uint32_t> weights;
    std::array<bool, 3> usable;
    std::string expected;
  };
  for (const Case& one : std::vector<Case>{
           {{1, 1, 1}, {true, true, true}, "abcabcabc"},
           {{5, 1, 1}, {true, true, true}, "aabacaaaabacaa"},  // nginx's own example
           {{1, 2, 1}, {true, true, true}, "bacbbacb"},
           {{5, 1, 1}, {false, true, true}, "bcbcbc"},
           {{5, 1, 1}, {false, false, true}, "ccc"},
           {{5, 1, 1}, {false, false, false}, "---"},
           {{1000, 1, 1000}, {true, true, false}, "aaaaaaaaaa"},
       }) {
    WeightedChoice choice(one.weights);
    EXPECT_EQ(choices(choice, one.expected.size(), one.usable), one.expected);
  }
}

TEST(WeightedChoice, GivesEachExactlyItsShareInEachRound) {
  WeightedChoice choice({3, 7, 1});
  const std::array<bool, 3> all{true, true, true};
  for (int round = 0; round < 3; ++round) {
    std::array<int, 3> counts{};
    for (const char c : choices(choice, 11, all)) ++counts[static_cast<std::size_t>(c - 'a')];
    EXPECT_EQ(counts, (std::array<int, 3>{3, 7, 1}));
  }
}

TEST(WeightedChoice, OneThatWasAwayGetsNoBurst) {
  WeightedChoice choice({1, 1});
  const std::array<bool, 2> one_alone{true, false};
  const std::array<bool, 2> both{true, true};
  EXPECT_EQ(choices(choice, 10, one_alone), "aaaaaaaaaa");
  EXPECT_EQ(choices(choice, 6, both), "ababab");
}

}  // namespace
}  // namespace ringside::net
