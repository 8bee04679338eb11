// What others see of a store while something is purged.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/hash.h"
#include "base/limits.h"
#include "cache/store.h"
#include "tests/cache/some_response.h"

namespace ringside::cache {
namespace {

// Keys of one stripe.
CacheKey key_of_kind(std::string_view kind, std::size_t number) {
  CacheKey key;
  key.text = std::string(kind) + std::to_string(number) + "\n";
  key.hash = number & 0xff;
  key.own_hash = hash64(key.text);
  return key;
}

// A response that says when it is freed.
StoredPointer telling(std::function<void()> freed) {
  const StoredPointer response = response_of("x");
  return {response.get(), [response, freed = std::move(freed)](const StoredResponse*) { freed(); }};
}

constexpr std::size_t old_rows = 5 * limits::purge_step_rows;

class StoreWhilePurged : public testing::Test {
 protected:
  void put_old(const std::function<void()>& freed) {
    for (std::size_t number = 0; number < old_rows; ++number) {
      ASSERT_TRUE(store_.put(key_of_kind("/old", number), telling(freed), store_.purge_count()));
    }
  }
  bool has(const CacheKey& key) { return store_.find(key, {}).response != nullptr; }

  Store store_{64 * limits::kMiB};
};

// It freed, and looked at, a whole stripe with its lock held: this ended in a deadlock.
TEST_F(StoreWhilePurged, OthersAreLetInBetweenAndWhileItFrees) {
  std::size_t freed = 0;
  std::size_t most_at_once = 0;
  put_old([&] {
    EXPECT_FALSE(has(key_of_kind("/new", 0)));  // takes the stripe's lock
    ++freed;
    const std::size_t taken_out = old_rows - store_.entries();
    most_at_once = std::max(most_at_once, taken_out - freed + 1);
  });
  EXPECT_EQ(store_.purge({}), old_rows);
  EXPECT_EQ(freed, old_rows);
  EXPECT_GT(most_at_once, 1U);
  EXPECT_LE(most_at_once, limits::purge_step_rows);
  EXPECT_EQ(store_.used_bytes(), 0U);
}

// What is being freed is still used: the budget is real memory.
TEST_F(StoreWhilePurged, WhatIsNotFreedYetIsUsed) {
  put_old([&] { EXPECT_GT(store_.used_bytes(), 0U); });
  EXPECT_EQ(store_.purge("/old"), old_rows);
  EXPECT_EQ(store_.used_bytes(), 0U);
}

TEST_F(StoreWhilePurged, ATableThatGrowsMeanwhileHidesNothingFromIt) {
  constexpr std::size_t new_rows = 20 * old_rows;
  std::size_t put = 0;
  put_old([&] {
    for (const std::size_t most = put + 100; put < std::min(most, new_rows); ++put) {
      ASSERT_TRUE(store_.put(key_of_kind("/new", put), response_of("x"), store_.purge_count()));
    }
  });
  EXPECT_EQ(store_.purge("/old"), old_rows);
  EXPECT_EQ(put, new_rows);
  EXPECT_EQ(store_.entries(), new_rows);
  for (std::size_t number = 0; number < old_rows; ++number) {
    ASSERT_FALSE(has(key_of_kind("/old", number))) << number;
  }
}

// Whoever purges on a core's thread looks after others between the steps.
TEST_F(StoreWhilePurged, EachStepIsBounded) {
  std::size_t freed = 0;
  put_old([&] { ++freed; });
  Store::Purge purge(store_, "/old");
  EXPECT_FALSE(store_.put(key_of_kind("/old", 0), response_of("older"), 0)) << "it has begun";
  std::size_t steps = 0;
  for (bool is_over = false; !is_over; ++steps) {
    const std::size_t before = freed;
    is_over = purge.step();
    EXPECT_LE(freed - before, limits::purge_step_rows);
    EXPECT_EQ(purge.removed(), freed);
    ASSERT_TRUE(store_.put(key_of_kind("/new", steps), response_of("x"), store_.purge_count()));
  }
  EXPECT_GT(steps, old_rows / limits::purge_step_rows);
  EXPECT_EQ(freed, old_rows);
  EXPECT_EQ(store_.entries(), steps);
}

// What was fetched before a purge is refused from its beginning on.
TEST_F(StoreWhilePurged, NothingThatWasFetchedBeforeIsStored) {
  const std::uint64_t before = store_.purge_count();
  bool tried = false;
  put_old([&] {
    tried = true;
    EXPECT_FALSE(store_.put(key_of_kind("/old", 0), response_of("older"), before));
  });
  EXPECT_EQ(store_.purge("/old"), old_rows);
  EXPECT_TRUE(tried);
  EXPECT_EQ(store_.entries(), 0U);
}

}  // namespace
}  // namespace ringside::cache
