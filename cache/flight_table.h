#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "cache/flight.h"

namespace ringside::cache {

// The flights that a request may join: at most one for each cache key and name, which tells
// variants and ranges apart. Thread-safe.
class FlightTable {
 public:
  struct Joined {
    std::shared_ptr<Flight> flight;  // null: the table is full, fetch alone
    bool leads = false;              // this request is to fetch; all others wait for it
  };
  [[nodiscard]] Joined join(const CacheKey& key, const std::string& name,
                            std::uint64_t purges_seen);
  // Whether there is one that such a request would join.
  [[nodiscard]] bool contains(const CacheKey& key, const std::string& name);
  // A flight that nobody else joins. It is invalidated like others.
  [[nodiscard]] Joined lead_alone(const CacheKey& key, std::uint64_t purges_seen);
  // Nobody joins it any more; who has joined stays. Before the leader's response can be found in
  // the store, nobody may be able to miss both: put first, then leave.
  void leave(const Flight& flight);
  // Nobody joins a flight for any key of the key's URI, and what they bring is outdated.
  void forget_uri(const CacheKey& key);
  // Nobody joins any of the present flights: they began before a purge.
  void forget_all();
  // Whether there is one for any key of the bucket, by what the store says of keys.
  [[nodiscard]] bool has_any_of(shard::Bucket bucket, const Store& store);
  [[nodiscard]] std::size_t size() const noexcept { return size_.load(); }

 private:
  struct Stripe {
    std::mutex mutex;
    std::unordered_map<std::string, std::shared_ptr<Flight>> flights;
  };
  static constexpr std::size_t stripe_count = 64;
  static std::string name_of(const CacheKey& key, const std::string& name);

  std::atomic<std::size_t> size_{0};
  std::atomic<std::uint64_t> alone_{0};  // names of flights that nobody joins
  std::array<Stripe, stripe_count> stripes_;
};

}  // namespace ringside::cache
