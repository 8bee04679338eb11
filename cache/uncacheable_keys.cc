#include "cache/uncacheable_keys.h"

#include "base/hash.h"
#include "base/limits.h"

namespace ringside::cache {

void UncacheableKeys::remember(const CacheKey& key, SteadyPoint until) {
  const std::uint64_t hash = hash64(key.text);
  Stripe& stripe = stripe_of(hash);
  const std::lock_guard lock(stripe.mutex);
  if (stripe.until.insert_or_assign(hash, until).second) stripe.order.push_back(hash);
  while (stripe.order.size() > limits::uncacheable_keys / stripe_count) {
    stripe.until.erase(stripe.order.front());
    stripe.order.pop_front();
  }
}

void UncacheableKeys::forget(const CacheKey& key) {
  const std::uint64_t hash = hash64(key.text);
  Stripe& stripe = stripe_of(hash);
  const std::lock_guard lock(stripe.mutex);
  const auto place = stripe.until.find(hash);
  if (place != stripe.until.end()) place->second = SteadyPoint::min();
}

bool UncacheableKeys::contains(const CacheKey& key, SteadyPoint now) {
  const std::uint64_t hash = hash64(key.text);
  Stripe& stripe = stripe_of(hash);
  const std::lock_guard lock(stripe.mutex);
  const auto place = stripe.until.find(hash);
  return place != stripe.until.end() && now < place->second;
}

}  // namespace ringside::cache
