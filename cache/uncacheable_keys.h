#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "cache/cache_key.h"
#include "cache/storability.h"

namespace ringside::cache {

// Keys whose last answer could not be stored: their requests don't wait for each other, since
// nothing would come of it ("hit for miss"). An answer that can be stored ends it. Two keys of one
// hash share the memory, which costs a fetch at most. Bounded (limits::uncacheable_keys), the
// oldest is forgotten first. Thread-safe.
class UncacheableKeys {
 public:
  // `why` it could not be stored; nullopt: nobody has said.
  void remember(const CacheKey& key, SteadyPoint until,
                std::optional<Storability> why = std::nullopt);
  void forget(const CacheKey& key);
  [[nodiscard]] bool contains(const CacheKey& key, SteadyPoint now) {
    return find(key, now).has_value();
  }
  struct Kept {
    SteadyPoint until;
    std::optional<shard::Bucket> bucket;
    std::optional<Storability> why = std::nullopt;
  };
  // What is remembered of the key; nullopt: nothing.
  [[nodiscard]] std::optional<Kept> find(const CacheKey& key, SteadyPoint now);

  // What moves with a bucket, when another replica is to have it.
  struct Mark {
    std::uint64_t key_hash = 0;
    shard::Bucket bucket = 0;
    SteadyPoint until;
    bool operator==(const Mark&) const = default;
  };
  void remember(const Mark& mark) { remember(mark.key_hash, {mark.until, mark.bucket}); }
  // Those of keys with a bucket.
  [[nodiscard]] std::vector<Mark> marks(SteadyPoint now);

 private:
  struct Stripe {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, Kept> kept;  // by the key's hash
    std::deque<std::uint64_t> order;  // those of `kept`, forgotten ones included, as they came
  };
  static constexpr std::size_t stripe_count = 16;
  [[nodiscard]] Stripe& stripe_of(std::uint64_t hash) noexcept {
    return stripes_[hash % stripe_count];
  }
  void remember(std::uint64_t hash, const Kept& kept);

  std::array<Stripe, stripe_count> stripes_;
};

}  // namespace ringside::cache
