#include "sidecar/near_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sidecar/nearby.h"
#include "tests/sidecar/some_request.h"

namespace ringside::sidecar {
namespace {

constexpr SteadyPoint noon{Seconds{43'200}};
constexpr SteadyPoint later = noon + Seconds{10};

NearCache::KeptPointer response_of(const std::string& body) {
  auto kept = std::make_shared<NearCache::KeptResponse>();
  kept->status = 200;
  kept->reason = "OK";
  kept->body = body;
  kept->stored = noon;
  return kept;
}

NearKey key_of(const std::string& text) { return {text, hash64(text), forgotten_uri("a", text)}; }

http::Fields fields_of(std::string_view name, std::string_view value) {
  http::Fields fields;
  fields.add(name, value);
  return fields;
}

class NearCacheTest : public ::testing::Test {
 protected:
  std::string find(NearCache& cache, const std::string& key, SteadyPoint now = noon,
                   const http::Fields& request = {}) {
    const auto found = cache.find(key_of(key), request, now);
    return found ? found->body : "nothing";
  }
  void keep(NearCache& cache, const std::string& key, const std::string& body,
            SteadyPoint until = later) {
    cache.store(key_of(key), {}, response_of(body), {{}, until, cache.moment(key_of(key))});
  }
  // As many requests, of which nothing is found.
  void ask(NearCache& cache, const std::string& key, int times) {
    for (int i = 0; i < times; ++i) find(cache, key);
  }
  // What an entry of this key and body takes.
  std::size_t cost_of(const std::string& key, const std::string& body) {
    NearCache cache(1'000'000, forgotten_);
    keep(cache, key, body);
    return cache.used_bytes();
  }
  ForgottenTable forgotten_;
  NearCache cache_{1'000'000, forgotten_};
};

TEST_F(NearCacheTest, GivesWhatWasStoredUntilItsTime) {
  keep(cache_, "k", "one");
  EXPECT_EQ(find(cache_, "k"), "one");
  EXPECT_EQ(find(cache_, "k", later - Milliseconds{1}), "one");
  EXPECT_EQ(find(cache_, "other"), "nothing");
  EXPECT_GE(cache_.used_bytes(), 4U);
  EXPECT_EQ(find(cache_, "k", later), "nothing");
  EXPECT_EQ(cache_.used_bytes(), 0U);
}

TEST_F(NearCacheTest, APeekChangesNothing) {
  const auto peek = [](const NearCache& cache, const std::string& key, SteadyPoint now = noon,
                       const http::Fields& request = {}) {
    const auto found = cache.peek(key_of(key), request, now);
    return found ? found->body : "nothing";
  };
  const std::size_t cost = cost_of("a", "body");
  NearCache cache(2 * cost, forgotten_);
  keep(cache, "a", "body");
  keep(cache, "b", "body");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(peek(cache, "a"), "body");
  EXPECT_FALSE(cache.admits(key_of("a"), 4, noon)) << "it was asked for by nobody";
  EXPECT_EQ(peek(cache, "a", later), "nothing");
  EXPECT_EQ(cache.used_bytes(), 2 * cost) << "what has had its time stays";
  keep(cache, "c", "body");
  EXPECT_EQ(peek(cache, "a"), "nothing") << "it was the least recently used";
  EXPECT_EQ(peek(cache, "b"), "body");
  const auto german = fields_of("accept-language", "de");
  cache_.store(key_of("v"), german, response_of("Seite"),
               {{"accept-language"}, later, cache_.moment(key_of("v"))});
  EXPECT_EQ(peek(cache_, "v", noon, german), "Seite");
  EXPECT_EQ(peek(cache_, "v"), "nothing");
  forgotten_.forget_everything();
  EXPECT_EQ(peek(cache_, "v", noon, german), "nothing");
}

TEST_F(NearCacheTest, TheNewerAnswerReplacesTheOlder) {
  keep(cache_, "k", std::string(100, 'a'));
  keep(cache_, "k", "b");
  EXPECT_EQ(find(cache_, "k"), "b");
  EXPECT_EQ(cache_.used_bytes(), cost_of("k", "b"));
}

// 1. a is asked for; 2. b is asked for, comes and is kept; 3. the answer to a comes.
TEST_F(NearCacheTest, AnAnswerAskedForEarlierDoesNotReplaceALaterOne) {
  const auto first = cache_.moment(key_of("k"));
  keep(cache_, "k", "new");
  cache_.store(key_of("k"), {}, response_of("old"), {{}, later, first});
  EXPECT_EQ(find(cache_, "k"), "new");
  cache_.drop_older(key_of("k"), {}, first);
  EXPECT_EQ(find(cache_, "k"), "new");
  cache_.drop_older(key_of("k"), {}, cache_.moment(key_of("k")));
  EXPECT_EQ(find(cache_, "k"), "nothing");
  EXPECT_EQ(cache_.used_bytes(), 0U);
}

TEST_F(NearCacheTest, AdmitsWhatIsAskedForOften) {
  EXPECT_FALSE(cache_.admits(key_of("k"), 10, noon));
  ask(cache_, "k", 1);
  EXPECT_FALSE(cache_.admits(key_of("k"), 10, noon));
  ask(cache_, "k", 1);
  EXPECT_TRUE(cache_.admits(key_of("k"), 10, noon));
  EXPECT_FALSE(cache_.admits(key_of("k"), 1'000'000, noon)) << "never fits";
}

TEST_F(NearCacheTest, WhatIsAskedForMoreOftenIsNotPushedOut) {
  const std::size_t cost = cost_of("a", "body");
  NearCache cache(3 * cost, forgotten_);
  const std::vector<std::pair<std::string, int>> asked = {{"a", 3}, {"b", 4}, {"c", 5}};
  for (const auto& [key, times] : asked) {
    ask(cache, key, times);
    keep(cache, key, "body");
  }
  ask(cache, "d", 3);
  EXPECT_FALSE(cache.admits(key_of("d"), 4, noon)) << "as often as a, which is in the place";
  ask(cache, "d", 1);
  EXPECT_TRUE(cache.admits(key_of("d"), 4, noon)) << "more often than a";
  EXPECT_FALSE(cache.admits(key_of("d"), 4 + cost, noon)) << "in the place of a and b";
  EXPECT_TRUE(cache.admits(key_of("d"), 4 + cost, later)) << "what has had its time is in no place";
  keep(cache, "d", "body");
  EXPECT_EQ(find(cache, "a"), "nothing");
  for (const char* key : {"b", "c", "d"}) EXPECT_EQ(find(cache, key), "body") << key;
}

TEST_F(NearCacheTest, KeepsItsBudgetAndDropsTheLeastRecentlyUsed) {
  const std::size_t cost = cost_of("a", "body");
  EXPECT_GT(cost, 5U);
  NearCache cache(3 * cost, forgotten_);
  for (const char* key : {"a", "b", "c"}) keep(cache, key, "body");
  EXPECT_EQ(cache.used_bytes(), 3 * cost);
  EXPECT_EQ(find(cache, "a"), "body");  // used again: b is the oldest now
  keep(cache, "d", "body");
  EXPECT_EQ(cache.used_bytes(), 3 * cost);
  EXPECT_EQ(find(cache, "b"), "nothing");
  for (const char* key : {"a", "c", "d"}) EXPECT_EQ(find(cache, key), "body") << key;
  // One that takes the place of two.
  keep(cache, "e", std::string(cost, 'x'));
  EXPECT_LE(cache.used_bytes(), 3 * cost);
  EXPECT_EQ(find(cache, "a"), "nothing");
  EXPECT_EQ(find(cache, "d"), "body");
}

TEST_F(NearCacheTest, WhatCannotFitIsNotKeptAndPushesNothingOut) {
  const std::size_t cost = cost_of("a", "body");
  NearCache cache(cost, forgotten_);
  keep(cache, "a", "body");
  keep(cache, "b", "body.");
  EXPECT_EQ(find(cache, "b"), "nothing");
  EXPECT_EQ(find(cache, "a"), "body");
  // The older answer for the same key is not given any more, though.
  keep(cache, "a", "a larger body");
  EXPECT_EQ(find(cache, "a"), "nothing");
  EXPECT_EQ(cache.used_bytes(), 0U);

  NearCache none(0, forgotten_);
  keep(none, "a", "");
  EXPECT_EQ(find(none, "a"), "nothing");
}

TEST_F(NearCacheTest, ABodyOutlivesItsEntry) {
  keep(cache_, "k", "one");
  const auto kept = cache_.find(key_of("k"), {}, noon);
  keep(cache_, "k", "two");
  EXPECT_EQ(kept->body, "one");
}

TEST_F(NearCacheTest, VariantsLieBehindASignpost) {
  const auto store = [&](const http::Fields& request, std::vector<std::string> vary,
                         const std::string& body) {
    cache_.store(key_of("k"), request, response_of(body),
                 {std::move(vary), later, cache_.moment(key_of("k"))});
  };
  const auto de = fields_of("Accept-Language", "de");
  const auto fr = fields_of("Accept-Language", "fr");
  store(de, {"accept-language"}, "deutsch");
  store(fr, {"accept-language"}, "en français");
  EXPECT_EQ(find(cache_, "k", noon, de), "deutsch");
  EXPECT_EQ(find(cache_, "k", noon, fr), "en français");
  EXPECT_EQ(find(cache_, "k", noon), "nothing");
  // The newest answer says what they vary on.
  store(fields_of("X", "1"), {"x"}, "of x");
  EXPECT_EQ(find(cache_, "k", noon, de), "nothing");
  EXPECT_EQ(find(cache_, "k", noon, fields_of("X", "1")), "of x");
  store({}, {}, "for all");
  EXPECT_EQ(find(cache_, "k", noon, de), "for all");
  EXPECT_EQ(find(cache_, "k", noon, fields_of("X", "1")), "for all");
  forgotten_.forget(key_of("k").uri);
  EXPECT_EQ(find(cache_, "k", noon, de), "nothing");
}

// 1. One is asked for by `fr`; 2. another by `de`, and is kept by what it varies on; 3. the first
// comes, which varies on nothing.
TEST_F(NearCacheTest, AnAnswerAskedForEarlierDoesNotReplaceALaterSignpost) {
  const auto de = fields_of("Accept-Language", "de");
  const auto fr = fields_of("Accept-Language", "fr");
  const auto first = cache_.moment(key_of("k"));
  const auto second = cache_.moment(key_of("k"));
  cache_.store(key_of("k"), de, response_of("deutsch"), {{"accept-language"}, later, second});
  cache_.store(key_of("k"), fr, response_of("old"), {{}, later, first});
  EXPECT_EQ(find(cache_, "k", noon, fr), "nothing");
  EXPECT_EQ(find(cache_, "k", noon, de), "deutsch");
  // Beside it there is room for what varies on the same.
  cache_.store(key_of("k"), fr, response_of("vieux"), {{"accept-language"}, later, first});
  EXPECT_EQ(find(cache_, "k", noon, fr), "vieux");
  cache_.store(key_of("k"), de, response_of("alt"), {{"accept-language"}, later, first});
  EXPECT_EQ(find(cache_, "k", noon, de), "deutsch");
}

TEST_F(NearCacheTest, APurgeForgetsEverything) {
  keep(cache_, "a", "one");
  keep(cache_, "b", "one");
  forgotten_.forget_everything();
  EXPECT_EQ(find(cache_, "a"), "nothing");
  EXPECT_EQ(find(cache_, "b"), "nothing");
  EXPECT_EQ(cache_.used_bytes(), 0U);
  keep(cache_, "a", "two");
  EXPECT_EQ(find(cache_, "a"), "two");
}

TEST_F(NearCacheTest, OneUriIsForgottenAlone) {
  ASSERT_NE(key_of("a").uri % limits::near_forgotten_slots,
            key_of("b").uri % limits::near_forgotten_slots);
  keep(cache_, "a", "one");
  keep(cache_, "b", "one");
  forgotten_.forget(key_of("a").uri);
  EXPECT_EQ(find(cache_, "a"), "nothing");
  EXPECT_EQ(find(cache_, "b"), "one");
}

TEST_F(NearCacheTest, AnAnswerAskedForBeforeAPurgeIsNotKeptAfterIt) {
  const auto asked = cache_.moment(key_of("a"));
  forgotten_.forget_everything();
  cache_.store(key_of("a"), {}, response_of("old"), {{}, later, asked});
  EXPECT_EQ(find(cache_, "a"), "nothing");
  // Nor does it replace what was asked for since.
  keep(cache_, "a", "new");
  cache_.store(key_of("a"), {}, response_of("old"), {{}, later, asked});
  EXPECT_EQ(find(cache_, "a"), "new");
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
           {"GET /a", "If-None-Match: \"x\"\r\n", true},
           {"GET /a", "If-Match: \"x\"\r\n", false},
           {"GET /a", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", true},
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
