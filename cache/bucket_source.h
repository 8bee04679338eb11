#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/limits.h"
#include "cache/flight_table.h"
#include "cache/holders.h"
#include "cache/moved_response.h"
#include "cache/store.h"
#include "cache/uncacheable_keys.h"

namespace ringside::cache {

// The giver's half of buckets that move: batches of what is stored of them, for each taker in turn,
// the warmest bucket first. The taker's half is cache/bucket_moves.h.
//
//   1. A taker asks for batch n, and names the answer that it has to n - 1 by its serial. If that
//      was our last one, it has all of it: the buckets that were given with it are let go, and what
//      was sent of them is removed: a little with the batch, the rest by who claims it.
//   2. It gets stored responses, and with the last of each bucket the keys whose answers can't be
//      stored, and the bucket itself.
//   3. What is stored again meanwhile, or for the first time, comes with a later batch: the walk
//      meets it. If responses are stored as fast as they move, fetches of the bucket wait for it;
//      if even that is in vain, it is given as it is (limits::move_log_factor_most). What is
//      removed meanwhile is a purge's to care for (PurgeLog).
//   4. A bucket of which something is being fetched is not given, for
//      limits::move_flight_patience: its walk goes on when it is its turn again.
//
// The same number again is answered anew, with what is there by then: so nothing is lost with an
// answer. Any other number is a new beginning, and so is the next one with another serial: a
// question may have come late, whose answer nobody reads. Thread-safe.
class BucketSource {
 public:
  // Those it is made with must outlive it.
  BucketSource(Store& store, FlightTable& flights, UncacheableKeys& uncacheable, Holders& holders)
      : store_(store), flights_(flights), uncacheable_(uncacheable), holders_(holders) {}

  struct Question {
    std::string taker;
    std::uint64_t number = 0;  // of the batch
    // Of the answer to the one before that it has; 0: it has none, or is of an older version.
    std::uint64_t serial = 0;
    // Of a response's body. A larger one is left out: the taker could not store it, or would hold
    // too much at once.
    std::size_t response_bytes_most = limits::moved_response_size_bytes;
  };
  struct Answer {
    MovedBatch batch;  // empty: there is nothing to be given to the taker at present
    std::uint64_t serial = 0;
    // Responses of the buckets that have arrived now which were too large to move. One that was
    // stored again meanwhile counts again.
    std::size_t left_out = 0;
  };
  [[nodiscard]] Answer answer(const Question& question, const AskedAt& now);
  // True: more of what has arrived at that taker is to be removed, and the caller is to do it: it
  // calls remove_step() until that was the last step. False: nothing is left, or somebody else
  // does.
  [[nodiscard]] bool claim_removal(const std::string& taker);
  // At most limits::move_remove_size_bytes and move_remove_keys of it. True: that was the last
  // step. A taker to which nothing else is given is forgotten with it.
  [[nodiscard]] bool remove_step(const std::string& taker);
  // Whether something of the bucket was sent, and it is not known yet that all of it has arrived.
  // One that was left for later counts when its turn is next.
  // False where no batch was asked for since limits::move_silence: the taker may be gone.
  [[nodiscard]] bool is_moving(shard::Bucket bucket, SteadyPoint now);
  // Whether responses are stored in it as fast as they move, as long as batches are asked for.
  [[nodiscard]] bool is_outpaced(shard::Bucket bucket, SteadyPoint now);

 private:
  // A bucket that has begun to move.
  struct Moving {
    Moving(Store& store, shard::Bucket its_bucket)
        : bucket(its_bucket), stood(store.count_of(its_bucket)), walk(store, its_bucket) {}
    void mark() {
      walk.mark();
      marked = now;
    }
    void rewind() {
      walk.rewind();
      now = marked;
    }
    // All that is stored of it has been sent.
    void caught_up() noexcept { now.sent = now.batches = 0; }
    [[nodiscard]] bool is_outpaced() const noexcept {
      return now.sent >= limits::move_log_factor * stood && now.batches >= limits::move_log_batches;
    }
    [[nodiscard]] bool is_hopeless() const noexcept {
      return now.sent >= limits::move_log_factor_most * stood &&
             now.batches >= limits::move_log_batches_most;
    }

