#include "cache/flight_table.h"

#include <gtest/gtest.h>

#include "base/limits.h"

namespace ringside::cache {
namespace {

TEST(FlightTable, HasOneFlightForAKeyAndVariant) {
  FlightTable table;
  const CacheKey key{"k", 1, 1};
  const auto first = table.join(key, "", 5);
  EXPECT_TRUE(first.leads);
  EXPECT_EQ(first.flight->purges_seen(), 5U);
  const auto second = table.join(key, "", 6);
  EXPECT_FALSE(second.leads);
  EXPECT_EQ(second.flight, first.flight);
  EXPECT_TRUE(table.join(key, "accept:x,\n", 5).leads);
  EXPECT_TRUE(table.join({"other", 5, 1}, "", 5).leads);
  EXPECT_EQ(table.size(), 3U);
  table.leave(*first.flight);
  table.leave(*first.flight);
  EXPECT_EQ(table.size(), 2U);
  EXPECT_TRUE(table.join(key, "", 5).leads);
}

TEST(FlightTable, AForgottenFlightLeavesNoOtherOut) {
  FlightTable table;
  const CacheKey key{"k", 1, 1};
  const auto before = table.join(key, "", 0);
  table.forget_all();
  EXPECT_EQ(table.size(), 0U);
  const auto after = table.join(key, "", 1);
  EXPECT_TRUE(after.leads);
  EXPECT_NE(after.flight, before.flight);
  table.leave(*before.flight);
  EXPECT_EQ(table.join(key, "", 1).flight, after.flight);
  EXPECT_EQ(table.size(), 1U);
}

TEST(FlightTable, ForgettingAKeyOutdatesAllItsVariants) {
  FlightTable table;
  const CacheKey key{"k", 1, 1};
  const auto plain = table.join(key, "", 0);
  const auto variant = table.join(key, "accept:x,\n", 0);
  const auto other = table.join({"other", 5, 1}, "", 0);
  table.forget_uri(key);
  EXPECT_TRUE(plain.flight->outdated());
  EXPECT_TRUE(variant.flight->outdated());
  EXPECT_FALSE(other.flight->outdated());
  EXPECT_EQ(table.size(), 1U);
  EXPECT_TRUE(table.join(key, "", 0).leads);
}

TEST(FlightTable, AFullTableLetsRequestsGoAlone) {
  FlightTable table;
  for (std::size_t index = 0; index < limits::flights_per_store; ++index) {
    ASSERT_TRUE(table.join({std::to_string(index), index}, "", 0).leads);
  }
  EXPECT_EQ(table.join({"one more", 1}, "", 0).flight, nullptr);
  table.forget_all();
  EXPECT_TRUE(table.join({"one more", 1}, "", 0).leads);
}

TEST(FlightTable, NobodyJoinsAFlightThatIsLedAlone) {
  FlightTable table;
  const CacheKey key{"k", 1, 1};
  const auto alone = table.lead_alone(key, 0);
  EXPECT_TRUE(alone.leads);
  const auto other = table.lead_alone(key, 0);
  EXPECT_TRUE(other.leads);
  EXPECT_NE(other.flight, alone.flight);
  EXPECT_TRUE(table.join(key, "", 0).leads);
  EXPECT_EQ(table.size(), 3U);
  table.forget_uri(key);
  EXPECT_TRUE(alone.flight->outdated());
  EXPECT_EQ(table.size(), 0U);
}

}  // namespace
}  // namespace ringside::cache
