// What becomes of what has moved, at the taker's store.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/limits.h"
#include "cache/store.h"
#include "tests/cache/some_key.h"
#include "tests/cache/some_part.h"
#include "tests/cache/some_response.h"
#include "tests/support/fake_clock.h"

namespace ringside::cache {
namespace {

constexpr TimePoint now = support::FakeClock::start;
constexpr std::size_t store_bytes = 64 * limits::kMiB;
constexpr Store::Warmth warm = Store::Warmth::warm;

TEST(RestoredResponse, StandsUnlessAYoungerOneIsThere) {
  Store store(store_bytes);
  std::size_t may_evict_bytes = 0;
  const CacheKey key = key_in(7, "/x");
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
    const CacheKey key = key_in(7, "/x");
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
    EXPECT_TRUE(store.restore(key_in(7, "/x"), *response_of(""), std::string(100'000, 'x'), warm,
                              store.purge_count(), may_evict_bytes));
  }
  EXPECT_GE(store.used_bytes() - before, 100'000U);
  EXPECT_LE(store.used_bytes() - before, 110'000U);
  store.erase(key_in(7, "/x"));
  EXPECT_EQ(store.used_bytes(), before);
}

// Who asked for it meanwhile has it from the same replica.
TEST(RestoredResponse, WhatHasComeBeforeItCostsNothing) {
  Store store(store_bytes);
  std::size_t may_evict_bytes = 0;
  const CacheKey key = key_in(7, "/x");
  const std::string body(store_bytes / 2, 'x');
  const auto before = response_of("before");
  ASSERT_TRUE(store.put(key, before, store.purge_count()));
  StoredResponse moved = *before;
  Freshness freshness = moved.head->freshness();
  freshness.received -= Seconds{1};
  moved.head = StoredHead::restored({200, freshness, {}, {}, "OK", moved.head->lines()});
  EXPECT_TRUE(store.restore(key, moved, body, warm, store.purge_count(), may_evict_bytes))
      << "though there is no room for it";
  EXPECT_FALSE(store.restore(key, moved, body, warm, store.purge_count() + 1, may_evict_bytes));
  EXPECT_EQ(store.find(key, {}).response, before);
}

// The warmest comes first: what comes later must not push it out.
TEST(RestoredResponse, WhatIsColdTakesFreeRoomAloneAndGoesFirst) {
  Store store(4 * limits::kMiB);
  const std::string body(100'000, 'x');
  std::size_t may_evict_bytes = limits::kMiB;
  const auto restore = [&](const std::string& path, Store::Warmth warmth) {
    return store.restore(key_in(2, path), *response_of(""), body, warmth, store.purge_count(),
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
        store.put(key_in(1, "/own" + std::to_string(i)), response_of(body), store.purge_count()));
    static_cast<void>(store.find(key_in(2, "/warm"), {}));
  }
  // Stripes take turns, whatever they hold.
  EXPECT_LE(store.count_of(2), 5U);
  EXPECT_NE(store.find(key_in(2, "/warm"), {}).response, nullptr);
}

TEST(RestoredResponse, PushesOutOnlySoMuchAsItMay) {
  Store store(4 * limits::kMiB);
  const std::string body(100'000, 'x');
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(
        store.put(key_in(1, "/own" + std::to_string(i)), response_of(body), store.purge_count()));
  }
  const std::uint64_t evicted = store.evictions();
  std::size_t may_evict_bytes = limits::kMiB;
  std::size_t restored = 0;
  for (int i = 0; i < 60; ++i) {
    restored += store.restore(key_in(2, "/moved" + std::to_string(i)), *response_of(""), body, warm,
                              store.purge_count(), may_evict_bytes);
  }
  EXPECT_GE(restored, 8U);
  EXPECT_LE(restored, 12U);
  EXPECT_LE(store.evictions() - evicted, 14U);
  EXPECT_GT(store.count_of(1), 20U);
}

}  // namespace
}  // namespace ringside::cache
