#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "cache/body_memory.h"
#include "cache/bucket_labels.h"
#include "cache/bucket_lists.h"
#include "cache/cache_key.h"
#include "cache/eviction.h"
#include "cache/stored_response.h"
#include "http/fields.h"

namespace ringside::cache {

// Responses in memory within a budget of bytes that it keeps at every moment, what flights and slow
// clients hold included. Striped: a look-up takes one short lock that it shares with 1/64 of the
// keys. Which key of a stripe goes first its EvictionOrder says; stripes take turns. Thread-safe.
class Store {
 public:
  explicit Store(std::size_t limit_bytes);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  struct Found {
    StoredPointer response;         // the variant for this request; null: none
    std::vector<std::string> vary;  // the names by which the key's variants differ
  };
  // `aside`: the order in which keys go stays as it is. `nowhere`: as if nothing were stored.
  enum class Look : std::uint8_t { use, aside, nowhere };
  [[nodiscard]] Found find(const CacheKey& key, const http::Fields& request, Look look = Look::use);

  // Under the key's bucket, where it has one: a key that is put without keeps the one it had.
  //
  // Keeps the response in place of the variant it equals; of a part and what stands there, what
  // kept_of says. `purges_seen` is purge_count() when its fetch began: what a purge may have meant
  // is not stored (false), nor what is `outdated` (null: nothing can be). Also false where it does
  // not fit. More variants than `variants_most` are not kept; the oldest goes.
  bool put(const CacheKey& key, StoredPointer response, std::uint64_t purges_seen,
           std::size_t variants_most = limits::variants_per_key,
           const std::atomic<bool>* outdated = nullptr);
  // Keeps what another replica had stored under the key, unless the variant that it equals has come
  // later; `body` is its body. What is cold takes free room alone, and is the first to go. Where
  // the store is full, what is warm may push out so much of what is there as `may_evict_bytes`
  // says, which is lessened by it. `purges_seen`: as for put().
  enum class Warmth : std::uint8_t { cold, warm };
  bool restore(const CacheKey& key, StoredResponse response, std::string_view body, Warmth warmth,
               std::uint64_t purges_seen, std::size_t& may_evict_bytes);
  // Puts `fresh` in the place of `old`, if that still stands there; else nothing changes.
  bool replace(const CacheKey& key, const StoredPointer& old, StoredPointer fresh);
  void erase(const CacheKey& key);
  // Erases this variant, if it still stands there.
  void erase(const CacheKey& key, const StoredPointer& variant);
  // Erases all keys of the key's URI. Returns how many responses went.
  std::size_t erase_uri(const CacheKey& key);

  // Removes what `prefix` (see uri_prefix) begins; empty: everything. From before it returns until
  // for ever, no fetch that began earlier is stored. Returns how many responses went. Others wait
  // for no more than limits::purge_step_rows of it.
  std::size_t purge(std::string_view prefix);
  class Purge;  // the same, step by step
  [[nodiscard]] std::uint64_t purge_count() const noexcept { return purges_.load(); }

  // All that is stored of a bucket. What is put or replaced meanwhile may be in it or not; all else
  // is, once. Others wait for no more than limits::bucket_step_rows of it.
  struct Entry {
    CacheKey key;
    std::vector<StoredPointer> variants;  // the newest last
  };
  [[nodiscard]] std::vector<Entry> entries_of(shard::Bucket bucket);
  // The same, one after the other, without a list of all.
  void visit(shard::Bucket bucket, const std::function<void(Entry)>& visitor);
  class BucketWalk;  // entry by entry, until what is stored meanwhile is seen, too
  // Whether this variant stands there.
  [[nodiscard]] bool holds(const CacheKey& key, const StoredPointer& variant);
  // The buckets of which something was used last, the last one first. Those that are missing were
  // used less lately, as far as limits::move_order_rows tell.
  [[nodiscard]] std::vector<shard::Bucket> warm_buckets();
  // The bucket of a key, by the topology that is followed.
  [[nodiscard]] std::optional<shard::Bucket> bucket_of(const CacheKey& key) const {
    return labels_.of(key);
  }
  // From here on keys are in the buckets that this topology says, those of what is stored, too.
  // Others wait for no more than limits::bucket_step_rows of it.
  void follow(TopologyPointer topology);
  // How many stored responses are of a bucket.
  [[nodiscard]] std::size_t count_of(shard::Bucket bucket) const noexcept {
    return bucket_entries_[bucket].load();
  }

