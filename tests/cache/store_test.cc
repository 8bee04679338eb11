#include "cache/store.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <random>
#include <string>
#include <thread>

#include "base/hash.h"
#include "base/limits.h"
#include "tests/cache/some_key.h"
#include "tests/cache/some_response.h"

namespace ringside::cache {
namespace {

using limits::kKiB;
using limits::kMiB;

// Keys of one stripe, so that the order of eviction is one order.
CacheKey key_in_one_stripe(unsigned number) {
  return {"http\na.test\n/" + std::to_string(number) + "\n", 0, number & 0xff};
}

TEST(Store, FindsWhatWasPut) {
  Store store(kMiB);
  const auto key = key_of("a");
  EXPECT_EQ(found_in(store, key), "nothing");
  EXPECT_TRUE(store.put(key, response_of("one"), 0));
  EXPECT_EQ(found_in(store, key), "one");
  EXPECT_EQ(found_in(store, key_of("b")), "nothing");
  EXPECT_TRUE(store.put(key, response_of("two"), 0));
  EXPECT_EQ(found_in(store, key), "two");
  EXPECT_EQ(store.entries(), 1U);
  store.erase(key_of("b"));
  store.erase(key);
  EXPECT_EQ(found_in(store, key), "nothing");
  EXPECT_EQ(store.entries(), 0U);
  EXPECT_EQ(store.used_bytes(), 0U);
  EXPECT_EQ(store.evictions(), 0U);
}

TEST(Store, ALookAsideKeepsNothingFromGoing) {
  using enum Store::Look;
  for (const auto look : {use, aside}) {
    Store store(kMiB);
    const CacheKey oldest = key_in_one_stripe(0);
    EXPECT_TRUE(store.put(oldest, response_of(std::string(1000, 'a')), 0));
    for (unsigned number = 1; store.evictions() == 0; ++number) {
      const auto found = store.find(oldest, {}, look);
      if (found.response == nullptr) break;
      EXPECT_TRUE(store.put(key_in_one_stripe(number), response_of(std::string(1000, 'b')), 0));
    }
    EXPECT_EQ(store.find(oldest, {}).response != nullptr, look == use);
    EXPECT_EQ(store.find(oldest, {}, nowhere).response, nullptr);
  }
}

TEST(Store, TellsKeysOfEqualHashApart) {
  Store store(kMiB);
  EXPECT_TRUE(store.put({"a", 0, 7}, response_of("one"), 0));
  EXPECT_TRUE(store.put({"b", 0, 7}, response_of("two"), 0));
  EXPECT_EQ(found_in(store, {"a", 0, 7}), "one");
  EXPECT_EQ(found_in(store, {"b", 0, 7}), "two");
  EXPECT_EQ(found_in(store, {"c", 7}), "nothing");
}

TEST(Store, EvictsTheLeastRecentlyUsedOfAStripe) {
  Store probe(kMiB);
  ASSERT_TRUE(probe.put(key_in_one_stripe(0), response_of("0"), 0));
  Store store(probe.used_bytes() * 4 + probe.used_bytes() / 2);
  for (unsigned number = 0; number < 4; ++number) {
    ASSERT_TRUE(store.put(key_in_one_stripe(number), response_of(std::to_string(number)), 0));
  }
  EXPECT_EQ(found_in(store, key_in_one_stripe(0)), "0");  // 1 is now the oldest
  ASSERT_TRUE(store.put(key_in_one_stripe(4), response_of("4"), 0));
  ASSERT_TRUE(store.put(key_in_one_stripe(2), response_of("2"), 0));  // put again: used, too
  ASSERT_TRUE(store.put(key_in_one_stripe(5), response_of("5"), 0));
  std::string left;
  for (unsigned number = 0; number < 6; ++number) {
    const auto body = found_in(store, key_in_one_stripe(number));
    left += body == "nothing" ? "-" : body;
  }
  EXPECT_EQ(left.substr(1), "-2-45");
  EXPECT_GE(store.evictions(), 2U);
  EXPECT_LE(store.used_bytes(), store.limit_bytes());
}

TEST(Store, ABodyOutlivesItsEviction) {
  Store store(kMiB);
  const std::string body(100 * kKiB, 'b');
  ASSERT_TRUE(store.put(key_of("held"), response_of(body), 0));
  const auto held = store.find(key_of("held"), {}).response;
  for (unsigned number = 0; number < 100; ++number) {
    ASSERT_TRUE(store.put(key_of(std::to_string(number)), response_of(body), 0));
  }
  EXPECT_EQ(found_in(store, key_of("held")), "nothing");
  EXPECT_EQ(body_of(held), body);
}

TEST(Store, RefusesWhatIsTooLarge) {
  Store store(kMiB);
  EXPECT_EQ(store.object_limit_bytes(), kMiB / limits::object_share_divisor);
  EXPECT_TRUE(store.put(key_of("a"), response_of(std::string(kMiB / 8, 'x')), 0));
  EXPECT_FALSE(store.put(key_of("b"), response_of(std::string(kMiB / 8 + 1, 'x')), 0));
  EXPECT_EQ(store.entries(), 1U);
  Store tiny(1 * kKiB);
  EXPECT_FALSE(tiny.put(key_of("a"), response_of("a"), 0));
  EXPECT_EQ(tiny.used_bytes(), 0U);
}

TEST(Store, KeepsVariantsApartAndTheirNumberBounded) {
  Store store(64 * kMiB);
  const auto key = key_of("a");
  const auto fields = fields_of({{"Vary", "Accept"}, {"Cache-Control", "max-age=60"}});
  const auto put = [&](const std::string& accept, std::string_view body) {
    const auto request = fields_of({{"Accept", accept}});
    ASSERT_TRUE(store.put(key, response_of(fields, body, request), 0));
  };
  const auto find = [&](const std::string& accept) {
    return found_in(store, key, fields_of({{"Accept", accept}}));
  };
  put("x", "for x");
  put("y", "for y");
  EXPECT_EQ(find("x"), "for x");
  EXPECT_EQ(find("y"), "for y");
  EXPECT_EQ(find("z"), "nothing");
  EXPECT_EQ(store.find(key, {}).vary, std::vector<std::string>{"accept"});
  const auto used = store.used_bytes();
  put("x", "new x");
  EXPECT_EQ(find("x"), "new x");
  EXPECT_EQ(store.entries(), 2U);
  EXPECT_EQ(store.used_bytes(), used);
  for (std::size_t number = 0; number < limits::variants_per_key - 1; ++number) {
    put(std::to_string(number), "more");
  }
  EXPECT_EQ(store.entries(), limits::variants_per_key);
  EXPECT_EQ(find("y"), "nothing");  // the oldest
  EXPECT_EQ(find("x"), "new x");
  store.erase(key);
  EXPECT_EQ(store.entries(), 0U);
  EXPECT_EQ(store.used_bytes(), 0U);
}

TEST(Store, TheNewestAnswerSaysWhatVaries) {
  Store store(kMiB);
  const auto key = key_of("a");
  const auto plain = fields_of({{"Cache-Control", "max-age=60"}});
  const auto varying = fields_of({{"Cache-Control", "max-age=60"}, {"Vary", "Accept"}});
  const auto x = fields_of({{"Accept", "x"}});
  ASSERT_TRUE(store.put(key, response_of(varying, "for x", x), 0));
  ASSERT_TRUE(store.put(key, response_of(plain, "for all", x), 0));
  EXPECT_EQ(found_in(store, key, fields_of({{"Accept", "y"}})), "for all");
  ASSERT_TRUE(store.put(key, response_of(varying, "again for x", x), 0));
  EXPECT_EQ(found_in(store, key, x), "again for x");
}

TEST(Store, PurgesAPrefixOrEverything) {
  Store store(kMiB);
  for (const auto* text : {"/a\n", "/a\nDE", "/a\nFR", "/ab\n", "/b\n"}) {
    ASSERT_TRUE(store.put(key_of(text), response_of("x"), store.purge_count()));
  }
  EXPECT_EQ(store.purge("/a\n"), 3U);
  EXPECT_EQ(found_in(store, key_of("/a\nDE")), "nothing");
  EXPECT_EQ(found_in(store, key_of("/ab\n")), "x");
  EXPECT_EQ(store.purge("/c\n"), 0U);
  EXPECT_EQ(store.purge({}), 2U);
  EXPECT_EQ(store.entries(), 0U);
  EXPECT_EQ(store.used_bytes(), 0U);
  EXPECT_EQ(store.purge_count(), 3U);
}

TEST(Store, StoresNothingThatWasFetchedBeforeAPurge) {
  Store store(kMiB);
  const auto before = store.purge_count();
  store.purge("/elsewhere\n");
  EXPECT_FALSE(store.put(key_of("a"), response_of("old"), before));
  EXPECT_EQ(found_in(store, key_of("a")), "nothing");
  EXPECT_EQ(store.used_bytes(), 0U);
  EXPECT_TRUE(store.put(key_of("a"), response_of("new"), store.purge_count()));
}

TEST(Store, ReservationsAreWithinTheBudgetAndEvict) {
  Store store(kMiB);
  for (unsigned number = 0; number < 8; ++number) {
    ASSERT_TRUE(
        store.put(key_of(std::to_string(number)), response_of(std::string(100 * kKiB, 'x')), 0));
  }
  EXPECT_TRUE(store.reserve(900 * kKiB));
  EXPECT_LE(store.entries(), 1U);
  EXPECT_FALSE(store.reserve(200 * kKiB));
  EXPECT_EQ(store.entries(), 0U);
  EXPECT_EQ(store.used_bytes(), 900 * kKiB);
  EXPECT_FALSE(store.put(key_of("a"), response_of(std::string(128 * kKiB, 'x')), 0));
  store.give_back(900 * kKiB);
  EXPECT_EQ(store.used_bytes(), 0U);
  EXPECT_FALSE(store.reserve(kMiB + 1));
}

TEST(Store, KeepsItsBudgetAtEveryMomentFromAllThreads) {
  Store store(2 * kMiB);
  std::atomic<bool> done{false};
  std::atomic<std::size_t> most{0};
  const auto look = [&] {
    const std::size_t used_bytes = store.used_bytes();
    std::size_t before = most.load();
    while (before < used_bytes && !most.compare_exchange_weak(before, used_bytes)) {
    }
  };
  std::thread watcher([&] {
    while (!done) look();
  });
  const auto work = [&store, &look](unsigned seed) {
    std::mt19937 random(seed);
    const auto vary = fields_of({{"Vary", "Accept"}, {"Cache-Control", "max-age=60"}});
    for (unsigned step = 0; step < 3000; ++step) {
      const auto key = key_of("http\na.test\n/" + std::to_string(random() % 200) + "\n");
      const std::string accept(1, static_cast<char>('a' + random() % 4));
      const auto request = fields_of({{"Accept", accept}});
      const auto dice = random() % 100;
      if (dice < 50) {
        const std::string body(random() % 4 == 0 ? random() % (200 * kKiB) : random() % kKiB, 'x');
        store.put(key, response_of(vary, body, request), store.purge_count());
      } else if (dice < 90) {
        const auto found = store.find(key, request);
        ASSERT_TRUE(!found.response || found.response->head->vary().size() == 1);
      } else if (dice < 95) {
        store.erase(key);
      } else if (dice < 99) {
        const std::size_t bytes = random() % (512 * kKiB);
        if (store.reserve(bytes)) store.give_back(bytes);
      } else {
        store.purge(key.text);
      }
      ASSERT_LE(store.used_bytes(), store.limit_bytes());
      look();  // the watcher may not get its turn
    }
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
  done = true;
  watcher.join();
  EXPECT_LE(most.load(), store.limit_bytes());
  EXPECT_GT(most.load(), store.limit_bytes() / 2);
  store.purge({});
  EXPECT_EQ(store.used_bytes(), 0U);
  EXPECT_EQ(store.entries(), 0U);
}

// A sanitizer's allocator does not tell what the heap holds. GCC and clang say so differently.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define RINGSIDE_OTHER_HEAP
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RINGSIDE_OTHER_HEAP
#endif

#ifndef RINGSIDE_OTHER_HEAP

// The allocator's, and the store's own for what is small.
std::size_t heap_bytes() {
  const auto info = ::mallinfo2();
  return info.uordblks + info.hblkhd + Cells::all().held_bytes();
}

TEST(Store, ItsBudgetIsRealMemory) {
  const auto fields = fields_of({{"Date", "Sun, 06 Nov 1994 08:49:37 GMT"},
                                 {"Server", "origin/1.0"},
                                 {"Content-Type", "text/html; charset=utf-8"},
                                 {"Cache-Control", "public, max-age=3600"},
                                 {"ETag", "\"5e1f-4b2c9a7d\""},
                                 {"Last-Modified", "Sat, 05 Nov 1994 08:49:37 GMT"},
                                 {"Vary", "Accept-Encoding"}});
  constexpr std::size_t limit = 64 * kMiB;
  for (const std::size_t size : {std::size_t{0}, std::size_t{300}, 5 * kKiB, 300 * kKiB}) {
    const std::string body(size, 'x');
    const std::size_t before = heap_bytes();
    Store store(limit);
    unsigned number = 0;
    while (store.evictions() < 100) {
      auto key = key_of("http\nwww.example.com\n/some/path/" + std::to_string(number++) + "\n");
      key.bucket = shard::bucket_of(hash64(key.text + "DE"));  // each has a list for itself
      ASSERT_TRUE(store.put(key, response_of(fields, body), 0));
    }
    const std::size_t grown = heap_bytes() - before;
    RecordProperty("heap_bytes_at_" + std::to_string(size), std::to_string(grown));
    EXPECT_LE(grown, limit + limit / 4) << size;
    EXPECT_GE(grown, limit / 2) << size << ": room is wasted";
  }
}

#endif

}  // namespace
}  // namespace ringside::cache
