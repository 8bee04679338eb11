#include "base/log_folding.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/limits.h"

namespace ringside::log {
namespace {

constexpr SteadyPoint start{std::chrono::seconds{1'000}};
constexpr auto interval = limits::log_fold_interval;

// How many of so many like lines are written.
std::size_t written(Folding& folding, std::size_t count, std::string_view text, SteadyPoint now) {
  std::size_t lines = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (folding.is_written(Level::warning, text, now)) ++lines;
  }
  return lines;
}

TEST(LogFolding, SomeOfLikeLinesAreWrittenAndTheOthersCountedOnce) {
  Folding folding;
  EXPECT_EQ(written(folding, limits::log_same_lines + 7, "away", start), limits::log_same_lines);
  EXPECT_TRUE(folding.due(start + interval - Milliseconds{1}).empty());
  const auto folded = folding.due(start + interval);
  ASSERT_EQ(folded.size(), 1U);
  EXPECT_EQ(folded[0].text, "away");
  EXPECT_EQ(folded[0].level, Level::warning);
  EXPECT_EQ(folded[0].count, 7U);
  EXPECT_TRUE(folding.due(start + 2 * interval).empty());
}

TEST(LogFolding, LinesThatTakeTurnsAreFoldedToo) {
  Folding folding;
  for (std::size_t i = 0; i < limits::log_same_lines + 2; ++i) {
    EXPECT_EQ(written(folding, 1, "away", start), i < limits::log_same_lines ? 1U : 0U);
    EXPECT_EQ(written(folding, 1, "back", start), i < limits::log_same_lines ? 1U : 0U);
  }
  EXPECT_EQ(folding.rest().size(), 2U);
}

TEST(LogFolding, AFewLikeLinesTellNothingMore) {
  Folding folding;
  EXPECT_EQ(written(folding, limits::log_same_lines, "purged", start), limits::log_same_lines);
  EXPECT_TRUE(folding.due(start + interval).empty());
  EXPECT_EQ(written(folding, 1, "purged", start + interval), 1U);
}

TEST(LogFolding, MoreTextsThanItKnowsAreAllWritten) {
  Folding folding;
  const auto text = [](std::size_t number) { return fmt::format("text {}", number); };
  for (std::size_t i = 0; i < limits::log_folded_texts; ++i) {
    EXPECT_EQ(written(folding, limits::log_same_lines + 1, text(i), start), limits::log_same_lines);
  }
  EXPECT_EQ(written(folding, limits::log_same_lines + 1, "one more", start),
            limits::log_same_lines + 1);
  EXPECT_EQ(folding.rest().size(), limits::log_folded_texts) << "nothing that was counted is lost";
}

TEST(LogFolding, WhatHasNothingToTellMakesRoom) {
  Folding folding;
  for (std::size_t i = 0; i < 2 * limits::log_folded_texts; ++i) {
    EXPECT_TRUE(folding.is_written(Level::info, fmt::format("text {}", i), start));
  }
  EXPECT_EQ(written(folding, limits::log_same_lines + 1, "last", start), limits::log_same_lines);
}

}  // namespace
}  // namespace ringside::log