  // Takes `bytes` of the budget, evicting for them; false where even that is not enough, or where
  // evicting would not help: clients hold too much of what was stored (see is_pinned_full). Then
  // what stands in on_pressure is called.
  [[nodiscard]] bool reserve(std::size_t bytes);
  void give_back(std::size_t bytes) noexcept { memory_->give_back(bytes); }
  // Where the pieces of bodies are made.
  [[nodiscard]] BodyMemory& memory() noexcept { return *memory_; }
  // See limits::pinned_share_divisor.
  [[nodiscard]] bool is_pinned_full() const noexcept {
    return memory_->pinned_bytes() > pinned_most_bytes();
  }
  [[nodiscard]] std::size_t pinned_most_bytes() const noexcept {
    return limit_bytes_ / limits::pinned_share_divisor;
  }
  // Before it is used. Called from any thread, with no lock held.
  void on_pressure(std::function<void()> call) { on_pressure_ = std::move(call); }

  [[nodiscard]] std::size_t limit_bytes() const noexcept { return limit_bytes_; }
  [[nodiscard]] std::size_t object_limit_bytes() const noexcept;
  [[nodiscard]] std::size_t used_bytes() const noexcept { return memory_->used_bytes(); }
  [[nodiscard]] std::uint64_t entries() const noexcept { return entries_.load(); }
  [[nodiscard]] std::uint64_t evictions() const noexcept { return evictions_.load(); }

 private:
  struct Row : Evictable, BucketPlace {
    // Its operator delete is the one that is told the size.
    // NOLINTNEXTLINE(misc-new-delete-overloads)
    static void* operator new(std::size_t bytes) { return Cells::all().allocate(bytes); }
    static void operator delete(void* cell, std::size_t bytes) { Cells::all().free(cell, bytes); }
    explicit Row(const CacheKey& cache_key)
        : BucketPlace(Of::entry),
          key(std::string_view(cache_key.text)),
          uri_size_bytes(cache_key.uri_size_bytes),
          hash(cache_key.own_hash),
          uri_hash(cache_key.hash) {}
    [[nodiscard]] CacheKey cache_key() const {
      return {std::string(key), uri_size_bytes, uri_hash, hash, bucket()};
    }
    const CellString key;
    const std::size_t uri_size_bytes;
    const std::uint64_t hash;
    const std::uint64_t uri_hash;
    Row* newer = nullptr;  // the rows of one uri_hash are a list
    Row* older = nullptr;
    CellVector<StoredPointer> variants;  // the newest last
    std::size_t cost_bytes = 0;
  };
  struct KeyView {
    std::string_view text;
    std::uint64_t hash;
    bool operator==(const KeyView& other) const noexcept { return text == other.text; }
  };
  struct KeyHash {
    std::size_t operator()(const KeyView& key) const noexcept { return key.hash; }
  };
  template <class Key, class Value, class Hash = std::hash<Key>>
  using Table = std::unordered_map<Key, Value, Hash, std::equal_to<Key>,
                                   CellAllocator<std::pair<const Key, Value>>>;
  using Rows = Table<KeyView, std::unique_ptr<Row>, KeyHash>;  // views into the rows
  struct alignas(64) Stripe {
    std::mutex mutex;
    Rows rows;
    Table<std::uint64_t, Row*> newest_of_uri;  // by uri_hash
    // After the rows, so that they end before them: they link them.
    BucketLists buckets;
    std::unique_ptr<EvictionOrder> order = std::make_unique<LeastRecentlyUsed>();
  };
  static constexpr std::size_t stripe_count = 64;  // a bit each in bucket_stripes_

  [[nodiscard]] Stripe& stripe_of(std::uint64_t hash) noexcept {
    return stripes_[(hash >> 8) % stripe_count];  // other bits than the table's buckets
  }
  static Row& find_or_add(Stripe& stripe, const CacheKey& key, Warmth warmth);
  void move_to(Stripe& stripe, Row& row, std::optional<shard::Bucket> bucket);
  void enter_bucket(Stripe& stripe, Row& row, shard::Bucket bucket);
  void leave_bucket(Stripe& stripe, Row& row) noexcept;
  [[nodiscard]] std::uint64_t bit_of(const Stripe& stripe) const noexcept {
    return std::uint64_t{1} << (&stripe - stripes_.data());
  }
  void follow_label(Stripe& stripe, Row& row, const CacheKey& key);
  void note_change(Stripe& stripe, Row& row) noexcept;
  void relabel(shard::Bucket bucket);
  void count(const Row& row, std::size_t added, std::size_t gone) noexcept;
  static void link(Stripe& stripe, Row& row);
  static void unlink(Stripe& stripe, const Row& row) noexcept;
  // How far a purge has come in a stripe. A table that has grown meanwhile is walked anew.
  struct Walk {
    std::size_t bucket_count = 0;
    std::size_t next_bucket = 0;
    bool is_over = false;
  };
  Rows::node_type take(Stripe& stripe, Rows::iterator place) noexcept;
  void remove(Stripe& stripe, Rows::iterator place) noexcept;
  std::size_t purge_step(Stripe& stripe, std::string_view prefix, Walk& walk);
  // How far a list of a bucket's entries has come in a stripe.
  struct Listing {
    BucketPlace place{BucketPlace::Of::walker};
    bool is_over = false;
  };
  std::vector<Entry> entries_step(Stripe& stripe, shard::Bucket bucket, Listing& listing);
  static void enter(const StoredResponse& response) noexcept;
  static void leave(const StoredResponse& response) noexcept;
  bool evict_one() noexcept;
  static std::size_t cost_bytes_of(const Row& row) noexcept;
  static void add_variant(Row& row, StoredPointer response, std::size_t variants_most,
                          std::size_t& dropped);
  static CellVector<StoredPointer>::const_iterator variant_like(const Row& row,
                                                                const StoredHead& head) noexcept;
  // What a response costs under a new key, beside the pieces that its body memory counts.
  static std::size_t cost_bytes_most(const CacheKey& key, const StoredResponse& response) noexcept;
  enum class Order : std::uint8_t { newest, by_time };
  struct Terms {
    std::size_t paid_bytes;
    std::uint64_t purges_seen;
    std::size_t variants_most = limits::variants_per_key;
    const std::atomic<bool>* outdated = nullptr;
    Order order = Order::newest;
    Warmth warmth = Warmth::warm;
  };
  [[nodiscard]] bool holds_later(const CacheKey& key, const StoredResponse& response);
  bool put_paid(const CacheKey& key, StoredPointer response, const Terms& terms);

