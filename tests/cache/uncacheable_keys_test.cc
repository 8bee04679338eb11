#include "cache/uncacheable_keys.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "base/limits.h"

namespace ringside::cache {
namespace {

constexpr SteadyPoint asked_at{Milliseconds{1'000'000}};

CacheKey numbered_key(std::size_t number) {
  return key_of_uri("a.test", "/" + std::to_string(number));
}

TEST(UncacheableKeys, AKeyIsRememberedUntilItsTimeIsOver) {
  UncacheableKeys keys;
  EXPECT_FALSE(keys.contains(numbered_key(1), asked_at));
  keys.remember(numbered_key(1), asked_at + Milliseconds{10});
  EXPECT_TRUE(keys.contains(numbered_key(1), asked_at));
  EXPECT_TRUE(keys.contains(numbered_key(1), asked_at + Milliseconds{9}));
  EXPECT_FALSE(keys.contains(numbered_key(1), asked_at + Milliseconds{10}));
  EXPECT_FALSE(keys.contains(numbered_key(2), asked_at));
}

TEST(UncacheableKeys, TheNewestWordCounts) {
  UncacheableKeys keys;
  keys.remember(numbered_key(1), asked_at + Milliseconds{10});
  keys.remember(numbered_key(1), asked_at + Milliseconds{20});
  EXPECT_TRUE(keys.contains(numbered_key(1), asked_at + Milliseconds{15}));
  keys.forget(numbered_key(1));
  EXPECT_FALSE(keys.contains(numbered_key(1), asked_at));
  keys.forget(numbered_key(1));
  keys.remember(numbered_key(1), asked_at + Milliseconds{5});
  EXPECT_TRUE(keys.contains(numbered_key(1), asked_at));
}

// RFC 9111 §2: two shard keys of one URI are two keys, and so are two that are equal but for them.
TEST(UncacheableKeys, TellsTheShardKeysOfAUriApart) {
  UncacheableKeys keys;
  http::Target target;
  target.path = "/";
  CacheKey german;
  german.assign(http::Scheme::http, "a.test", target, "DE");
  CacheKey french;
  french.assign(http::Scheme::http, "a.test", target, "FR");
  ASSERT_EQ(german.hash, french.hash);
  keys.remember(german, asked_at + Milliseconds{10});
  EXPECT_TRUE(keys.contains(german, asked_at));
  EXPECT_FALSE(keys.contains(french, asked_at));
}

TEST(UncacheableKeys, ForgetsTheOldestBeyondItsBound) {
  UncacheableKeys keys;
  const SteadyPoint until = asked_at + Milliseconds{10};
  const std::size_t many = 2 * limits::uncacheable_keys;
  for (std::size_t number = 0; number < many; ++number) keys.remember(numbered_key(number), until);
  std::size_t remembered = 0;
  for (std::size_t number = 0; number < many; ++number) {
    remembered += keys.contains(numbered_key(number), asked_at) ? 1 : 0;
  }
  EXPECT_LE(remembered, limits::uncacheable_keys);
  EXPECT_GT(remembered, limits::uncacheable_keys * 9 / 10);
  EXPECT_FALSE(keys.contains(numbered_key(0), asked_at));
  EXPECT_TRUE(keys.contains(numbered_key(many - 1), asked_at));
}

// It left a trace each time, until the oldest of its own traces took the newest word along.
TEST(UncacheableKeys, OneThatComesAndGoesOftenIsStillRemembered) {
  UncacheableKeys keys;
  const SteadyPoint until = asked_at + Milliseconds{10};
  for (std::size_t count = 0; count < 10 * limits::uncacheable_keys; ++count) {
    keys.remember(numbered_key(1), until);
    keys.forget(numbered_key(1));
  }
  keys.remember(numbered_key(1), until);
  EXPECT_TRUE(keys.contains(numbered_key(1), asked_at));
}

TEST(UncacheableKeys, ManyThreadsAtOnce) {
  UncacheableKeys keys;
  const SteadyPoint until = asked_at + Milliseconds{10};
  const auto work = [&](std::size_t seed) {
    for (std::size_t step = 0; step < 5'000; ++step) {
      const CacheKey key = numbered_key((step * seed) % 100);
      if (step % 3 == 0) keys.forget(key);
      keys.remember(key, until);
      (void)keys.contains(key, asked_at);
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t seed = 1; seed <= 4; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
  for (std::size_t number = 0; number < 100; ++number) keys.remember(numbered_key(number), until);
  for (std::size_t number = 0; number < 100; ++number) {
    EXPECT_TRUE(keys.contains(numbered_key(number), asked_at));
  }
}

}  // namespace
}  // namespace ringside::cache
