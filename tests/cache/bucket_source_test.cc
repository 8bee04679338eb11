// What a giver sends, batch after batch, and what becomes of it at the taker's store.
#include "cache/bucket_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/limits.h"
#include "cache/moved_response.h"
#include "cache/purge_log.h"
#include "tests/cache/some_part.h"
#include "tests/cache/some_response.h"
#include "tests/tier/some_membership.h"

namespace ringside::cache {
namespace {

constexpr TimePoint now = support::FakeClock::start;
constexpr SteadyPoint steady{std::chrono::hours{1}};
constexpr AskedAt asked{now, steady};
constexpr std::size_t store_bytes = 64 * limits::kMiB;
constexpr Store::Warmth warm = Store::Warmth::warm;

CacheKey key_of(const std::string& path, shard::Bucket bucket) {
  http::Target target;
  target.path = path;
  CacheKey key;
  key.assign(http::Scheme::http, "a.test", target, "");
  key.bucket = bucket;
  return key;
}

// Replica `a`, which holds everything, in a tier to which `b` has come.
struct Giver {
  Giver() {
    const auto alone = tier::membership_of({"a"});
    const auto both = tier::membership_of({"a", "b"});
    holders.change([&](tier::Authority& authority) {
      authority.follow(alone);
      authority.follow(both);
      authority.heard("b", {{9, 0}, {}}, {}, steady);
    });
    buckets = holders.to_give("b");
  }

  StoredPointer put(const std::string& path, shard::Bucket bucket, const std::string& body) {
    const auto response = response_of(body);
    EXPECT_TRUE(store.put(key_of(path, bucket), response, store.purge_count()));
    return response;
  }
  // The bodies and the buckets of a batch.
  struct Batch {
    std::vector<std::string> bodies;
    std::vector<UncacheableKeys::Mark> marks;
    std::vector<MovedBucket> buckets;
  };
  Batch batch(std::uint64_t number) {
    const std::string text = source.batch("b", number, asked);
    Batch batch;
    for (std::string_view left = text; !left.empty();) {
      const auto item = take_moved(left, asked);
      EXPECT_TRUE(item) << item.error().message;
      if (!item) break;
      if (const auto* moved = std::get_if<MovedResponse>(&*item)) {
        batch.bodies.emplace_back(moved->body);
      } else if (const auto* mark = std::get_if<UncacheableKeys::Mark>(&*item)) {
        batch.marks.push_back(*mark);
      } else {
        batch.buckets.push_back(std::get<MovedBucket>(*item));
      }
    }
    return batch;
  }
  // From `number` on, until one is empty.
  Batch rest(std::uint64_t number) {
    Batch all;
    while (true) {
      const Batch next = batch(number++);
      if (next.bodies.empty() && next.buckets.empty()) return all;
      all.bodies.insert(all.bodies.end(), next.bodies.begin(), next.bodies.end());
      all.buckets.insert(all.buckets.end(), next.buckets.begin(), next.buckets.end());
    }
  }

