// What a giver sends, batch after batch. What becomes of it: tests/cache/restored_response_test.cc.
#include "cache/bucket_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "tests/cache/some_giver.h"

namespace ringside::cache {
namespace {

TEST(BucketSource, TellsOfKeysThatCanNotBeStoredWithTheirBucket) {
  Giver giver;
  const shard::Bucket bucket = giver.buckets.front();
  giver.uncacheable.remember(key_in(bucket, "/never"), steady + Seconds{30});
  giver.uncacheable.remember(key_in(bucket, "/no-more"), steady);
  const auto elsewhere = static_cast<shard::Bucket>(bucket + 1);
  giver.uncacheable.remember(key_in(elsewhere, "/elsewhere"), steady + Seconds{30});
  const auto batch = giver.batch(1);
  const auto of_bucket = [&](const auto& mark) { return mark.bucket == bucket; };
  ASSERT_EQ(std::count_if(batch.marks.begin(), batch.marks.end(), of_bucket), 1);
  const auto mark = *std::find_if(batch.marks.begin(), batch.marks.end(), of_bucket);
  EXPECT_EQ(mark.until, steady + Seconds{30});
  UncacheableKeys taken;
  taken.remember(mark);
  EXPECT_TRUE(taken.contains(key_in(bucket, "/never"), steady + Seconds{29}));
  EXPECT_FALSE(taken.contains(key_in(bucket, "/never"), steady + Seconds{30}));
  EXPECT_FALSE(taken.contains(key_in(bucket, "/no-more"), steady));
}

TEST(BucketSource, GivesEverythingOnceAndKeepsNothingOfIt) {
  Giver giver;
  giver.put("/first", giver.buckets[0], "first");
  giver.put("/last", giver.buckets.back(), "last");
  giver.put("/other", static_cast<shard::Bucket>(giver.buckets[0] == 0 ? 1 : 0), "other");
  const bool is_others = giver.holders.to_give("b").size() < shard::bucket_count;
  ASSERT_TRUE(is_others);
  const auto all = giver.rest(1);
  EXPECT_EQ(all.buckets.size(), giver.buckets.size());
  EXPECT_EQ(std::count(all.bodies.begin(), all.bodies.end(), "first"), 1);
  EXPECT_EQ(std::count(all.bodies.begin(), all.bodies.end(), "last"), 1);
  EXPECT_EQ(giver.store.count_of(giver.buckets[0]), 0U);
  EXPECT_EQ(giver.holders.own().epoch(giver.buckets[0]), 0U);
  EXPECT_TRUE(giver.holders.to_give("b").empty());
}

TEST(BucketSource, WarmBucketsComeFirst) {
  Giver giver;
  std::set<shard::Bucket> warm_ones;
  for (std::size_t i = 0; i < 10; ++i) {
    const shard::Bucket bucket = giver.buckets[i * 100];
    giver.put("/" + std::to_string(i), bucket, std::to_string(i));
    warm_ones.insert(bucket);
  }
  const auto first = giver.batch(1);
  ASSERT_EQ(first.bodies.size(), 10U);
  std::set<shard::Bucket> given;
  for (std::size_t i = 0; i < 10; ++i) given.insert(first.buckets[i].bucket);
  EXPECT_EQ(given, warm_ones);
}

TEST(BucketSource, WhatItsTakerCouldNotStoreIsLeftOutAndCounted) {
  Giver giver;
  const shard::Bucket bucket = giver.buckets[0];
  giver.put("/1", bucket, std::string(100, 'a'));
  giver.put("/2", bucket, std::string(101, 'b'));
  static_cast<void>(giver.source.answer({"b", 1, 0, 100}, asked_now));  // it is lost
  auto answer = giver.source.answer({"b", 1, 0, 100}, asked_now);
  const auto batch = Giver::read(std::move(answer.batch));
  EXPECT_EQ(batch.bodies, std::vector{std::string(100, 'a')});
  ASSERT_FALSE(batch.buckets.empty());
  EXPECT_EQ(batch.buckets.front().bucket, bucket) << "the rest is no reason to keep it";
  EXPECT_EQ(answer.left_out, 0U) << "it may not arrive";
  EXPECT_EQ(giver.source.answer({"b", 2, answer.serial, 100}, asked_now).left_out, 1U);
}

// One that is large, and has been sent. Returns the number of the next batch.
std::uint64_t send_large(Giver& giver, shard::Bucket bucket) {
  for (int i = 0; i < 5; ++i) {
    giver.put("/" + std::to_string(i), bucket,
              std::string(limits::move_remove_size_bytes / 2, 'x'));
  }
  std::uint64_t number = 1;
  while (giver.holders.answers_for(bucket)) static_cast<void>(giver.batch(number++));
  EXPECT_EQ(giver.store.count_of(bucket), 5U);
  return number;
}

TEST(BucketSource, ALargeBucketIsRemovedInSteps) {
  Giver giver;
  const shard::Bucket bucket = giver.buckets[0];
  std::uint64_t number = send_large(giver, bucket);
  EXPECT_FALSE(giver.source.claim_removal("b")) << "it has not arrived";
  EXPECT_TRUE(giver.batch(number++).bodies.empty());
  EXPECT_FALSE(giver.source.is_moving(bucket, steady)) << "all of it has arrived";
  ASSERT_TRUE(giver.source.claim_removal("b"));
  EXPECT_FALSE(giver.source.claim_removal("b")) << "somebody does it";
  std::size_t left = giver.store.count_of(bucket);
  EXPECT_TRUE(giver.batch(number++).bodies.empty());
  EXPECT_EQ(giver.store.count_of(bucket), left) << "who has claimed it does all of it";
  bool is_over = false;
  while (left > 0) {
    ASSERT_FALSE(is_over);
    EXPECT_TRUE(giver.holders.own().has_copies(bucket)) << "it is not all gone";
    is_over = giver.source.remove_step("b");
    ASSERT_LT(giver.store.count_of(bucket), left);
    left = giver.store.count_of(bucket);
  }
  EXPECT_TRUE(is_over || giver.source.remove_step("b"));
  EXPECT_FALSE(giver.holders.own().has(bucket));
  EXPECT_FALSE(giver.source.claim_removal("b"));
  EXPECT_TRUE(giver.rest(number).bodies.empty()) << "nothing is sent twice";
}

TEST(BucketSource, WhatIsBeingRemovedIsNotSentAgain) {
  Giver giver;
  const shard::Bucket bucket = giver.buckets[0];
  std::uint64_t number = send_large(giver, bucket);
  EXPECT_TRUE(giver.batch(number).bodies.empty());
  number += 10;  // the taker begins anew
  for (std::size_t left = giver.store.count_of(bucket); left > 0;) {
    EXPECT_TRUE(giver.batch(number++).bodies.empty());
    ASSERT_LT(giver.store.count_of(bucket), left) << "each batch removes some, too";
    left = giver.store.count_of(bucket);
  }
}

TEST(BucketSource, ManySmallResponsesAreRemovedInStepsToo) {
  Giver giver;
  const shard::Bucket bucket = giver.buckets[0];
  constexpr std::size_t many = limits::move_remove_keys + 10;
  for (std::size_t i = 0; i < many; ++i) giver.put("/" + std::to_string(i), bucket, "x");
  std::uint64_t number = 1;
  while (giver.holders.answers_for(bucket)) static_cast<void>(giver.batch(number++));
  ASSERT_EQ(giver.store.count_of(bucket), many);
  static_cast<void>(giver.batch(number));
  EXPECT_EQ(giver.store.count_of(bucket), 10U);
  EXPECT_TRUE(giver.source.remove_step("b"));
  EXPECT_EQ(giver.store.count_of(bucket), 0U);
}

TEST(BucketSource, WhatIsLeftOfABucketWhoseTakerIsGoneStays) {
  Giver giver;
  const shard::Bucket bucket = giver.buckets[0];
  const std::uint64_t number = send_large(giver, bucket);
  static_cast<void>(giver.batch(number));
  const std::size_t left = giver.store.count_of(bucket);
  ASSERT_GT(left, 0U);
  giver.holders.change([&](tier::Authority& authority) { authority.failed("b", true, steady); });
  EXPECT_TRUE(giver.source.remove_step("b"));
  EXPECT_EQ(giver.store.count_of(bucket), left);
}

TEST(BucketSource, WhatIsLeftOfABucketThatComesBackStays) {
  Giver giver;
  const shard::Bucket bucket = giver.buckets[0];
  const std::uint64_t number = send_large(giver, bucket);
  static_cast<void>(giver.batch(number));
  const std::size_t left = giver.store.count_of(bucket);
  ASSERT_GT(left, 0U);
  ASSERT_LT(left, 5U);
  giver.holders.change([&](tier::Authority& authority) {
    authority.follow(tier::membership_of({"a"}, 2));
    authority.take(bucket, 2, "b");
  });
  EXPECT_TRUE(giver.source.remove_step("b"));
  EXPECT_EQ(giver.store.count_of(bucket), left);
}

TEST(BucketSource, ABucketIsMovingFromItsFirstResponseUntilAllHasArrived) {
  Giver giver;
  const shard::Bucket bucket = giver.buckets[0], other = giver.buckets[1];
  const std::string large(limits::move_batch_size_bytes, 'x');
  giver.put("/1", bucket, large);
  giver.put("/2", bucket, large);
  EXPECT_FALSE(giver.source.is_moving(bucket, steady));
  EXPECT_EQ(giver.batch(1).bodies.size(), 1U);
  EXPECT_TRUE(giver.source.is_moving(bucket, steady)) << "in part";
  EXPECT_FALSE(giver.source.is_moving(other, steady));
  EXPECT_EQ(giver.batch(2).bodies.size(), 1U);
  EXPECT_TRUE(giver.source.is_moving(bucket, steady)) << "it may not have arrived";
  EXPECT_FALSE(giver.source.is_moving(bucket, steady + limits::move_silence))
      << "nobody asks any more";
  static_cast<void>(giver.batch(3));
  EXPECT_FALSE(giver.source.is_moving(bucket, steady));
}

TEST(BucketSource, ALargeBucketComesInSeveralBatchesAndIsGivenWithTheLast) {
  Giver giver;
  const shard::Bucket bucket = giver.buckets[0];
  for (int i = 0; i < 10; ++i) {
    giver.put("/" + std::to_string(i), bucket, std::string(limits::move_batch_size_bytes / 4, 'x'));
  }
  const auto has = [&](const Giver::Batch& batch) {
    return std::find(batch.buckets.begin(), batch.buckets.end(), MovedBucket{bucket, 1}) !=
           batch.buckets.end();
  };
  std::size_t sent = 0;
  std::uint64_t number = 0;
  for (bool is_given = false; !is_given;) {
    EXPECT_TRUE(giver.holders.answers_for(bucket));
    const auto batch = giver.batch(++number);
    sent += batch.bodies.size();
    is_given = has(batch);
    ASSERT_EQ(is_given, sent == 10);
  }
  EXPECT_GE(number, 3U);
  EXPECT_EQ(giver.store.count_of(bucket), 10U);
  static_cast<void>(giver.batch(++number));
  EXPECT_EQ(giver.store.count_of(bucket), 0U);
}

// A purge asks for the same batch again: what came before it does not come again.
TEST(BucketSource, ABatchThatIsAskedForAgainBeginsWhereItBegan) {
  Giver giver;
  const shard::Bucket bucket = giver.buckets[0];
  const auto names = [](const std::vector<std::string>& bodies) {
    std::set<char> names;
    for (const std::string& body : bodies) names.insert(body.front());
    return names;
  };
  for (char name = 'a'; name < 'k'; ++name) {
    giver.put(std::string("/") + name, bucket,
              std::string(limits::move_batch_size_bytes / 4, name));
  }
  std::multiset<char> sent_or_removed;
  std::uint64_t number = 0;
  while (giver.holders.answers_for(bucket)) {
    auto lost = names(giver.batch(++number).bodies);
    ASSERT_FALSE(lost.empty());
    const char removed = *lost.begin();
    lost.erase(removed);
    giver.store.erase(key_in(bucket, std::string("/") + removed));
    const auto again = names(giver.batch(number).bodies);
    EXPECT_FALSE(again.contains(removed));
    EXPECT_TRUE(std::includes(again.begin(), again.end(), lost.begin(), lost.end()));
    sent_or_removed.insert(removed);
    sent_or_removed.insert(again.begin(), again.end());
  }
  EXPECT_GT(number, 1U);
  EXPECT_EQ(sent_or_removed,
            (std::multiset<char>{'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'}));
  static_cast<void>(giver.batch(number + 1));
  EXPECT_EQ(giver.store.count_of(bucket), 0U);
}

TEST(BucketSource, VariantsOfAKeyComeInSeveralBatches) {
  Giver giver;
  const shard::Bucket bucket = giver.buckets[0];
  const auto varying = fields_of({{"Cache-Control", "max-age=60"}, {"Vary", "Accept"}});
  std::multiset<std::string> put, sent;
  for (const std::string name : {"a", "b", "c"}) {
    const std::string body = name + std::string(limits::move_batch_size_bytes, 'x');
    const auto response = response_of(varying, body, fields_of({{"Accept", name}}));
    ASSERT_TRUE(giver.store.put(key_in(bucket, "/"), response, giver.store.purge_count()));
    put.insert(body);
  }
  for (std::uint64_t number = 1; number <= 3; ++number) {
    static_cast<void>(giver.batch(number));
    const auto batch = giver.batch(number);
    ASSERT_EQ(batch.bodies.size(), 1U);
    sent.insert(batch.bodies.front());
  }
  EXPECT_EQ(sent, put);
  static_cast<void>(giver.rest(4));
  EXPECT_EQ(giver.store.count_of(bucket), 0U);
}

TEST(BucketSource, WhatIsRefreshedMeanwhileComesAfterwards) {
  Giver giver;
  const shard::Bucket bucket = giver.buckets[0];
  const auto old = giver.put("/x", bucket, "old");
  static_cast<void>(giver.batch(1));
  ASSERT_TRUE(giver.store.replace(key_in(bucket, "/x"), old, response_of("new")));
  EXPECT_EQ(giver.batch(2).bodies, std::vector<std::string>{"new"});
  EXPECT_EQ(giver.store.count_of(bucket), 1U);
  EXPECT_TRUE(giver.holders.own().has_copies(bucket));
  EXPECT_TRUE(giver.rest(3).bodies.empty());
  EXPECT_EQ(giver.store.count_of(bucket), 0U);
  EXPECT_FALSE(giver.holders.own().has(bucket));
}

TEST(BucketSource, WhatIsBeingFetchedIsLeftForLater) {
  Giver giver;
  const shard::Bucket bucket = giver.buckets[0];
  const auto flight = giver.flights.join(key_in(bucket, "/x"), "", 0);
  ASSERT_TRUE(flight.leads);
  const auto has = [&](const Giver::Batch& batch) {
    return std::any_of(batch.buckets.begin(), batch.buckets.end(),
                       [&](const MovedBucket& one) { return one.bucket == bucket; });
  };
  EXPECT_FALSE(has(giver.rest(1)));
  EXPECT_TRUE(giver.holders.answers_for(bucket));
  giver.flights.leave(*flight.flight);
  EXPECT_TRUE(has(giver.rest(1)));
}

TEST(BucketSource, WhatWasLeftForLaterDoesNotHideWhatIsToBeGivenSince) {
  Giver giver;
  const auto flight = giver.flights.join(key_in(giver.buckets[0], "/x"), "", 0);
  static_cast<void>(giver.rest(1));
  EXPECT_TRUE(giver.rest(1).buckets.empty());
  giver.holders.change(
      [](tier::Authority& authority) { authority.follow(tier::membership_of({"b"})); });
  EXPECT_FALSE(giver.rest(2).buckets.empty()) << "b is to have all by now";
  giver.flights.leave(*flight.flight);
}

// All but the bucket of which something is always fetched has been given, and it was looked at
// twice: at the beginning, and after the others.
struct GiverThatFetches : Giver {
  GiverThatFetches() {
    while (!batch(++number).buckets.empty()) {
    }
  }
  ~GiverThatFetches() { flights.leave(*flight.flight); }
  void look(unsigned times = 1) {
    for (unsigned i = 0; i < times; ++i) static_cast<void>(batch(++number));
  }
  [[nodiscard]] bool has_given() const { return !holders.answers_for(bucket); }

