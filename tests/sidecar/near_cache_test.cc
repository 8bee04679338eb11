#include "sidecar/near_cache.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/sidecar/some_request.h"

namespace ringside::sidecar {
namespace {

constexpr SteadyPoint noon{Seconds{43'200}};

NearCache::Entry entry_of(const std::string& body, SteadyPoint until = noon + Seconds{10}) {
  NearCache::Entry entry;
  auto kept = std::make_shared<NearCache::KeptResponse>();
  kept->status = 200;
  kept->reason = "OK";
  kept->body = body;
  entry.response = std::move(kept);
  entry.stored = noon;
  entry.until = until;
  return entry;
}

// What an entry of this key and body takes.
std::size_t cost_of(const std::string& key, const std::string& body) {
  const std::atomic<std::uint64_t> purges{0};
  NearCache cache(1'000'000, purges);
  cache.store(key, entry_of(body), 0);
  return cache.used_bytes();
}

class NearCacheTest : public ::testing::Test {
 protected:
  std::string body(NearCache& cache, const std::string& key, SteadyPoint now = noon) {
    const auto* entry = cache.find(key, now);
    return entry == nullptr ? "nothing" : entry->response->body;
  }
  std::atomic<std::uint64_t> purges_{0};
  NearCache cache_{1'000'000, purges_};
};

TEST_F(NearCacheTest, GivesWhatWasStoredUntilItsTime) {
  cache_.store("k", entry_of("one", noon + Seconds{10}), 0);
  EXPECT_EQ(body(cache_, "k"), "one");
  EXPECT_EQ(body(cache_, "k", noon + Seconds{10} - Milliseconds{1}), "one");
  EXPECT_EQ(body(cache_, "other"), "nothing");
  EXPECT_GE(cache_.used_bytes(), 4U);
  EXPECT_EQ(body(cache_, "k", noon + Seconds{10}), "nothing");
  EXPECT_EQ(cache_.used_bytes(), 0U);
}

TEST_F(NearCacheTest, TheNewerAnswerReplacesTheOlder) {
  cache_.store("k", entry_of(std::string(100, 'a')), 0);
  cache_.store("k", entry_of("b"), 0);
  EXPECT_EQ(body(cache_, "k"), "b");
  EXPECT_EQ(cache_.used_bytes(), cost_of("k", "b"));
}

TEST_F(NearCacheTest, KeepsItsBudgetAndDropsTheLeastRecentlyUsed) {
  const std::size_t cost = cost_of("a", "body");
  EXPECT_GT(cost, 5U);
  NearCache cache(3 * cost, purges_);
  for (const char* key : {"a", "b", "c"}) cache.store(key, entry_of("body"), 0);
  EXPECT_EQ(cache.used_bytes(), 3 * cost);
  EXPECT_EQ(body(cache, "a"), "body");  // used again: b is the oldest now
  cache.store("d", entry_of("body"), 0);
  EXPECT_EQ(cache.used_bytes(), 3 * cost);
  EXPECT_EQ(body(cache, "b"), "nothing");
  for (const char* key : {"a", "c", "d"}) EXPECT_EQ(body(cache, key), "body") << key;
  // One that takes the place of two.
  cache.store("e", entry_of(std::string(cost, 'x')), 0);
  EXPECT_LE(cache.used_bytes(), 3 * cost);
  EXPECT_EQ(body(cache, "a"), "nothing");
  EXPECT_EQ(body(cache, "d"), "body");
}

TEST_F(NearCacheTest, WhatCannotFitIsNotKeptAndPushesNothingOut) {
  const std::size_t cost = cost_of("a", "body");
  NearCache cache(cost, purges_);
  cache.store("a", entry_of("body"), 0);
  cache.store("b", entry_of("body."), 0);
  EXPECT_EQ(body(cache, "b"), "nothing");
  EXPECT_EQ(body(cache, "a"), "body");
  // The older answer for the same key is not given any more, though.
  cache.store("a", entry_of("a larger body"), 0);
  EXPECT_EQ(body(cache, "a"), "nothing");
  EXPECT_EQ(cache.used_bytes(), 0U);

  NearCache none(0, purges_);
  none.store("a", entry_of(""), 0);
  EXPECT_EQ(body(none, "a"), "nothing");
}

TEST_F(NearCacheTest, ABodyOutlivesItsEntry) {
  cache_.store("k", entry_of("one"), 0);
  const auto kept = cache_.find("k", noon)->response;
  cache_.store("k", entry_of("two"), 0);
  EXPECT_EQ(kept->body, "one");
}

TEST_F(NearCacheTest, APurgeForgetsEverything) {
  cache_.store("a", entry_of("one"), cache_.purges());
  cache_.store("b", entry_of("one"), cache_.purges());
  purges_.fetch_add(1);
  EXPECT_EQ(body(cache_, "a"), "nothing");
  EXPECT_EQ(cache_.used_bytes(), 0U);
  cache_.store("a", entry_of("two"), cache_.purges());
  EXPECT_EQ(body(cache_, "a"), "two");
  EXPECT_EQ(body(cache_, "b"), "nothing");
}

TEST_F(NearCacheTest, AnAnswerAskedForBeforeAPurgeIsNotKeptAfterIt) {
  const auto asked_at = cache_.purges();
  purges_.fetch_add(1);
  cache_.store("a", entry_of("old"), asked_at);
  EXPECT_EQ(body(cache_, "a"), "nothing");
  // Nor does it replace what was asked for since.
  cache_.store("a", entry_of("new"), cache_.purges());
  cache_.store("a", entry_of("old"), asked_at);
  EXPECT_EQ(body(cache_, "a"), "new");
}

TEST(MayBeAnsweredNearby, OnlyGetsThatAnyFreshAnswerSatisfies) {
  struct Row {
    std::string first_words;
    std::string field_lines;
    bool may;
  };
  for (const Row& row : std::vector<Row>{
           {"GET /a", "", true},
           {"GET /a", "Accept: */*\r\nCookie: a=1\r\nUser-Agent: x\r\n", true},
           {"HEAD /a", "", false},
           {"POST /a", "", false},
           {"POST /a", "Content-Length: 3\r\n", false},
           {"GET /a", "Content-Length: 3\r\n", false},
           {"GET /a", "Transfer-Encoding: chunked\r\n", false},
           {"GET /a", "Cache-Control: no-cache\r\n", false},
           {"GET /a", "cache-control: max-age=0\r\n", false},
           {"GET /a", "Pragma: no-cache\r\n", false},
           {"GET /a", "Authorization: Basic eDp5\r\n", false},
           {"GET /a", "Range: bytes=0-1\r\n", false},
           {"GET /a", "If-None-Match: \"x\"\r\n", false},
           {"GET /a", "If-Match: \"x\"\r\n", false},
           {"GET /a", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", false},
           {"GET /a", "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", false},
           {"GET /a", "If-Range: \"x\"\r\n", false},
       }) {
    SomeRequest request(row.first_words + " HTTP/1.1\r\nHost: a.test\r\n" + row.field_lines +
                        "\r\n");
    EXPECT_EQ(may_be_answered_nearby(*request), row.may) << row.first_words << row.field_lines;
  }
}

}  // namespace
}  // namespace ringside::sidecar
