#include "cache/move_room.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "base/limits.h"

namespace ringside::cache {
namespace {

constexpr std::size_t batch = limits::move_batch_size_bytes;
constexpr std::size_t store = 16 * batch;
constexpr std::size_t share = store / limits::moved_share_divisor;
constexpr SteadyPoint begun{Seconds{1'000}};
constexpr SteadyPoint renewed = begun + limits::move_room_interval;

TEST(MoveRoom, IsAShareOfAFullStore) {
  MoveRoom room(store);
  EXPECT_EQ(room.full_until(0, begun), std::nullopt);
  EXPECT_EQ(room.may_evict_bytes(), share);
}

TEST(MoveRoom, WaitsWhenTheShareIsUsedUpAndComesBack) {
  MoveRoom room(store);
  EXPECT_EQ(room.full_until(0, begun), std::nullopt);
  room.may_evict_bytes() = batch;
  EXPECT_EQ(room.full_until(0, begun), std::nullopt) << "there is room for one more";
  room.may_evict_bytes() = batch - 1;
  EXPECT_EQ(room.full_until(0, begun), renewed);
  EXPECT_EQ(room.full_until(0, renewed - limits::deadline_tick), renewed);
  EXPECT_EQ(room.full_until(0, renewed), std::nullopt);
  EXPECT_EQ(room.may_evict_bytes(), share);
}

TEST(MoveRoom, DoesNotWaitWhileThereIsFreeMemory) {
  MoveRoom room(store);
  EXPECT_EQ(room.full_until(batch, begun), std::nullopt);
  room.may_evict_bytes() = 0;
  EXPECT_EQ(room.full_until(batch, begun), std::nullopt);
  EXPECT_EQ(room.full_until(batch - 1, begun), renewed);
  EXPECT_EQ(room.full_until(batch, begun), std::nullopt) << "something has expired meanwhile";
}

// What moves into a full store and is cold pushes nothing out, and is left out at once.
TEST(MoveRoom, WhatIsColdIsNotWaitedFor) {
  MoveRoom room(store);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(room.full_until(0, begun), std::nullopt);
}

TEST(MoveRoom, OfAStoreWhoseShareIsLessThanABatchIsOneBatch) {
  MoveRoom room(batch);
  EXPECT_EQ(room.full_until(0, begun), std::nullopt);
  room.may_evict_bytes() -= 1;
  EXPECT_EQ(room.full_until(0, begun), renewed);
  EXPECT_EQ(room.full_until(0, renewed), std::nullopt);
}

TEST(MoveRoom, IsNotSavedUp) {
  MoveRoom room(store);
  EXPECT_EQ(room.full_until(0, begun), std::nullopt);
  EXPECT_EQ(room.full_until(0, begun + 10 * limits::move_room_interval), std::nullopt);
  EXPECT_EQ(room.may_evict_bytes(), share);
}

constexpr std::size_t large = 2 * limits::moving_usual_size_bytes;

TEST(MoveRoom, WhatIsOnItsWayIsAShareOfTheStore) {
  MoveRoom room(2 * large * limits::moving_share_divisor);
  EXPECT_EQ(room.response_bytes_most(), 2 * large);
  MoveRoom::Arrival first(room, large);
  ASSERT_TRUE(first.may_begin());
  first.begin();
  MoveRoom::Arrival too_large(room, large + 1);
  EXPECT_FALSE(too_large.may_begin());
  const MoveRoom::Arrival usual(room, limits::moving_usual_size_bytes);
  EXPECT_TRUE(usual.may_begin()) << "it waits for nobody";
}

TEST(MoveRoom, ABatchIsNotPassedByOneThatCameAfterIt) {
  MoveRoom room(2 * large * limits::moving_share_divisor);
  std::optional<MoveRoom::Arrival> first(std::in_place, room, large);
  first->begin();
  std::optional<MoveRoom::Arrival> second(std::in_place, room, 2 * large);
  const MoveRoom::Arrival third(room, large);
  EXPECT_FALSE(second->may_begin());
  EXPECT_FALSE(third.may_begin());
  first.reset();
  EXPECT_FALSE(third.may_begin());
  EXPECT_TRUE(second->may_begin());
  second->begin();
  EXPECT_FALSE(third.may_begin());
  second.reset();
  EXPECT_TRUE(third.may_begin());
}

TEST(MoveRoom, WhoGivesUpHoldsNobodyUp) {
  MoveRoom room(2 * large * limits::moving_share_divisor);
  MoveRoom::Arrival first(room, large);
  first.begin();
  std::optional<MoveRoom::Arrival> second(std::in_place, room, 2 * large);
  const MoveRoom::Arrival third(room, large);
  EXPECT_FALSE(third.may_begin());
  second.reset();
  EXPECT_TRUE(third.may_begin());
}

// An older giver does not know what is too much for us.
TEST(MoveRoom, OneBatchAloneMayComeWhateverItsSize) {
  MoveRoom room(store);
  MoveRoom::Arrival all(room, 2 * store);
  ASSERT_TRUE(all.may_begin());
  all.begin();
  const MoveRoom::Arrival next(room, large);
  EXPECT_FALSE(next.may_begin());
}

TEST(MoveRoom, OfAGreatStoreTakesNoResponseThatWouldNotMove) {
  const MoveRoom room(1024 * limits::moved_response_size_bytes);
  EXPECT_EQ(room.response_bytes_most(), limits::moved_response_size_bytes);
}

}  // namespace
}  // namespace ringside::cache
