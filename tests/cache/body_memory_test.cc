#include "cache/body_memory.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/hash.h"
#include "base/limits.h"
#include "cache/stalled.h"
#include "cache/store.h"
#include "tests/cache/some_response.h"

namespace ringside::cache {
namespace {

using limits::kKiB;
using limits::kMiB;

CacheKey some_key(unsigned number) {
  CacheKey key;
  key.text = std::to_string(number);
  key.hash = hash64(key.text);
  return key;
}

StoredPointer made_in(Store& store, std::string_view text) {
  auto body = make_body();
  const auto pieces = store.memory().make({&text, 1}, 0);
  body->pieces.assign(pieces.begin(), pieces.end());
  body->size_bytes = text.size();
  return make_stored({response_of("")->head, std::move(body)});
}

TEST(BodyMemory, HasTheBytesOfSeveralTextsOneAfterTheOther) {
  const auto memory = std::make_shared<BodyMemory>(4 * kMiB);
  std::string whole;
  std::vector<std::string> parts;
  for (unsigned number = 0; number < 50; ++number) {
    parts.emplace_back(number * 100, static_cast<char>('a' + number % 26));
    whole += parts.back();
  }
  const std::vector<std::string_view> texts(parts.begin(), parts.end());
  const auto pieces = memory->make(texts, 0);
  std::string made;
  std::size_t cost = 0;
  for (const PiecePointer& piece : pieces) {
    made += piece->bytes();
    cost += piece->cost_bytes();
  }
  EXPECT_EQ(made, whole);
  EXPECT_EQ(memory->used_bytes(), cost);
  EXPECT_TRUE(memory->make({}, 0).empty());
}

// `--memory 32MiB` went to 386 MiB: what was evicted and still held counted for nothing.
TEST(BodyMemory, ABodyCountsUntilTheLastWhoHoldsItLetsGo) {
  Store store(8 * kMiB);
  auto held = made_in(store, std::string(kMiB, 'x'));
  const std::size_t cost = pinned_bytes(held->body->pieces);
  EXPECT_GE(cost, kMiB);
  ASSERT_TRUE(store.put(some_key(1), held, 0));
  EXPECT_EQ(store.memory().pinned_bytes(), 0U);
  store.erase(some_key(1));
  EXPECT_EQ(store.used_bytes(), cost);
  EXPECT_EQ(store.memory().pinned_bytes(), cost);
  held.reset();
  EXPECT_EQ(store.used_bytes(), 0U);
  EXPECT_EQ(store.memory().pinned_bytes(), 0U);
}

TEST(BodyMemory, WhatIsStoredTwiceIsPinnedByNobody) {
  Store store(8 * kMiB);
  auto held = made_in(store, std::string(100 * kKiB, 'x'));
  ASSERT_TRUE(store.put(some_key(1), held, 0));
  ASSERT_TRUE(store.put(some_key(2), held, 0));
  store.erase(some_key(1));
  EXPECT_EQ(store.memory().pinned_bytes(), 0U);
  store.purge({});
  EXPECT_GT(store.memory().pinned_bytes(), 100 * kKiB);
}

TEST(BodyMemory, WhoHoldsTooMuchStopsTheStoringAndNotTheStore) {
  Store store(8 * kMiB);
  unsigned pressed = 0;
  store.on_pressure([&] { ++pressed; });
  std::vector<StoredPointer> held;
  for (unsigned number = 0; number < 3; ++number) {
    held.push_back(made_in(store, std::string(kMiB, 'x')));
    ASSERT_TRUE(store.put(some_key(number), held.back(), 0));
    store.erase(some_key(number));
  }
  ASSERT_TRUE(store.is_pinned_full());
  ASSERT_TRUE(store.put(some_key(9), made_in(store, std::string(kMiB, 'y')), 0));
  EXPECT_FALSE(store.reserve(6 * kMiB));
  EXPECT_EQ(store.entries(), 1U) << "evicting would not have helped";
  EXPECT_EQ(pressed, 1U);
  held.clear();
  EXPECT_TRUE(store.reserve(6 * kMiB));
  EXPECT_LE(store.used_bytes(), store.limit_bytes());
}

struct Waiting final : Stalled {
  explicit Waiting(std::size_t bytes) : pinned(bytes) {}
  [[nodiscard]] std::size_t pinned_bytes() const override { return pinned; }
  void cut() override { ++cuts; }
  std::size_t pinned;
  unsigned cuts = 0;
};

TEST(StalledList, CutsWhoWaitsForLongestAndPinsAnything) {
  StalledList list;
  const SteadyPoint began{};
  const SteadyPoint later = began + limits::stalled_least;
  Waiting pins_nothing(0), first(10), second(10), third(10);
  list.add(pins_nothing, began);
  list.add(first, began);
  list.add(second, began);
  list.add(third, began);
  first.unlink();  // it has taken something
  list.add(first, began);
  list.cut(15, later);
  EXPECT_EQ(pins_nothing.cuts, 0U);
  EXPECT_EQ(first.cuts, 0U);
  EXPECT_EQ(second.cuts, 1U);
  EXPECT_EQ(third.cuts, 1U);
  list.cut(15, later);
  EXPECT_EQ(first.cuts, 1U);
  EXPECT_EQ(second.cuts, 1U);
}

// An end-to-end test saw it: the slow ones were another core's.
TEST(StalledList, AClientThatHasOnlyJustBegunToWaitDoesNotPayForSlowOnesOfAnotherCore) {
  StalledList list;
  const SteadyPoint now{};
  Waiting honest(10), slow(10);
  list.add(honest, now);
  list.cut(15, now + limits::stalled_least - Milliseconds(1));
  EXPECT_EQ(honest.cuts, 0U);
  honest.unlink();
  list.add(slow, now);
  list.add(honest, now + Milliseconds(1));
  list.cut(15, now + limits::stalled_least);
  EXPECT_EQ(slow.cuts, 1U);
  EXPECT_EQ(honest.cuts, 0U);
}

}  // namespace
}  // namespace ringside::cache