    const shard::Bucket bucket;
    const std::size_t stood;  // there when it began, stored responses
    Store::BucketWalk walk;
    struct State {
      // What the walk has passed, and no batch had room for: variants of one key, the next one
      // last.
      CacheKey key{};
      std::vector<std::weak_ptr<const StoredResponse>> unsent{};
      std::size_t sent = 0;      // stored responses
      std::size_t left_out = 0;  // of these, too large ones
      std::size_t batches = 0;   // that were full before it had been sent
    };
    State now{};
    State marked{};
  };
  // One of which something was being fetched when it was its turn.
  struct Later {
    SteadyPoint since{};  // when all else of it had been sent
    unsigned looks = 0;   // since then
    // Null: it moves or was given with the last batch, or begins anew.
    std::unique_ptr<Moving> moving;
  };
  // To one taker.
  struct Giving {
    std::uint64_t number = 0;  // of the last batch
    std::uint64_t serial = 0;  // of the last answer, whichever its number was
    SteadyPoint asked_at{};    // likewise
    std::size_t response_bytes_most = 0;
    std::vector<shard::Bucket> order;
    std::vector<bool> is_warm;  // by bucket
    std::multimap<shard::Bucket, UncacheableKeys::Mark> marks;
    std::size_t next_before = 0;                 // in the order, before the last batch
    std::size_t next = 0;                        // after it
    std::unique_ptr<Moving> moving;              // of the next bucket; null: it has not begun
    std::vector<std::unique_ptr<Moving>> given;  // with the last batch
    // At the taker, and not all removed here.
    std::vector<std::unique_ptr<Moving>> arrived;
    bool has_remover = false;  // somebody has claimed that
    std::map<shard::Bucket, Later> later;

    template <class Condition>
    [[nodiscard]] bool has_moving(const Condition& condition) const {
      if (moving && condition(*moving)) return true;
      const bool are_next = next == order.size();
      return are_next && std::any_of(later.begin(), later.end(), [&](const auto& one) {
               return one.second.moving && condition(*one.second.moving);
             });
    }
  };

  void begin(Giving& giving, const std::string& taker, SteadyPoint now);
  // To before the last batch, which did not arrive.
  static void rewind(Giving& giving);
  // The one that begins, or goes on.
  [[nodiscard]] std::unique_ptr<Moving> next_moving(Giving& giving);
  // False: it has been left for long enough, and often enough.
  [[nodiscard]] static bool leave_for_later(Giving& giving, SteadyPoint now);
  // The taker has what it was given: the buckets are let go. Returns how many responses were left
  // out of them.
  std::size_t note_arrival(Giving& giving, const std::string& taker);
  void remove_some(Giving& giving, const std::string& taker);
  // Nothing is stored of it, nor under way.
  [[nodiscard]] bool is_empty(shard::Bucket bucket);
  [[nodiscard]] MovedBatch make_batch(Giving& giving, const std::string& taker, const AskedAt& now);
  [[nodiscard]] bool give_next(Giving& giving, const std::string& taker, const AskedAt& now,
                               MovedBatch& batch);
  [[nodiscard]] bool add_stored(Giving& giving, Store::Warmth warmth, TimePoint now,
                                MovedBatch& batch);

  Store& store_;
  FlightTable& flights_;
  UncacheableKeys& uncacheable_;
  Holders& holders_;
  std::mutex mutex_;  // before any lock of the above
  std::map<std::string, Giving> givings_;
  std::uint64_t answers_ = 0;
  // A bucket is behind until then, or none is; without the lock.
  std::atomic<SteadyPoint> outpaced_until_{SteadyPoint{}};
};

}  // namespace ringside::cache