  Store store{store_bytes};
  FlightTable flights;
  UncacheableKeys uncacheable;
  Holders holders{"a", 5};
  BucketSource source{store, flights, uncacheable, holders};
  std::vector<shard::Bucket> buckets;  // that b is to take
};

TEST(BucketSource, TellsOfKeysThatCanNotBeStoredWithTheirBucket) {
  Giver giver;
  const shard::Bucket bucket = giver.buckets.front();
  giver.uncacheable.remember(key_of("/never", bucket), steady + Seconds{30});
  giver.uncacheable.remember(key_of("/no-more", bucket), steady);
  const auto elsewhere = static_cast<shard::Bucket>(bucket + 1);
  giver.uncacheable.remember(key_of("/elsewhere", elsewhere), steady + Seconds{30});
  const auto batch = giver.batch(1);
  const auto of_bucket = [&](const auto& mark) { return mark.bucket == bucket; };
  ASSERT_EQ(std::count_if(batch.marks.begin(), batch.marks.end(), of_bucket), 1);
  const auto mark = *std::find_if(batch.marks.begin(), batch.marks.end(), of_bucket);
  EXPECT_EQ(mark.until, steady + Seconds{30});
  UncacheableKeys taken;
  taken.remember(mark);
  EXPECT_TRUE(taken.contains(key_of("/never", bucket), steady + Seconds{29}));
  EXPECT_FALSE(taken.contains(key_of("/never", bucket), steady + Seconds{30}));
  EXPECT_FALSE(taken.contains(key_of("/no-more", bucket), steady));
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

TEST(BucketSource, WhatWasNotConfirmedStaysAndIsSentAgain) {
  Giver giver;
  const shard::Bucket bucket = giver.buckets[0];
  giver.put("/x", bucket, "x");
  EXPECT_EQ(giver.batch(1).bodies, std::vector<std::string>{"x"});
  EXPECT_EQ(giver.store.count_of(bucket), 1U);
  EXPECT_FALSE(giver.holders.answers_for(bucket)) << "it is given, and may have arrived";
  EXPECT_EQ(giver.batch(1).bodies, std::vector<std::string>{"x"});
  EXPECT_EQ(giver.batch(77).bodies, std::vector<std::string>{"x"}) << "a new beginning";
  EXPECT_EQ(giver.store.count_of(bucket), 1U);
  static_cast<void>(giver.batch(78));
  EXPECT_EQ(giver.store.count_of(bucket), 0U);
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
  EXPECT_FALSE(giver.source.is_moving(bucket, steady + limits::split_wait))
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

TEST(BucketSource, WhatIsRefreshedMeanwhileComesAfterwards) {
  Giver giver;
  const shard::Bucket bucket = giver.buckets[0];
  const auto old = giver.put("/x", bucket, "old");
  static_cast<void>(giver.batch(1));
  ASSERT_TRUE(giver.store.replace(key_of("/x", bucket), old, response_of("new")));
  static_cast<void>(giver.batch(2));
  EXPECT_EQ(giver.store.count_of(bucket), 1U);
  EXPECT_TRUE(giver.holders.own().has_copies(bucket));
  const auto all = giver.rest(3);
  EXPECT_EQ(all.bodies, std::vector<std::string>{"new"});
  EXPECT_EQ(giver.store.count_of(bucket), 0U);
  EXPECT_FALSE(giver.holders.own().has(bucket));
}

TEST(BucketSource, WhatIsBeingFetchedIsLeftForLater) {
  Giver giver;
  const shard::Bucket bucket = giver.buckets[0];
  const auto flight = giver.flights.join(key_of("/x", bucket), "", 0);
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
  const auto flight = giver.flights.join(key_of("/x", giver.buckets[0]), "", 0);
  static_cast<void>(giver.rest(1));
  EXPECT_TRUE(giver.rest(1).buckets.empty());
  giver.holders.change(
      [](tier::Authority& authority) { authority.follow(tier::membership_of({"b"})); });
  EXPECT_FALSE(giver.rest(1).buckets.empty()) << "b is to have all by now";
  giver.flights.leave(*flight.flight);
}

TEST(BucketSource, ABucketInWhichSomethingIsAlwaysFetchedIsGivenInTheEnd) {
  Giver giver;
  const shard::Bucket bucket = giver.buckets[0];
  const auto flight = giver.flights.join(key_of("/x", bucket), "", 0);
  ASSERT_TRUE(flight.leads);
  for (unsigned i = 0; i < 2 * limits::move_repeats && giver.holders.answers_for(bucket); ++i) {
    static_cast<void>(giver.rest(1));
  }
  EXPECT_FALSE(giver.holders.answers_for(bucket));
  EXPECT_TRUE(giver.holders.own().has_copies(bucket)) << "what comes of it is to follow";
  giver.flights.leave(*flight.flight);
}

TEST(BucketSource, NobodyElseGetsAnything) {
  Giver giver;
  giver.put("/x", giver.buckets[0], "x");
  EXPECT_EQ(giver.source.batch("a", 1, asked), "");
  EXPECT_EQ(giver.source.batch("stranger", 1, asked), "");
}

// --- The taker's store.

TEST(RestoredResponse, StandsUnlessAYoungerOneIsThere) {
  Store store(store_bytes);
  std::size_t may_evict_bytes = 0;
  const CacheKey key = key_of("/x", 7);
  const auto at = [](TimePoint received) {
    const auto head = response_of("")->head;
    Freshness freshness = head->freshness();
    freshness.received = received;
    return StoredResponse{StoredHead::restored({200, freshness, {}, {}, "OK", head->lines()}),
                          nullptr};
  };
  const auto restore = [&](TimePoint received, std::string_view body) {
    return store.restore(key, at(received), body, warm, store.purge_count(), may_evict_bytes);
  };
  EXPECT_TRUE(restore(now, "first"));
  EXPECT_EQ(body_of(store.find(key, {}).response), "first");
  EXPECT_TRUE(restore(now - Seconds{1}, "older"));
  EXPECT_EQ(body_of(store.find(key, {}).response), "first");
  EXPECT_TRUE(restore(now + Seconds{1}, "younger"));
  EXPECT_EQ(body_of(store.find(key, {}).response), "younger");
  EXPECT_EQ(store.count_of(7), 1U);
  EXPECT_FALSE(store.restore(key, at(now + Seconds{2}), "purged", warm, store.purge_count() + 1,
                             may_evict_bytes));
  EXPECT_EQ(body_of(store.find(key, {}).response), "younger");
  store.erase(key);
  EXPECT_EQ(store.entries(), 0U);
}

// Who asked for a part could not wait for the whole, which came behind it and was thrown away.
TEST(RestoredResponse, TheWholeThatComesBehindAPartOfItIsKept) {
  for (const std::string_view etag : {"\"1\"", ""}) {
    Store store(store_bytes);
    std::size_t may_evict_bytes = 0;
    const CacheKey key = key_of("/x", 7);
    const std::size_t before = store.used_bytes();
    ASSERT_TRUE(store.put(key, part_of("234", 2, 6, etag), store.purge_count()));
    StoredResponse whole = *whole_of("012345", etag);
    Freshness freshness = whole.head->freshness();
    freshness.received -= Seconds{1};
    whole.head = StoredHead::restored({200, freshness, {}, {}, "OK", whole.head->lines()});
    EXPECT_TRUE(store.restore(key, whole, "012345", warm, store.purge_count(), may_evict_bytes));
    EXPECT_EQ(body_of(store.find(key, {}).response), "012345");
    EXPECT_FALSE(store.find(key, {}).response->extent);
    store.erase(key);
    EXPECT_EQ(store.used_bytes(), before);
  }
}

TEST(RestoredResponse, TakesWhatItCostsAndNoMore) {
  Store store(store_bytes);
  std::size_t may_evict_bytes = 0;
  const std::size_t before = store.used_bytes();
  for (int i = 0; i < 3; ++i) {  // the second and the third find it there
    EXPECT_TRUE(store.restore(key_of("/x", 7), *response_of(""), std::string(100'000, 'x'), warm,
                              store.purge_count(), may_evict_bytes));
  }
  EXPECT_GE(store.used_bytes() - before, 100'000U);
  EXPECT_LE(store.used_bytes() - before, 110'000U);
  store.erase(key_of("/x", 7));
  EXPECT_EQ(store.used_bytes(), before);
}

// The warmest comes first: what comes later must not push it out.
TEST(RestoredResponse, WhatIsColdTakesFreeRoomAloneAndGoesFirst) {
  Store store(4 * limits::kMiB);
  const std::string body(100'000, 'x');
  std::size_t may_evict_bytes = limits::kMiB;
  const auto restore = [&](const std::string& path, Store::Warmth warmth) {
    return store.restore(key_of(path, 2), *response_of(""), body, warmth, store.purge_count(),
                         may_evict_bytes);
  };
  std::size_t restored = 0;
  while (restored < 100 && restore("/cold" + std::to_string(restored), Store::Warmth::cold)) {
    ++restored;
  }
  EXPECT_GT(restored, 20U);
  EXPECT_LT(restored, 60U);
  EXPECT_EQ(store.evictions(), 0U);
  EXPECT_TRUE(restore("/warm", warm));
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(
        store.put(key_of("/own" + std::to_string(i), 1), response_of(body), store.purge_count()));
    static_cast<void>(store.find(key_of("/warm", 2), {}));
  }
  // Stripes take turns, whatever they hold.
  EXPECT_LE(store.count_of(2), 5U);
  EXPECT_NE(store.find(key_of("/warm", 2), {}).response, nullptr);
}

TEST(RestoredResponse, PushesOutOnlySoMuchAsItMay) {
  Store store(4 * limits::kMiB);
  const std::string body(100'000, 'x');
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(
        store.put(key_of("/own" + std::to_string(i), 1), response_of(body), store.purge_count()));
  }
  const std::uint64_t evicted = store.evictions();
  std::size_t may_evict_bytes = limits::kMiB;
  std::size_t restored = 0;
  for (int i = 0; i < 60; ++i) {
    restored += store.restore(key_of("/moved" + std::to_string(i), 2), *response_of(""), body, warm,
                              store.purge_count(), may_evict_bytes);
  }
  EXPECT_GE(restored, 8U);
  EXPECT_LE(restored, 12U);
  EXPECT_LE(store.evictions() - evicted, 14U);
  EXPECT_GT(store.count_of(1), 20U);
}

}  // namespace
}  // namespace ringside::cache