  static constexpr unsigned looks_left = limits::move_flight_looks - 2;
  const shard::Bucket bucket = buckets[0];
  const FlightTable::Joined flight = flights.join(key_in(bucket, "/x"), "", 0);
  std::uint64_t number = 0;
};

TEST(BucketSource, ABucketInWhichSomethingIsAlwaysFetchedIsGivenInTheEnd) {
  GiverThatFetches giver;
  giver.look(giver.looks_left);
  giver.asked_at.steady += limits::move_flight_patience - Milliseconds{1};
  giver.look();
  EXPECT_FALSE(giver.has_given());
  giver.asked_at.steady += Milliseconds{1};
  giver.look(2);
  EXPECT_TRUE(giver.has_given());
  EXPECT_TRUE(giver.holders.own().has_copies(giver.bucket)) << "what comes of it is to follow";
}

// Its turn may come late, behind others that are large.
TEST(BucketSource, ABucketInWhichSomethingIsFetchedIsLookedAtOften) {
  GiverThatFetches giver;
  giver.asked_at.steady += limits::move_flight_patience;
  giver.look(giver.looks_left);
  EXPECT_FALSE(giver.has_given());
  giver.look();
  EXPECT_TRUE(giver.has_given());
}

TEST(BucketSource, OneThatComesBackAfterAWhileFindsAllPatience) {
  for (const bool is_long : {false, true}) {
    GiverThatFetches giver;
    giver.look(giver.looks_left);
    giver.asked_at.steady += is_long ? limits::move_silence : limits::move_flight_patience;
    giver.number = 0;
    giver.look();
    EXPECT_EQ(giver.has_given(), !is_long);
  }
}

// What it was sent may have come back meanwhile.
TEST(BucketSource, WhatIsForSomebodyElseAndThenNotIsSentAgain) {
  Giver giver;
  const shard::Bucket bucket = giver.buckets[0];
  giver.put("/x", bucket, "x");
  const auto flight = giver.flights.join(key_in(bucket, "/fetched"), "", 0);
  const auto follow = [&](const std::vector<std::string>& members) {
    const auto membership = tier::membership_of(members);
    giver.holders.change([&](tier::Authority& authority) { authority.follow(membership); });
  };
  std::uint64_t number = 1;
  for (auto batch = giver.batch(number); !batch.bodies.empty() || !batch.buckets.empty();) {
    batch = giver.batch(++number);
  }
  follow({"a"});
  EXPECT_TRUE(giver.rest(++number).bodies.empty());
  follow({"a", "b"});
  EXPECT_EQ(giver.rest(++number).bodies, std::vector<std::string>{"x"});
  giver.flights.leave(*flight.flight);
}

TEST(BucketSource, NobodyElseGetsAnything) {
  Giver giver;
  giver.put("/x", giver.buckets[0], "x");
  EXPECT_TRUE(giver.source.answer({"a", 1}, asked_now).batch.is_empty());
  EXPECT_TRUE(giver.source.answer({"stranger", 1}, asked_now).batch.is_empty());
}

}  // namespace
}  // namespace ringside::cache
