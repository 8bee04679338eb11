#include "cache/flight_table.h"

#include <algorithm>

#include "base/limits.h"
#include "cache/store.h"

namespace ringside::cache {

std::string FlightTable::name_of(const CacheKey& key, const std::string& name) {
  return key.text + "\n" + name;
}

FlightTable::Joined FlightTable::join(const CacheKey& key, const std::string& name,
                                      std::uint64_t purges_seen) {
  if (size_.load() >= limits::flights_per_store) return {};
  Stripe& stripe = stripes_[key.hash % stripe_count];
  const std::lock_guard lock(stripe.mutex);
  auto& flight = stripe.flights[name_of(key, name)];
  if (flight) return {flight, false};
  flight = std::make_shared<Flight>(key, name, purges_seen);
  size_.fetch_add(1);
  return {flight, true};
}

bool FlightTable::contains(const CacheKey& key, const std::string& name) {
  Stripe& stripe = stripes_[key.hash % stripe_count];
  const std::lock_guard lock(stripe.mutex);
  return stripe.flights.contains(name_of(key, name));
}

FlightTable::Joined FlightTable::lead_alone(const CacheKey& key, std::uint64_t purges_seen) {
  return join(key, "\nalone " + std::to_string(alone_.fetch_add(1)), purges_seen);
}

void FlightTable::leave(const Flight& flight) {
  Stripe& stripe = stripes_[flight.key().hash % stripe_count];
  const std::lock_guard lock(stripe.mutex);
  const auto found = stripe.flights.find(name_of(flight.key(), flight.name()));
  // After forget_all() another flight may stand under its name.
  if (found == stripe.flights.end() || found->second.get() != &flight) return;
  stripe.flights.erase(found);
  size_.fetch_sub(1);
}

void FlightTable::forget_uri(const CacheKey& key) {
  Stripe& stripe = stripes_[key.hash % stripe_count];
  const std::lock_guard lock(stripe.mutex);
  const auto gone = std::erase_if(stripe.flights, [&](const auto& row) {
    const bool is_of_uri = row.second->key().uri() == key.uri();
    if (is_of_uri) row.second->outdate();
    return is_of_uri;
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

bool FlightTable::has_any_of(shard::Bucket bucket, const Store& store) {
  return std::any_of(stripes_.begin(), stripes_.end(), [&](Stripe& stripe) {
    const std::lock_guard lock(stripe.mutex);
    return std::any_of(stripe.flights.begin(), stripe.flights.end(), [&](const auto& row) {
      return store.bucket_of(row.second->key()) == bucket;
    });
  });
}

}  // namespace ringside::cache
