// The store by bucket: each way in and out of it keeps the lists and the counts right.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/hash.h"
#include "base/limits.h"
#include "cache/bucket_lists.h"
#include "cache/store.h"
#include "tests/cache/some_key.h"
#include "tests/cache/some_response.h"

namespace ringside::cache {
namespace {

constexpr std::size_t budget_bytes = 8 * limits::kMiB;

// What the store has of a bucket, sorted: `path: body, body`.
std::vector<std::string> entries_of(Store& store, shard::Bucket bucket) {
  std::vector<std::string> out;
  std::size_t responses = 0;
  for (const Store::Entry& entry : store.entries_of(bucket)) {
    const std::string uri(entry.key.uri());
    std::string line = uri.substr(uri.find('/'), uri.size() - uri.find('/') - 1);
    line += ":";
    for (const StoredPointer& variant : entry.variants) line += " " + body_of(variant);
    out.push_back(std::move(line));
    responses += entry.variants.size();
    EXPECT_EQ(entry.key.bucket, bucket);
    EXPECT_EQ(store.find(entry.key, {}).response != nullptr, true) << "a key that finds it again";
  }
  EXPECT_EQ(store.count_of(bucket), responses);
  std::sort(out.begin(), out.end());
  return out;
}

using Lines = std::vector<std::string>;

struct Case {
  std::string what;
  std::function<void(Store&)> change;  // of a store with /a, /b in 7, /c in 9, /d in none
  Lines in_seven;
  Lines in_nine;
};

StoredPointer found(Store& store, const std::string& path) {
  return store.find(key_in({}, path), {}).response;
}

const std::vector<Case> cases{
    {"nothing", [](Store&) {}, {"/a: one", "/b: two"}, {"/c: three"}},
    {"put again",
     [](Store& s) { s.put(key_in(7, "/a"), response_of("new"), s.purge_count()); },
     {"/a: new", "/b: two"},
     {"/c: three"}},
    {"put by somebody who knows of no bucket",
     [](Store& s) { s.put(key_in({}, "/a"), response_of("new"), s.purge_count()); },
     {"/a: new", "/b: two"},
     {"/c: three"}},
    {"put by somebody who does, where nobody did",
     [](Store& s) { s.put(key_in(9, "/d"), response_of("new"), s.purge_count()); },
     {"/a: one", "/b: two"},
     {"/c: three", "/d: new"}},
    {"put into another",
     [](Store& s) { s.put(key_in(9, "/a"), response_of("new"), s.purge_count()); },
     {"/b: two"},
     {"/a: new", "/c: three"}},
    {"a put that comes too late",
     [](Store& s) {
       const auto before = s.purge_count();
       s.purge("b.test");
       EXPECT_FALSE(s.put(key_in(7, "/e"), response_of("late"), before));
     },
     {"/a: one", "/b: two"},
     {"/c: three"}},
    {"a slice, which lies elsewhere",
     [](Store& s) {
       const auto slice = slice_key(key_in(7, "/a"), 3, "\"tag\"");
       s.put(slice, response_of("slice"), s.purge_count());
     },
     {"/a: one", "/a: slice", "/b: two"},
     {"/c: three"}},
    {"another key of the URI",
     [](Store& s) { s.put(key_in(9, "/a", "DE"), response_of("german"), s.purge_count()); },
     {"/a: one", "/b: two"},
     {"/a: german", "/c: three"}},
    {"replace",
     [](Store& s) { s.replace(key_in({}, "/a"), found(s, "/a"), response_of("other")); },
     {"/a: other", "/b: two"},
     {"/c: three"}},
    {"erase", [](Store& s) { s.erase(key_in({}, "/a")); }, {"/b: two"}, {"/c: three"}},
    {"erase the last of a bucket",
     [](Store& s) { s.erase(key_in(9, "/c")); },
     {"/a: one", "/b: two"},
     {}},
    {"erase a variant",
     [](Store& s) { s.erase(key_in({}, "/b"), found(s, "/b")); },
     {"/a: one"},
     {"/c: three"}},
    {"erase one variant of two",
     [](Store& s) {
       const auto x = fields_of({{"Accept", "x"}});
       const auto varying = fields_of({{"Cache-Control", "max-age=60"}, {"Vary", "Accept"}});
       s.put(key_in(7, "/a"), response_of(varying, "x", x), s.purge_count());
       EXPECT_EQ(s.count_of(7), 3U);
       s.erase(key_in({}, "/a"), s.find(key_in({}, "/a"), x).response);
     },
     {"/a: one", "/b: two"},
     {"/c: three"}},
    {"erase a URI", [](Store& s) { s.erase_uri(key_in({}, "/a")); }, {"/b: two"}, {"/c: three"}},
    {"purge of a URI",
     [](Store& s) { s.purge(uri_prefix("a.test", "/c")); },
     {"/a: one", "/b: two"},
     {}},
    {"purge of everything", [](Store& s) { s.purge({}); }, {}, {}},
    {"everything evicted",
     [](Store& s) {
       ASSERT_TRUE(s.reserve(s.limit_bytes()));
       s.give_back(s.limit_bytes());
     },
     {},
     {}},
};

TEST(StoreBuckets, AreRightWhateverBecomesOfTheEntries) {
  for (const Case& one : cases) {
    SCOPED_TRACE(one.what);
    Store store(budget_bytes);
    ASSERT_TRUE(store.put(key_in(7, "/a"), response_of("one"), 0));
    ASSERT_TRUE(store.put(key_in(7, "/b"), response_of("two"), 0));
    ASSERT_TRUE(store.put(key_in(9, "/c"), response_of("three"), 0));
    ASSERT_TRUE(store.put(key_in({}, "/d"), response_of("four"), 0));
    one.change(store);
    EXPECT_EQ(entries_of(store, 7), one.in_seven);
    EXPECT_EQ(entries_of(store, 9), one.in_nine);
    EXPECT_EQ(entries_of(store, 8), Lines{});
    store.purge({});
    EXPECT_EQ(store.used_bytes(), 0U);
    EXPECT_EQ(store.entries(), 0U);
  }
}

TEST(StoreBuckets, AKeyComesBackWhole) {
  Store store(budget_bytes);
  const auto key = key_in(16'383, "/a", "country=DE&");
  ASSERT_TRUE(store.put(key, response_of("one"), 0));
  const auto entries = store.entries_of(16'383);
  ASSERT_EQ(entries.size(), 1U);
  const CacheKey& back = entries.front().key;
  EXPECT_EQ(back.text, key.text);
  EXPECT_EQ(back.uri(), key.uri());
  EXPECT_EQ(back.hash, key.hash);
  EXPECT_EQ(back.own_hash, key.own_hash);
  EXPECT_EQ(back.bucket, key.bucket);
}

// More than a step's entries in one stripe.
TEST(StoreBuckets, AListOfManyStepsIsWhole) {
  constexpr std::size_t entries = 10 * limits::bucket_step_rows + 1;
  Store store(64 * limits::kMiB);
  for (std::size_t number = 0; number < entries; ++number) {
    CacheKey key{"k" + std::to_string(number), 1, 0, number};
    key.bucket = 1;
    ASSERT_TRUE(store.put(key, response_of("x"), 0));
  }
  EXPECT_EQ(store.entries_of(1).size(), entries);
  EXPECT_EQ(store.count_of(1), entries);
  EXPECT_TRUE(store.entries_of(2).empty());
}

// The body of the next entry; empty: there is no more.
std::string next_of(Store::BucketWalk& walk) {
  const auto entry = walk.next();
  return entry ? body_of(entry->variants.back()) : "";
}

// All in one stripe, so that there is one order.
CacheKey key_numbered(std::uint64_t number) {
  CacheKey key{"k" + std::to_string(number), 1, 0, number};
  key.bucket = 1;
  return key;
}

Lines rest_of(Store::BucketWalk& walk) {
  Lines lines;
  for (std::string next = next_of(walk); !next.empty(); next = next_of(walk)) lines.push_back(next);
  return lines;
}

TEST(StoreBuckets, AWalkSeesWhatIsStoredMeanwhile) {
  Store store(budget_bytes);
  const auto put = [&](std::uint64_t number, const std::string& body) {
    ASSERT_TRUE(store.put(key_numbered(number), response_of(body), 0));
  };
  for (std::uint64_t number = 0; number < 4; ++number) put(number, std::to_string(number));
  Store::BucketWalk walk(store, 1);
  EXPECT_EQ(next_of(walk), "0");
  EXPECT_EQ(next_of(walk), "1");
  put(0, "0 again");
  const auto third = store.find(key_numbered(3), {}).response;
  ASSERT_TRUE(store.replace(key_numbered(3), third, response_of("3 again")));
  store.erase(key_numbered(2));
  put(4, "4");
  EXPECT_EQ(rest_of(walk), (Lines{"0 again", "3 again", "4"}));
  put(1, "1 again");
  EXPECT_EQ(rest_of(walk), Lines{"1 again"});
  EXPECT_EQ(rest_of(walk), Lines{});
}

TEST(StoreBuckets, AWalkIsNotOverBecauseSomethingWasErasedBeforeIt) {
  Store store(budget_bytes);
  // In stripes of their own, those that come later behind the walk.
  const auto key_in_stripe = [](std::uint64_t stripe) {
    CacheKey key = key_numbered(stripe);
    key.hash = stripe << 8;
    return key;
  };
  for (const std::uint64_t stripe : {30U, 40U, 50U}) {
    ASSERT_TRUE(store.put(key_in_stripe(stripe), response_of("first"), 0));
  }
  Store::BucketWalk walk(store, 1);
  EXPECT_EQ(next_of(walk), "first");
  store.erase(key_in_stripe(50));
  for (const std::uint64_t stripe : {10U, 20U}) {
    ASSERT_TRUE(store.put(key_in_stripe(stripe), response_of("later"), 0));
  }
  EXPECT_EQ(rest_of(walk), (Lines{"first", "later", "later"}));
}

TEST(StoreBuckets, AWalkGoesBackToItsMark) {
  Store store(budget_bytes);
  for (std::uint64_t number = 0; number < 4; ++number) {
    ASSERT_TRUE(store.put(key_numbered(number), response_of(std::to_string(number)), 0));
  }
  Store::BucketWalk walk(store, 1);
  EXPECT_EQ(next_of(walk), "0");
  walk.rewind();
  EXPECT_EQ(next_of(walk), "0") << "there was no mark";
  walk.mark();
  EXPECT_EQ(next_of(walk), "1");
  store.erase(key_numbered(0));
  EXPECT_EQ(next_of(walk), "2");
  walk.rewind();
  EXPECT_EQ(rest_of(walk), (Lines{"1", "2", "3"}));
  Store::BucketWalk other(store, 1);
  EXPECT_EQ(rest_of(other), (Lines{"1", "2", "3"})) << "walks do not meet each other";
  EXPECT_EQ(rest_of(walk), Lines{});
}

TEST(StoreBuckets, AWalkErasesWhatItHasPassed) {
  constexpr std::size_t many = 3 * limits::bucket_step_rows;
  Store store(budget_bytes);
  const std::size_t before = store.used_bytes();
  for (std::uint64_t number = 0; number < many; ++number) {
    ASSERT_TRUE(store.put(key_numbered(number), response_of(std::to_string(number)), 0));
  }
  {
    Store::BucketWalk walk(store, 1);
    for (std::size_t passed = 0; passed + 1 < many; ++passed) static_cast<void>(next_of(walk));
    ASSERT_TRUE(store.put(key_numbered(5), response_of("5 again"), 0));
    Store::BucketWalk::Share all{2 * budget_bytes, 2 * many};
    EXPECT_TRUE(walk.erase_passed(all));
    EXPECT_EQ(store.count_of(1), 2U);
    EXPECT_EQ(rest_of(walk), (Lines{std::to_string(many - 1), "5 again"}));
    EXPECT_TRUE(walk.erase_passed(all));
    EXPECT_EQ(store.count_of(1), 0U);
    EXPECT_EQ(rest_of(walk), Lines{});
    EXPECT_EQ(store.used_bytes(), before);
    ASSERT_TRUE(store.put(key_numbered(7), response_of("7"), 0));
    EXPECT_EQ(rest_of(walk), Lines{"7"});
  }
  EXPECT_EQ(store.entries_of(1).size(), 1U) << "the walk is gone, and what it saw is not";
}

// Between two steps of a walk entries go, come, and go to another bucket, those around its place
// too.
TEST(BucketLists, AWalkKeepsItsPlaceWhateverComesAndGoes) {
  using Of = BucketPlace::Of;
  struct Named : BucketPlace {
    explicit Named(char its_name) : BucketPlace(Of::entry), name(its_name) {}
    char name;
  };
  struct Change {
    std::string what;
    std::function<void(BucketLists&, std::vector<Named>&)> change;
    std::string seen;
  };
  const std::vector<Change> changes{
      {"nothing", [](auto&, auto&) {}, "ab|cd|ef"},
      {"the one before goes", [](auto& lists, auto& of) { lists.remove(of[1]); }, "ab|cd|ef"},
      {"the next goes", [](auto& lists, auto& of) { lists.remove(of[2]); }, "ab|de|f"},
      {"all others go",
       [](auto& lists, auto& of) {
         for (std::size_t i = 0; i < 6; ++i) lists.remove(of[i]);
       },
       "ab|"},
      {"the next goes to another bucket",
       [](auto& lists, auto& of) {
         lists.remove(of[2]);
         lists.add(of[2], 2);
       },
       "ab|de|f"},
      {"one comes", [](auto& lists, auto& of) { lists.add(of[6], 1); }, "ab|cd|ef"},
  };
  for (const Change& one : changes) {
    std::vector<Named> entries;
    for (const char name : std::string("abcdefg")) entries.emplace_back(name);
    BucketLists lists;
    for (int i = 5; i >= 0; --i) lists.add(entries[static_cast<std::size_t>(i)], 1);
    BucketPlace walker(Of::walker);
    std::string seen;
    const auto step = [&](BucketPlace& of) {
      return lists.step(of, 1, 2, [&](const BucketPlace& place) {
        seen += static_cast<const Named&>(place).name;
      });
    };
    bool is_over = step(walker);
    one.change(lists, entries);
    while (!is_over) {
      seen += '|';
      is_over = step(walker);
    }
    EXPECT_EQ(seen, one.seen) << one.what;
    for (Named& entry : entries) lists.remove(entry);
  }
}

TEST(StoreBuckets, AreRightFromAllThreads) {
  Store store(2 * limits::kMiB);
  constexpr unsigned paths = 300;
  constexpr unsigned buckets = 3;
  const auto key_numbered = [](unsigned number) {
    return key_in(static_cast<shard::Bucket>(number % buckets), "/" + std::to_string(number));
  };
  std::atomic<bool> done{false};
  std::thread lister([&] {
    while (!done) {
      for (shard::Bucket bucket = 0; bucket < buckets; ++bucket) {
        for (const Store::Entry& entry : store.entries_of(bucket)) {
          ASSERT_EQ(entry.key.bucket, bucket);
          ASSERT_FALSE(entry.variants.empty());
        }
        Store::BucketWalk walk(store, bucket);
        for (unsigned i = 0; i < paths && walk.next(); ++i) walk.mark();
        walk.rewind();
        Store::BucketWalk::Share all{budget_bytes, 2 * paths};
        if (bucket == 0) {
          EXPECT_TRUE(walk.erase_passed(all));
        }
      }
    }
  });
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (unsigned step = 0; step < 4000; ++step) {
      const auto key = key_numbered(static_cast<unsigned>(random() % paths));
      const auto dice = random() % 100;
      if (dice < 60) {
        store.put(key, response_of(std::string(random() % (16 * limits::kKiB), 'x')),
                  store.purge_count());
      } else if (dice < 90) {
        store.erase(key);
      } else if (dice < 99) {
        store.erase_uri(key);
      } else {
        store.purge(key.text);
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 3; ++seed) threads.emplace_back(work, seed);
  for (std::thread& thread : threads) thread.join();
  done = true;
  lister.join();
  std::size_t listed = 0;
  for (shard::Bucket bucket = 0; bucket < buckets; ++bucket) {
    const auto entries = store.entries_of(bucket);
    EXPECT_EQ(entries.size(), store.count_of(bucket));
    for (const Store::Entry& entry : entries) EXPECT_TRUE(store.find(entry.key, {}).response);
    listed += entries.size();
  }
  EXPECT_EQ(listed, store.entries());
  EXPECT_GT(listed, 0U);
}

}  // namespace
}  // namespace ringside::cache
