#include "base/seldom.h"

#include <gtest/gtest.h>

namespace ringside::log {
namespace {

TEST(Seldom, LetsOneThroughInAWhileAndCountsTheOthers) {
  Seldom seldom(Milliseconds{100});
  const SteadyPoint start{Seconds{1}};
  EXPECT_EQ(seldom.next(start), 0U);
  EXPECT_EQ(seldom.next(start), std::nullopt);
  EXPECT_EQ(seldom.next(start + Milliseconds{99}), std::nullopt);
  EXPECT_EQ(seldom.next(start + Milliseconds{100}), 2U);
  EXPECT_EQ(seldom.next(start + Milliseconds{199}), std::nullopt);
  EXPECT_EQ(seldom.next(start + Milliseconds{500}), 1U);
  EXPECT_EQ(seldom.next(start + Milliseconds{600}), 0U);
}

}  // namespace
}  // namespace ringside::log
