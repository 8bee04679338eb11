#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "cache/flight_table.h"
#include "cache/holders.h"
#include "cache/moved_response.h"
#include "cache/store.h"
#include "cache/uncacheable_keys.h"

namespace ringside::cache {

// The giver's half of buckets that move: batches of what is stored of them, for each taker in turn,
// the warmest bucket first. The taker's half is cache/bucket_moves.h.
//
//   1. A taker asks for batch n. That says that it has all of batch n - 1: what was in it goes, and
//      the buckets that were given with it are let go.
//   2. It gets stored responses, and with the last of each bucket the keys whose answers can't be
//      stored, and the bucket itself.
//   3. What is stored again meanwhile, or for the first time, comes with a later batch. What is
//      removed meanwhile is a purge's to care for (PurgeLog).
//
// The same number again is answered anew, with what is there by then: so nothing is lost with an
// answer. Any other number is a new beginning. Thread-safe.
class BucketSource {
 public:
  // Those it is made with must outlive it.
  BucketSource(Store& store, FlightTable& flights, UncacheableKeys& uncacheable, Holders& holders)
      : store_(store), flights_(flights), uncacheable_(uncacheable), holders_(holders) {}

  // An empty one: there is nothing to be given to `taker` at present.
  [[nodiscard]] std::string batch(const std::string& taker, std::uint64_t number,
                                  const AskedAt& now);
  // Whether something of the bucket was sent, and it is not known yet that all of it has arrived.
  // False where no batch was asked for since limits::split_wait: the taker may be gone.
  [[nodiscard]] bool is_moving(shard::Bucket bucket, SteadyPoint now);

 private:
  // Stored responses that the taker was sent, as long as they exist.
  using Sent = std::set<std::weak_ptr<const StoredResponse>,
                        std::owner_less<std::weak_ptr<const StoredResponse>>>;
  struct Place {
    std::size_t next = 0;  // in the order
    Sent sent{};           // of that bucket
  };
  struct Given {
    shard::Bucket bucket = 0;
    Sent sent{};
  };
  // To one taker.
  struct Giving {
    std::uint64_t number = 0;  // of the last batch
    SteadyPoint asked_at{};    // likewise
    std::vector<shard::Bucket> order;
    std::size_t warm = 0;  // so many of them, the first
    std::multimap<shard::Bucket, UncacheableKeys::Mark> marks;
    Place before;              // the last batch
    Place place;               // after it
    std::vector<Given> given;  // with it
    // How often a bucket was left for later, because something of it was being fetched.
    std::map<shard::Bucket, unsigned> left_for_later;
  };

  void begin(Giving& giving, const std::string& taker, SteadyPoint now);
  void end_last(Giving& giving, const std::string& taker);
  // Nothing is stored of it, nor under way.
  [[nodiscard]] bool is_empty(shard::Bucket bucket);
  [[nodiscard]] std::string make_batch(Giving& giving, const std::string& taker,
                                       const AskedAt& now);
  [[nodiscard]] bool give_next(Giving& giving, const std::string& taker, const AskedAt& now,
                               std::string& batch);
  [[nodiscard]] bool add_stored(Giving& giving, TimePoint now, std::string& batch);

  Store& store_;
  FlightTable& flights_;
  UncacheableKeys& uncacheable_;
  Holders& holders_;
  std::mutex mutex_;  // before any lock of the above
  std::map<std::string, Giving> givings_;
};

}  // namespace ringside::cache
