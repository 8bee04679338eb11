#include "cache/reader_order.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "base/limits.h"

namespace ringside::cache {
namespace {

using Place = ReaderOrder::Place;
using Time = ReaderOrder::Time;

constexpr std::uint64_t piece_bytes = limits::body_piece_size_bytes;
constexpr std::size_t lag_pieces = limits::flight_lag_bytes / piece_bytes;
constexpr Time patience = limits::flight_patience;

void take(ReaderOrder& order, Place& place, std::size_t pieces) {
  const std::size_t position = place.position() + pieces;
  order.move(place, position, position * piece_bytes);
}

TEST(ReaderOrder, NobodyWaitsForWhoIsNear) {
  ReaderOrder order;
  EXPECT_TRUE(order.empty());
  Place fast, slow;
  order.add(fast);
  order.add(slow);
  take(order, fast, lag_pieces);
  EXPECT_EQ(order.patience(), Time{0});
  EXPECT_EQ(order.furthest_bytes(), limits::flight_lag_bytes);
  EXPECT_EQ(order.first_wanted(1000), 0U);
  order.remove(slow);
  EXPECT_EQ(order.first_wanted(1000), lag_pieces);
  order.remove(fast);
  EXPECT_TRUE(order.empty());
  EXPECT_EQ(order.first_wanted(1000), 1000U);
}

TEST(ReaderOrder, WhoIsSlowIsWaitedForUntilItsPatienceIsOver) {
  ReaderOrder order;
  Place fast, slow;
  order.add(fast);
  order.add(slow);
  take(order, fast, lag_pieces + 1);
  EXPECT_EQ(order.patience(), patience);
  order.charge(patience / 2);
  EXPECT_EQ(order.patience(), patience - patience / 2);
  EXPECT_EQ(order.first_wanted(1000), 0U);
  order.charge(patience);
  EXPECT_EQ(order.patience(), Time{0});
  EXPECT_EQ(order.first_wanted(1000), lag_pieces + 1);
  EXPECT_FALSE(order.empty());
  order.remove(fast);
  order.remove(slow);
  EXPECT_TRUE(order.empty());
}

TEST(ReaderOrder, WhatIsLeftOfItsPatienceStaysWithWhoCatchesUp) {
  ReaderOrder order;
  Place fast, slow;
  order.add(fast);
  order.add(slow);
  take(order, fast, lag_pieces + 1);
  order.charge(patience / 2);
  take(order, slow, 1);
  EXPECT_EQ(order.patience(), Time{0});
  take(order, fast, 1);
  EXPECT_EQ(order.patience(), patience - patience / 2);
  order.remove(fast);
  order.remove(slow);
}

// The one that made the others slow is gone.
TEST(ReaderOrder, WhoIsTheFurthestNowIsNotSlowAnyMore) {
  ReaderOrder order;
  Place fast, slow, slower;
  order.add(fast);
  order.add(slow);
  order.add(slower);
  take(order, slow, 2);
  take(order, fast, 3 + lag_pieces);
  order.remove(fast);
  EXPECT_EQ(order.furthest_bytes(), 2 * piece_bytes);
  EXPECT_EQ(order.first_wanted(1000), 0U);
  order.charge(patience);  // it turns out that it is not behind
  EXPECT_EQ(order.patience(), Time{0});
  EXPECT_EQ(order.first_wanted(1000), 0U);
  order.remove(slow);
  order.remove(slower);
}

TEST(ReaderOrder, WhoIsLostIsFoundAgainWhereItsPiecesAreStillThere) {
  ReaderOrder order;
  Place fast, lost, far;
  order.add(fast);
  order.add(lost);
  order.add(far);
  take(order, lost, 5);
  take(order, fast, 6 + lag_pieces);
  order.charge(patience);
  order.set_first_kept(order.first_wanted(1000));
  order.remove(fast);
  EXPECT_TRUE(order.empty()) << "their pieces are gone";
  order.set_first_kept(5);
  order.remove(far);
  EXPECT_FALSE(order.empty());
  EXPECT_EQ(order.first_wanted(1000), 5U);
  order.remove(lost);
}

// 4,000 readers of one slow object took 85 s of CPU: each that took something looked at all pairs.
TEST(ReaderOrder, ManyReadersDoNotCostTheirSquare) {
  constexpr std::size_t readers = 20'000;
  constexpr std::size_t takes = 100;
  ReaderOrder order;
  std::vector<std::unique_ptr<Place>> places;
  for (std::size_t index = 0; index < readers; ++index) {
    places.push_back(std::make_unique<Place>());
    order.add(*places.back());
  }
  std::mt19937 random(1);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same each time
  for (std::size_t round = 0; round < takes * readers / 10; ++round) {
    take(order, *places[random() % (readers / 2)], 1 + random() % 16);
    order.set_first_kept(order.first_wanted(order.furthest_bytes() / piece_bytes));
    order.charge(Time{1});
  }
  std::uint64_t furthest_bytes = 0;
  for (const auto& place : places) {
    furthest_bytes = std::max(furthest_bytes, place->offset_bytes());
  }
  EXPECT_EQ(order.furthest_bytes(), furthest_bytes);
  for (const auto& place : places) order.remove(*place);
  EXPECT_TRUE(order.empty());
}

}  // namespace
}  // namespace ringside::cache