  const std::size_t limit_bytes_;
  const std::shared_ptr<BodyMemory> memory_;
  std::function<void()> on_pressure_;
  std::atomic<std::uint64_t> entries_{0};  // stored responses
  std::atomic<std::uint64_t> evictions_{0};
  std::atomic<std::uint64_t> purges_{0};
  std::atomic<std::size_t> next_victim_{0};
  BucketLabels labels_;
  std::array<Stripe, stripe_count> stripes_;
  std::vector<std::atomic<std::uint32_t>> bucket_entries_;  // stored responses, by bucket
  // How often something was stored or replaced, by bucket: counted when the rest is done, under the
  // stripe's lock.
  std::vector<std::atomic<std::uint32_t>> bucket_changes_;
  // In which stripes something of a bucket is stored, a bit each, changed under the stripe's lock.
  // One may be set though nothing is there any more.
  std::vector<std::atomic<std::uint64_t>> bucket_stripes_;
};

// A purge that leaves who makes it time for other things. It has begun when it is made, and is
// complete when step() says so.
class Store::Purge {
 public:
  // The store must outlive it.
  Purge(Store& store, std::string prefix) : store_(store), prefix_(std::move(prefix)) {
    store_.purges_.fetch_add(1);
  }
  // Looks at limits::purge_step_rows or so. True: that was the last of them.
  bool step();
  [[nodiscard]] std::size_t removed() const noexcept { return removed_; }

 private:
  Store& store_;
  const std::string prefix_;
  std::array<Walk, stripe_count> walks_;
  std::size_t next_ = 0;
  std::size_t unfinished_ = stripe_count;
  std::size_t removed_ = 0;
};

// A walk through what is stored of a bucket, stripe by stripe, and in each of them what has stood
// there longest first. What is stored or replaced meanwhile lies before it again. One thread at a
// time.
class Store::BucketWalk {
 public:
  // The store must outlive it.
  BucketWalk(Store& store, shard::Bucket bucket);
  ~BucketWalk();
  BucketWalk(const BucketWalk&) = delete;
  BucketWalk& operator=(const BucketWalk&) = delete;
  // Nullopt: there is no more at present.
  [[nodiscard]] std::optional<Entry> next();
  // Here rewind() comes back to; without a mark, to the beginning.
  void mark();
  void rewind();
  // How much more may be erased; one key may have more bytes.
  struct Share {
    std::size_t size_bytes = 0;
    std::size_t keys = 0;
    [[nodiscard]] bool is_used_up() const noexcept { return size_bytes == 0 || keys == 0; }
  };
  // Erases what it has passed and what has not changed since, and takes it from `left`. True:
  // nothing is left to erase.
  bool erase_passed(Share& left);

 private:
  struct Places {
    BucketPlace here{BucketPlace::Of::walker};
    BucketPlace mark{BucketPlace::Of::walker};
  };
  [[nodiscard]] std::optional<Entry> next_of(Stripe& stripe);

  Store& store_;
  const shard::Bucket bucket_;
  std::map<std::size_t, Places> places_;  // by stripe, of those where it has been
  // It goes around the stripes until nothing has changed since a round began.
  std::size_t stripe_ = 0;
  std::size_t stripes_left_ = stripe_count;  // of this round
  std::uint32_t changes_;                    // when it began
  std::size_t first_left_;                   // of what stood there at the beginning
  std::size_t marked_stripe_ = 0;
};

}  // namespace ringside::cache
