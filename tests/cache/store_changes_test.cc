#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/limits.h"
#include "cache/store.h"
#include "tests/cache/some_key.h"
#include "tests/cache/some_response.h"

namespace ringside::cache {
namespace {

using limits::kKiB;
using limits::kMiB;

// RFC 9111 §4.4 speaks of the URI; shard keys are our own.
TEST(StoreChanges, ErasesAllKeysOfAUriAndNoOthers) {
  Store store(kMiB);
  const auto key_at = [](std::string_view host, std::string_view path, std::string_view extra,
                         http::Scheme scheme = http::Scheme::http) {
    http::Target target;
    target.path = path;
    CacheKey key;
    key.assign(scheme, host, target, extra);
    return key;
  };
  for (const auto* extra : {"", "DE", "FR"}) {
    for (const auto* path : {"/a", "/ab", "/b"}) {
      ASSERT_TRUE(store.put(key_at("a.test", path, extra), response_of("x"), 0));
    }
  }
  ASSERT_TRUE(store.put(key_at("b.test", "/a", "DE"), response_of("x"), 0));
  const auto vary = fields_of({{"Vary", "Accept"}, {"Cache-Control", "max-age=60"}});
  const auto accepts = fields_of({{"Accept", "y"}});
  ASSERT_TRUE(store.put(key_at("a.test", "/a", "US"), response_of(vary, "x"), 0));
  ASSERT_TRUE(store.put(key_at("a.test", "/a", "US"), response_of(vary, "y", accepts), 0));
  const auto secure = key_at("a.test", "/a", "DE", http::Scheme::https);
  EXPECT_EQ(found_in(store, secure), "nothing");
  ASSERT_TRUE(store.put(secure, response_of("secure"), 0));
  EXPECT_EQ(found_in(store, secure), "secure");
  EXPECT_EQ(store.erase_uri(key_of_uri("a.test", "/a")), 6U);
  EXPECT_EQ(found_in(store, secure), "nothing");
  for (const auto* extra : {"", "DE", "FR", "US"}) {
    EXPECT_EQ(found_in(store, key_at("a.test", "/a", extra)), "nothing") << extra;
  }
  EXPECT_EQ(found_in(store, key_at("a.test", "/ab", "DE")), "x");
  EXPECT_EQ(found_in(store, key_at("b.test", "/a", "DE")), "x");
  EXPECT_EQ(store.entries(), 7U);
  EXPECT_EQ(store.erase_uri(key_of_uri("a.test", "/a")), 0U);
  // Any of its keys names the URI.
  EXPECT_EQ(store.erase_uri(key_at("a.test", "/b", "ZZ")), 3U);
  EXPECT_EQ(store.purge({}), 4U);
  EXPECT_EQ(store.used_bytes(), 0U);
}

// Keys of one hash lie in one bucket, of whatever URI.
TEST(StoreChanges, ErasesNoKeysThatOnlyShareTheHash) {
  Store store(kMiB);
  const CacheKey ours{"http\na.test\n/a\nDE", 15, 7};
  const CacheKey other{"http\na.test\n/b\nDE", 15, 7};
  ASSERT_EQ(ours.uri(), "http\na.test\n/a\n");
  ASSERT_TRUE(store.put(ours, response_of("ours"), 0));
  ASSERT_TRUE(store.put(other, response_of("other"), 0));
  EXPECT_EQ(store.erase_uri(ours), 1U);
  EXPECT_EQ(found_in(store, ours), "nothing");
  EXPECT_EQ(found_in(store, other), "other");
}

TEST(StoreChanges, ReplacesOnlyWhatStillStandsThere) {
  Store store(kMiB);
  const auto key = key_of("a");
  const auto old = response_of("old");
  EXPECT_FALSE(store.replace(key, old, response_of("new")));
  EXPECT_EQ(store.used_bytes(), 0U);
  ASSERT_TRUE(store.put(key, old, 0));
  EXPECT_FALSE(store.replace(key, response_of("old"), response_of("new")));
  EXPECT_EQ(found_in(store, key), "old");
  const auto longer = response_of(std::string(10'000, 'x'));
  const auto used = store.used_bytes();
  EXPECT_TRUE(store.replace(key, old, longer));
  EXPECT_EQ(found_in(store, key), std::string(10'000, 'x'));
  EXPECT_EQ(store.used_bytes(), used + longer->cost_bytes() - old->cost_bytes());
  EXPECT_EQ(store.entries(), 1U);
  EXPECT_FALSE(store.replace(key, old, response_of("newer")));  // it has gone
  store.purge({});
  EXPECT_FALSE(store.replace(key, longer, response_of("newer")));
  EXPECT_EQ(store.entries(), 0U);
  EXPECT_EQ(store.used_bytes(), 0U);
}

// The room for the new one may be that of the old.
TEST(StoreChanges, ReplacingWithinAFullStoreKeepsItsBudget) {
  Store store(256 * kKiB);
  const auto key = key_of("a");
  const auto old = response_of(std::string(30 * kKiB, 'o'));
  ASSERT_TRUE(store.put(key, old, 0));
  ASSERT_TRUE(store.reserve(store.limit_bytes() - store.used_bytes()));
  EXPECT_FALSE(store.replace(key, old, response_of(std::string(30 * kKiB, 'n'))));
  EXPECT_LE(store.used_bytes(), store.limit_bytes());
  EXPECT_EQ(found_in(store, key), "nothing");
}

TEST(StoreChanges, ReplacesAVariantInItsPlace) {
  Store store(kMiB);
  const auto key = key_of("a");
  const auto vary = fields_of({{"Vary", "Accept"}, {"Cache-Control", "max-age=60"}});
  const auto x = fields_of({{"Accept", "x"}});
  const auto y = fields_of({{"Accept", "y"}});
  const auto for_x = response_of(vary, "for x", x);
  ASSERT_TRUE(store.put(key, for_x, 0));
  ASSERT_TRUE(store.put(key, response_of(vary, "for y", y), 0));
  EXPECT_TRUE(store.replace(key, for_x, response_of(vary, "new for x", x)));
  EXPECT_EQ(found_in(store, key, x), "new for x");
  EXPECT_EQ(found_in(store, key, y), "for y");
  EXPECT_EQ(store.entries(), 2U);
}

TEST(StoreChanges, KeepsAsManyVariantsAsItIsTold) {
  const auto key = key_of("a");
  const auto vary = fields_of({{"Vary", "Accept"}, {"Cache-Control", "max-age=60"}});
  const std::vector<std::string> accepts{"1", "2", "3", "4", "5"};
  for (const std::size_t most : {std::size_t{1}, std::size_t{3}, std::size_t{100}}) {
    Store store(kMiB);
    for (const std::string& accept : accepts) {
      const auto request = fields_of({{"Accept", accept}});
      ASSERT_TRUE(store.put(key, response_of(vary, accept, request), 0, most));
    }
    const std::size_t kept = std::min(most, accepts.size());
    EXPECT_EQ(store.entries(), kept);
    for (std::size_t index = 0; index < accepts.size(); ++index) {
      const bool is_kept = index + kept >= accepts.size();
      EXPECT_EQ(found_in(store, key, fields_of({{"Accept", accepts[index]}})),
                is_kept ? accepts[index] : "nothing");
    }
    // Fewer from now on.
    const auto request = fields_of({{"Accept", "5"}});
    ASSERT_TRUE(store.put(key, response_of(vary, "new", request), 0, 1));
    EXPECT_EQ(store.entries(), 1U);
    EXPECT_EQ(found_in(store, key, request), "new");
    EXPECT_EQ(store.purge({}), 1U);
    EXPECT_EQ(store.used_bytes(), 0U);
  }
}

}  // namespace
}  // namespace ringside::cache
