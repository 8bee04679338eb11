#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "base/clock.h"
#include "cache/cache_key.h"

namespace ringside::cache {

// Keys whose last answer could not be stored: their requests don't wait for each other, since
// nothing would come of it ("hit for miss"). An answer that can be stored ends it. Two keys of one
// hash share the memory, which costs a fetch at most. Bounded (limits::uncacheable_keys), the
// oldest is forgotten first. Thread-safe.
class UncacheableKeys {
 public:
  void remember(const CacheKey& key, SteadyPoint until);
  void forget(const CacheKey& key);
  [[nodiscard]] bool contains(const CacheKey& key, SteadyPoint now);

 private:
  struct Stripe {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, SteadyPoint> until;
    std::deque<std::uint64_t> order;  // those of `until`, forgotten ones included, as they came
  };
  static constexpr std::size_t stripe_count = 16;
  [[nodiscard]] Stripe& stripe_of(std::uint64_t hash) noexcept {
    return stripes_[hash % stripe_count];
  }
  std::array<Stripe, stripe_count> stripes_;
};

}  // namespace ringside::cache
