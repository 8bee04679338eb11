#include "cache/uncacheable_keys.h"

#include "base/hash.h"
#include "base/limits.h"

namespace ringside::cache {

void UncacheableKeys::remember(const CacheKey& key, SteadyPoint until,
                               std::optional<Storability> why) {
  remember(hash64(key.text), {until, key.bucket, why});
}

void UncacheableKeys::remember(std::uint64_t hash, const Kept& kept) {
  Stripe& stripe = stripe_of(hash);
  const std::lock_guard lock(stripe.mutex);
  if (stripe.kept.insert_or_assign(hash, kept).second) stripe.order.push_back(hash);
  while (stripe.order.size() > limits::uncacheable_keys / stripe_count) {
    stripe.kept.erase(stripe.order.front());
    stripe.order.pop_front();
  }
}

void UncacheableKeys::forget(const CacheKey& key) {
  const std::uint64_t hash = hash64(key.text);
  Stripe& stripe = stripe_of(hash);
  const std::lock_guard lock(stripe.mutex);
  const auto place = stripe.kept.find(hash);
  if (place != stripe.kept.end()) place->second.until = SteadyPoint::min();
}

std::optional<UncacheableKeys::Kept> UncacheableKeys::find(const CacheKey& key, SteadyPoint now) {
  const std::uint64_t hash = hash64(key.text);
  Stripe& stripe = stripe_of(hash);
  const std::lock_guard lock(stripe.mutex);
  const auto place = stripe.kept.find(hash);
  if (place == stripe.kept.end() || now >= place->second.until) return std::nullopt;
  return place->second;
}

std::vector<UncacheableKeys::Mark> UncacheableKeys::marks(SteadyPoint now) {
  std::vector<Mark> marks;
  for (Stripe& stripe : stripes_) {
    const std::lock_guard lock(stripe.mutex);
    for (const auto& [hash, kept] : stripe.kept) {
      if (kept.bucket && now < kept.until) marks.push_back({hash, *kept.bucket, kept.until});
    }
  }
  return marks;
}

}  // namespace ringside::cache
