// A bucket in which much is stored while it moves.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/limits.h"
#include "tests/cache/some_giver.h"

namespace ringside::cache {
namespace {

// Twice as much is stored in its bucket as a batch has.
struct BusyGiver : Giver {
  void store_more() {
    const std::string body(limits::move_batch_size_bytes / 2, 'x');
    for (int i = 0; i < 4; ++i) put("/" + std::to_string(stored++), bucket, body);
  }
  void move() { sent += batch(++number).bodies.size(); }
  void move_until_outpaced() {
    for (store_more(); !source.is_outpaced(bucket, steady); store_more()) {
      ASSERT_LT(number, 10 * limits::move_log_batches);
      move();
    }
  }

  const shard::Bucket bucket = buckets[0];
  std::size_t stored = 0;
  std::size_t sent = 0;
  std::uint64_t number = 0;
};

TEST(BusyBucket, ABucketInWhichAsMuchIsStoredAsMovesIsBehindUntilItIsGiven) {
  BusyGiver giver;
  giver.move_until_outpaced();
  EXPECT_GE(giver.number, limits::move_log_batches);
  EXPECT_FALSE(giver.source.is_outpaced(giver.buckets[1], steady));
  EXPECT_FALSE(giver.source.is_outpaced(giver.bucket, steady + limits::move_silence))
      << "nobody asks any more";
  while (giver.holders.answers_for(giver.bucket)) giver.move();
  EXPECT_EQ(giver.sent, giver.stored) << "fetches wait";
  EXPECT_FALSE(giver.source.is_outpaced(giver.bucket, steady));
}

TEST(BusyBucket, ABucketThatStaysBehindIsGivenInTheEnd) {
  for (const bool is_fetched : {false, true}) {
    BusyGiver giver;
    giver.move_until_outpaced();
    const auto flight = giver.flights.join(key_in(giver.bucket, "/fetched"), "", 0);
    if (!is_fetched) giver.flights.leave(*flight.flight);
    while (giver.holders.answers_for(giver.bucket)) {
      ASSERT_LT(giver.number, 2 * limits::move_log_batches_most);
      giver.store_more();
      giver.move();
    }
    if (is_fetched) giver.flights.leave(*flight.flight);
    EXPECT_LT(giver.sent, giver.stored);
    const auto rest = giver.rest(++giver.number);
    EXPECT_EQ(rest.bodies.size(), giver.stored - giver.sent) << "the rest comes after it";
    EXPECT_EQ(giver.store.count_of(giver.bucket), 0U);
    EXPECT_FALSE(giver.holders.own().has_copies(giver.bucket));
  }
}

TEST(BusyBucket, ABatchThatIsAskedForOftenCountsOnce) {
  for (const std::uint64_t lost : {1U, 2U}) {
    BusyGiver giver;
    giver.store_more();
    while (giver.number + 1 < lost) giver.move();
    const std::size_t stood = giver.stored;
    if (lost > 1) giver.store_more();
    for (std::size_t i = 0; i < limits::move_log_factor * stood; ++i) {
      EXPECT_EQ(giver.batch(lost).bodies.size(), 2U);
    }
    EXPECT_FALSE(giver.source.is_outpaced(giver.bucket, steady));
    giver.number = lost;
    giver.store_more();
    giver.move();
    EXPECT_FALSE(giver.source.is_outpaced(giver.bucket, steady));
    EXPECT_TRUE(giver.holders.answers_for(giver.bucket));
  }
}

// What has been sent stays sent, and what is fetched comes with the bucket.
TEST(BusyBucket, OneOfWhichSomethingIsFetchedGoesOnWhereItWas) {
  for (const bool is_lost : {false, true}) {
    BusyGiver giver;
    giver.store_more();
    const auto flight = giver.flights.join(key_in(giver.bucket, "/fetched"), "", 0);
    std::vector<std::string> bodies;
    for (Giver::Batch batch = giver.batch(1); !batch.bodies.empty() || !batch.buckets.empty();
         batch = giver.batch(++giver.number + 1)) {
      if (is_lost) batch = giver.batch(giver.number + 1);
      bodies.insert(bodies.end(), batch.bodies.begin(), batch.bodies.end());
    }
    EXPECT_EQ(bodies.size(), giver.stored);
    EXPECT_TRUE(giver.holders.answers_for(giver.bucket));
    giver.put("/fetched", giver.bucket, "fetched");
    giver.flights.leave(*flight.flight);
    giver.number += 2;
    const auto rest = giver.rest(giver.number);
    EXPECT_EQ(rest.bodies, std::vector<std::string>{"fetched"});
    EXPECT_FALSE(giver.holders.answers_for(giver.bucket));
    EXPECT_EQ(giver.store.count_of(giver.bucket), 0U);
  }
}

// Who begins anew may have lost what it had.
TEST(BusyBucket, OneOfWhichSomethingIsFetchedIsSentAgainToWhoBeginsAnew) {
  BusyGiver giver;
  giver.store_more();
  const auto flight = giver.flights.join(key_in(giver.bucket, "/fetched"), "", 0);
  EXPECT_EQ(giver.rest(1).bodies.size(), giver.stored);
  EXPECT_EQ(giver.rest(1).bodies.size(), giver.stored);
  giver.flights.leave(*flight.flight);
}

// The first bucket has little stored, the second one some batches.
struct GiverOfTwo : Giver {
  static constexpr int second_stored = 6;
  GiverOfTwo() {
    const std::string body(limits::move_batch_size_bytes / 2, 'x');
    for (int i = 0; i < second_stored; ++i) put("/" + std::to_string(i), second, body);
    // The warmest moves first: of the stripe that is looked at first.
    do {
      path = "/x" + std::to_string(first_stored++);
      old = put(path, first, "old");
    } while (store.warm_buckets().front() != first);
  }
  const shard::Bucket first = buckets[0];
  const shard::Bucket second = buckets[1];
  std::size_t first_stored = 0;
  std::string path;
  StoredPointer old;
};

TEST(BusyBucket, TheRestOfOneDoesNotDisturbTheNextThatHasBegun) {
  GiverOfTwo giver;
  const auto begun = giver.batch(1);
  EXPECT_EQ(begun.buckets.size(), 1U);
  ASSERT_TRUE(giver.store.replace(key_in(giver.first, giver.path), giver.old, response_of("new")));
  const auto rest = giver.rest(2);
  EXPECT_EQ(begun.bodies.size() + rest.bodies.size(),
            giver.first_stored + 1 + GiverOfTwo::second_stored);
  EXPECT_EQ(giver.store.entries(), 0U);
  EXPECT_FALSE(giver.holders.answers_for(giver.second));
}

TEST(BusyBucket, NobodyWaitsForOneThatIsLeftForLaterUntilItIsItsTurn) {
  GiverOfTwo giver;
  const auto flight = giver.flights.join(key_in(giver.first, "/fetched"), "", 0);
  static_cast<void>(giver.batch(1));
  EXPECT_FALSE(giver.source.is_moving(giver.first, steady)) << "the second one moves";
  static_cast<void>(giver.rest(2));
  EXPECT_TRUE(giver.source.is_moving(giver.first, steady));
  giver.flights.leave(*flight.flight);
}

TEST(BusyBucket, ABatchOfThoseThatWereLeftForLaterMayBeLost) {
  GiverOfTwo giver;
  std::vector<FlightTable::Joined> flights;
  for (const shard::Bucket bucket : {giver.first, giver.second}) {
    const std::string path = "/fetched" + std::to_string(flights.size());
    flights.push_back(giver.flights.join(key_in(bucket, path), "", 0));
  }
  std::uint64_t number = 1;
  for (auto batch = giver.batch(number); !batch.bodies.empty() || !batch.buckets.empty();) {
    batch = giver.batch(++number);
  }
  for (const auto& flight : flights) giver.flights.leave(*flight.flight);
  ++number;
  EXPECT_EQ(giver.batch(number).buckets.size(), flights.size());
  const auto again = giver.batch(number);
  EXPECT_EQ(again.buckets.size(), flights.size());
  EXPECT_TRUE(again.bodies.empty()) << "they have arrived";
  EXPECT_TRUE(giver.rest(++number).bodies.empty());
  EXPECT_EQ(giver.store.entries(), 0U);
}

// It goes through all that it has before anything counts as stored meanwhile.
TEST(BusyBucket, ABucketInWhichMuchIsStoredIsGivenWhenAllThatItHadIsSent) {
  Giver giver;
  const shard::Bucket bucket = giver.buckets[0];
  const std::string body(limits::move_batch_size_bytes, 'x');
  constexpr int had = 40;
  for (int i = 0; i < had; ++i) giver.put("/" + std::to_string(i), bucket, "old" + body);
  std::uint64_t number = 0;
  int sent = 0;
  while (giver.holders.answers_for(bucket)) {
    const auto batch = giver.batch(++number);
    for (const std::string& moved : batch.bodies) sent += moved.starts_with("old") ? 1 : 0;
    EXPECT_FALSE(giver.source.is_outpaced(bucket, steady));
    if (number % 2 == 0) giver.put("/new" + std::to_string(number), bucket, body);
  }
  EXPECT_EQ(sent, had);
}

}  // namespace
}  // namespace ringside::cache
