#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
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
//   3. What is stored again meanwhile, or for the first time, comes with a later batch: the walk
//      meets it. A bucket in which as much is stored as moves is given after
//      limits::move_repeats such batches; the rest comes after it, and is asked for here until
//      then. What is removed meanwhile is a purge's to care for (PurgeLog).
//
// The same number again is answered anew, with what is there by then: so nothing is lost with an
// answer. Any other number is a new beginning. Thread-safe.
class BucketSource {
 public:
  // Those it is made with must outlive it.
  BucketSource(Store& store, FlightTable& flights, UncacheableKeys& uncacheable, Holders& holders)
      : store_(store), flights_(flights), uncacheable_(uncacheable), holders_(holders) {}

  // An empty one: there is nothing to be given to `taker` at present.
  [[nodiscard]] MovedBatch batch(const std::string& taker, std::uint64_t number,
                                 const AskedAt& now);
  // Whether something of the bucket was sent, and it is not known yet that all of it has arrived.
  // False where no batch was asked for since limits::split_wait: the taker may be gone.
  [[nodiscard]] bool is_moving(shard::Bucket bucket, SteadyPoint now);

 private:
  // A bucket that has begun to move.
  struct Moving {
    Moving(Store& store, shard::Bucket its_bucket) : bucket(its_bucket), walk(store, its_bucket) {
      now.left = 2 * store.count_of(its_bucket);
    }
    void mark() {
      walk.mark();
      marked = now;
    }
    void rewind() {
      walk.rewind();
      now = marked;
    }

    const shard::Bucket bucket;
    Store::BucketWalk walk;
    struct State {
      // What the walk has passed, and no batch had room for: variants of one key, the next one
      // last.
      CacheKey key{};
      std::vector<std::weak_ptr<const StoredResponse>> unsent{};
      // Of twice what stood there when it began. A walk comes around with less, unless more is
      // stored than moves.
      std::size_t left = 0;
      unsigned repeated = 0;  // batches full of what was stored since
    };
    State now{};
    State marked{};
  };
  // To one taker.
  struct Giving {
    std::uint64_t number = 0;  // of the last batch
    SteadyPoint asked_at{};    // likewise
    std::vector<shard::Bucket> order;
    std::size_t warm = 0;  // so many of them, the first
    std::multimap<shard::Bucket, UncacheableKeys::Mark> marks;
    std::size_t next_before = 0;                 // in the order, before the last batch
    std::size_t next = 0;                        // after it
    std::unique_ptr<Moving> moving;              // of the next bucket; null: it has not begun
    std::vector<std::unique_ptr<Moving>> given;  // with the last batch
    // How often a bucket was left for later, because something of it was being fetched.
    std::map<shard::Bucket, unsigned> left_for_later;
  };

  void begin(Giving& giving, const std::string& taker, SteadyPoint now);
  // To before the last batch, which did not arrive.
  static void rewind(Giving& giving);
  void end_last(Giving& giving, const std::string& taker);
  // Nothing is stored of it, nor under way.
  [[nodiscard]] bool is_empty(shard::Bucket bucket);
  [[nodiscard]] MovedBatch make_batch(Giving& giving, const std::string& taker, const AskedAt& now);
  [[nodiscard]] bool give_next(Giving& giving, const std::string& taker, const AskedAt& now,
                               MovedBatch& batch);
  [[nodiscard]] bool add_stored(Moving& moving, Store::Warmth warmth, TimePoint now,
                                MovedBatch& batch);

  Store& store_;
  FlightTable& flights_;
  UncacheableKeys& uncacheable_;
  Holders& holders_;
  std::mutex mutex_;  // before any lock of the above
  std::map<std::string, Giving> givings_;
};

}  // namespace ringside::cache
