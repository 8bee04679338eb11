#include "cache/flight_table.h"

#include "base/limits.h"

namespace ringside::cache {

std::string FlightTable::name_of(const CacheKey& key, const std::string& variant) {
  return key.text + "\n" + variant;
}

FlightTable::Joined FlightTable::join(const CacheKey& key, const std::string& variant,
                                      std::uint64_t purges_seen) {
  if (size_.load() >= limits::flights_per_store) return {};
  Stripe& stripe = stripes_[key.hash % stripe_count];
  const std::lock_guard lock(stripe.mutex);
  auto& flight = stripe.flights[name_of(key, variant)];
  if (flight) return {flight, false};
  flight = std::make_shared<Flight>(key, variant, purges_seen);
  size_.fetch_add(1);
  return {flight, true};
}

void FlightTable::leave(const Flight& flight) {
  Stripe& stripe = stripes_[flight.key().hash % stripe_count];
  const std::lock_guard lock(stripe.mutex);
  const auto found = stripe.flights.find(name_of(flight.key(), flight.variant()));
  // After forget_all() another flight may stand under its name.
  if (found == stripe.flights.end() || found->second.get() != &flight) return;
  stripe.flights.erase(found);
  size_.fetch_sub(1);
}

void FlightTable::forget(const CacheKey& key) {
  Stripe& stripe = stripes_[key.hash % stripe_count];
  const std::lock_guard lock(stripe.mutex);
  const auto gone = std::erase_if(stripe.flights, [&](const auto& row) {
    const bool is_of_key = row.second->key().text == key.text;
    if (is_of_key) row.second->outdate();
    return is_of_key;
  });
  size_.fetch_sub(gone);
}

void FlightTable::forget_all() {
  for (Stripe& stripe : stripes_) {
    const std::lock_guard lock(stripe.mutex);
    size_.fetch_sub(stripe.flights.size());
    stripe.flights.clear();
  }
}

}  // namespace ringside::cache
