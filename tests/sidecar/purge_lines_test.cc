#include "sidecar/purge_lines.h"

#include <gtest/gtest.h>

namespace ringside::sidecar {
namespace {

TEST(PurgeLines, ThoseInBetweenAreCounted) {
  PurgeLines lines;
  const SteadyPoint start{std::chrono::hours{1}};
  const auto interval = limits::purge_line_interval;
  EXPECT_EQ(lines.next(start), 0U);
  EXPECT_EQ(lines.next(start), std::nullopt);
  EXPECT_EQ(lines.next(start + interval - Milliseconds{1}), std::nullopt);
  EXPECT_EQ(lines.next(start + interval), 2U);
  EXPECT_EQ(lines.next(start + interval), std::nullopt);
  EXPECT_EQ(lines.next(start + 3 * interval), 1U);
  EXPECT_EQ(lines.next(start + 5 * interval), 0U);
}

}  // namespace
}  // namespace ringside::sidecar
