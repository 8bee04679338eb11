#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/limits.h"
#include "cache/bucket_source.h"
#include "cache/moved_response.h"
#include "tests/cache/batch_text.h"
#include "tests/cache/some_key.h"
#include "tests/cache/some_response.h"
#include "tests/support/fake_clock.h"
#include "tests/tier/some_membership.h"

namespace ringside::cache {

inline constexpr SteadyPoint steady{std::chrono::hours{1}};
inline constexpr AskedAt asked_now{support::FakeClock::start, steady};

// Replica `a`, which holds everything, in a tier to which `b` has come.
struct Giver {
  Giver() {
    const auto alone = tier::membership_of({"a"});
    const auto both = tier::membership_of({"a", "b"});
    holders.change([&](tier::Authority& authority) {
      authority.follow(alone);
      authority.follow(both);
      authority.heard("b", {{9, 0}, {}}, {}, steady);
    });
    buckets = holders.to_give("b");
  }

  StoredPointer put(const std::string& path, shard::Bucket bucket, const std::string& body) {
    const auto response = response_of(body);
    EXPECT_TRUE(store.put(key_in(bucket, path), response, store.purge_count()));
    return response;
  }
  // The bodies and the buckets of a batch.
  struct Batch {
    std::vector<std::string> bodies;
    std::vector<UncacheableKeys::Mark> marks;
    std::vector<MovedBucket> buckets;
  };
  Batch batch(std::uint64_t number) {
    auto answer = source.answer({"b", number, serial}, asked_at);
    serial = answer.serial;
    return read(std::move(answer.batch));
  }
  static Batch read(MovedBatch sent) {
    const std::string text = text_of(std::move(sent));
    if (text.empty()) return {};
    Batch batch;
    for (std::string_view left = text; !left.empty();) {
      const auto item = take_moved(left, asked_now);
      EXPECT_TRUE(item) << item.error().message;
      if (!item) break;
      if (const auto* moved = std::get_if<MovedResponse>(&*item)) {
        batch.bodies.emplace_back(moved->body);
      } else if (const auto* mark = std::get_if<UncacheableKeys::Mark>(&*item)) {
        batch.marks.push_back(*mark);
      } else {
        batch.buckets.push_back(std::get<MovedBucket>(*item));
      }
    }
    return batch;
  }
  // From `number` on, until one is empty.
  Batch rest(std::uint64_t number) {
    Batch all;
    while (true) {
      const Batch next = batch(number++);
      if (next.bodies.empty() && next.buckets.empty()) return all;
      all.bodies.insert(all.bodies.end(), next.bodies.begin(), next.bodies.end());
      all.buckets.insert(all.buckets.end(), next.buckets.begin(), next.buckets.end());
    }
  }

  Store store{64 * limits::kMiB};
  FlightTable flights;
  UncacheableKeys uncacheable;
  Holders holders{"a", 5};
  BucketSource source{store, flights, uncacheable, holders};
  std::vector<shard::Bucket> buckets;  // that b is to take
  AskedAt asked_at = asked_now;
  std::uint64_t serial = 0;  // of the answer that came last
};

}  // namespace ringside::cache
