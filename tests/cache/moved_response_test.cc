#include "cache/moved_response.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tests/cache/batch_text.h"
#include "tests/cache/some_response.h"

namespace ringside::cache {
namespace {

constexpr TimePoint now = support::FakeClock::start;
constexpr SteadyPoint steady{std::chrono::hours{1}};

CacheKey some_key(shard::Bucket bucket = 7) {
  http::Target target;
  target.path = "/a";
  CacheKey key;
  key.assign(http::Scheme::https, "a.test", target, "DE");
  key.bucket = bucket;
  return key;
}

std::string moved(const CacheKey& key, const StoredResponse& response, TimePoint at = now) {
  MovedBatch batch;
  batch.append(key, response, Store::Warmth::warm, at);
  return text_of(std::move(batch));
}

MovedResponse read(const std::string& batch, TimePoint resident = now) {
  std::string_view left = batch;
  auto item = take_moved(left, {resident, steady});
  EXPECT_TRUE(item) << item.error().message;
  EXPECT_EQ(left, "");
  return item ? std::get<MovedResponse>(*item) : MovedResponse{};
}

// The item with another one in the place of its `place`th number.
std::string with_number(std::string batch, std::size_t place, std::string_view number) {
  std::size_t start = 1;
  for (std::size_t i = 0; i < place; ++i) start = batch.find(' ', start + 1);
  const std::size_t end = batch.find_first_of(" \n", start + 1);
  return batch.replace(start + 1, end - start - 1, number);
}
constexpr std::size_t flags_place = 9;

TEST(MovedResponse, IsWhatWasStored) {
  const auto request = fields_of({{"Accept-Language", "de"}});
  const auto stored = response_of(
      fields_of({{"Cache-Control", "max-age=60, stale-while-revalidate=5, must-revalidate"},
                 {"Vary", "Accept-Language"},
                 {"Age", "10"},
                 {"ETag", "\"x\""}}),
      "body\nof it", request);
  const CacheKey key = some_key();
  const std::string batch = moved(key, *stored);
  const MovedResponse got = read(batch);
  EXPECT_EQ(got.key.text, key.text);
  EXPECT_EQ(got.key.uri_size_bytes, key.uri_size_bytes);
  EXPECT_EQ(got.key.hash, key.hash);
  EXPECT_EQ(got.key.own_hash, key.own_hash);
  EXPECT_EQ(got.key.bucket, key.bucket);
  EXPECT_EQ(got.body, "body\nof it");
  EXPECT_EQ(got.extent, std::nullopt);
  EXPECT_EQ(got.head->status(), 200);
  EXPECT_EQ(got.head->reason(), "OK");
  EXPECT_EQ(got.head->lines(), stored->head->lines());
  EXPECT_EQ(got.head->vary(), stored->head->vary());
  EXPECT_EQ(got.head->variant(), stored->head->variant());
  EXPECT_EQ(got.head->freshness(), stored->head->freshness());
  EXPECT_EQ(got.warmth, Store::Warmth::warm);
}

TEST(MovedResponse, TellsWhetherItIsWarm) {
  MovedBatch batch;
  batch.append(some_key(), *response_of("x"), Store::Warmth::cold, now);
  EXPECT_EQ(read(text_of(std::move(batch))).warmth, Store::Warmth::cold);
}

TEST(MovedResponse, IsAsOldAsItWas) {
  const auto stored = response_of("x");
  // The clocks of two machines have nothing in common but their pace.
  const TimePoint elsewhere = now + std::chrono::hours{1000};
  const std::string batch = moved(some_key(), *stored, now + Milliseconds{12'345});
  const MovedResponse got = read(batch, elsewhere);
  EXPECT_EQ(got.head->freshness().received, elsewhere - Milliseconds{12'345});
  EXPECT_EQ(age(got.head->freshness(), elsewhere), Seconds{12});
}

TEST(MovedResponse, OfAPartIsThatPart) {
  StoredResponse part = *response_of("0123");
  part.extent = Extent{6, 10};
  EXPECT_EQ(read(moved(some_key(), part)).extent, (Extent{6, 10}));
}

TEST(MovedResponse, LongAndShortBodiesAreWhereTheyBelong) {
  MovedBatch batch;
  std::vector<std::string> bodies;
  for (const std::size_t size : {3U, 5'000U, 0U, 70'000U, 9U}) {
    bodies.emplace_back(size, static_cast<char>('a' + bodies.size()));
    batch.append(some_key(), *response_of(bodies.back()), Store::Warmth::warm, now);
  }
  batch.append(MovedBucket{7, 3});
  const std::size_t size_bytes = batch.size_bytes();
  const std::string text = text_of(std::move(batch));
  EXPECT_EQ(text.size(), size_bytes);
  std::string_view left = text;
  for (const std::string& body : bodies) {
    const auto item = take_moved(left, {now, steady});
    ASSERT_TRUE(item);
    EXPECT_EQ(std::get<MovedResponse>(*item).body, body);
  }
  ASSERT_TRUE(take_moved(left, {now, steady}));
  EXPECT_TRUE(left.empty());
}

TEST(MovedResponse, ABucketComesBehindWhatIsStoredOfIt) {
  std::string batch = moved(some_key(), *response_of("x"));
  append_moved(batch, MovedBucket{7, 3});
  append_moved(batch, MovedBucket{16'383, 0});
  std::string_view left = batch;
  ASSERT_TRUE(take_moved(left, {now, steady}));
  for (const MovedBucket& bucket : {MovedBucket{7, 3}, MovedBucket{16'383, 0}}) {
    const auto item = take_moved(left, {now, steady});
    ASSERT_TRUE(item);
    EXPECT_EQ(std::get<MovedBucket>(*item), bucket);
  }
  EXPECT_TRUE(left.empty());
}

TEST(MovedResponse, WhatCanNotBeStoredIsBelievedForAsLongAsItWas) {
  const UncacheableKeys::Mark mark{12'345'678'901'234'567'890U, 16'383,
                                   steady + Milliseconds{1'500}};
  std::string batch;
  append_moved(batch, mark, steady);
  append_moved(batch, mark, mark.until);  // it is over
  std::string_view left = batch;
  const auto item = take_moved(left, {now, steady});
  ASSERT_TRUE(item);
  EXPECT_EQ(std::get<UncacheableKeys::Mark>(*item), mark);
  EXPECT_TRUE(left.empty());
}

// Each core has a time of its own.
TEST(MovedResponse, AMarkThatAnotherCoreMadeALittleLaterIsRead) {
  const SteadyPoint asked{Milliseconds{1'000}};
  std::string batch;
  const UncacheableKeys::Mark mark{7, 3, asked + limits::uncacheable_ttl + Milliseconds{5}};
  append_moved(batch, mark, asked);
  std::string_view left = batch;
  const auto item = take_moved(left, {now, asked});
  ASSERT_TRUE(item) << item.error().message;
  EXPECT_EQ(std::get<UncacheableKeys::Mark>(*item).until, asked + limits::uncacheable_ttl);
}

TEST(MovedResponse, WhatIsNoneIsRefused) {
  const std::string whole = moved(some_key(), *response_of("body"));
  const std::string line = whole.substr(0, whole.find('\n') + 1);
  const std::string rest = whole.substr(line.size());
  std::vector<std::string> none = {
      "X",     "B\n",       "B 1\n",         "B 16384 1\n",  "B 1 1000000001\n",
      "B 1 1", "B 1 1 1\n", "B -1 1\n",      "R\n",          "R 1\n",
      "U\n",   "U 1 2\n",   "U 16384 2 3\n", "U 1 2 60001\n"};
  for (std::size_t size = 1; size < whole.size(); ++size) none.push_back(whole.substr(0, size));
  // A bucket that is none, a status that is none, field lines that are none.
  none.push_back("R 16384" + whole.substr(whole.find(' ', 2)));
  std::string broken = rest;
  broken.replace(broken.find("\r\n"), 2, "\n\r");
  none.push_back(line + broken);
  broken = rest;
  broken.replace(broken.find(": "), 2, "::");
  none.push_back(line + broken);
  EXPECT_EQ(with_number(whole, flags_place, "8"), whole);  // warm
  none.push_back(with_number(whole, flags_place, "16"));   // a newer version has another one
  for (const std::string& text : none) {
    std::string_view left = text;
    const auto item = take_moved(left, {now, steady});
    ASSERT_FALSE(item) << text;
    EXPECT_EQ(item.error().kind, ErrorKind::malformed);
    EXPECT_EQ(item.error().source, ErrorSource::peer);
  }
}

}  // namespace
}  // namespace ringside::cache
