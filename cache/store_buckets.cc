#include <algorithm>
#include <iterator>

#include "base/limits.h"
#include "cache/store.h"

// What is stored of a bucket, and which buckets are warm: the rest is in store.cc.

namespace ringside::cache {

std::vector<Store::Entry> Store::entries_of(shard::Bucket bucket) {
  std::vector<Entry> entries;
  visit(bucket, [&entries](Entry entry) { entries.push_back(std::move(entry)); });
  return entries;
}

void Store::visit(shard::Bucket bucket, const std::function<void(Entry)>& visitor) {
  if (count_of(bucket) == 0) return;  // most are empty, and there are many stripes
  std::array<Listing, stripe_count> listings;
  std::size_t unfinished = stripe_count;
  while (unfinished > 0) {  // by turns, as a purge does
    for (std::size_t index = 0; index < stripe_count; ++index) {
      if (listings[index].is_over) continue;
      for (Entry& entry : entries_step(stripes_[index], bucket, listings[index])) {
        visitor(std::move(entry));
      }
      if (listings[index].is_over) --unfinished;
    }
  }
}

std::vector<Store::Entry> Store::entries_step(Stripe& stripe, shard::Bucket bucket,
                                              Listing& listing) {
  std::vector<Entry> entries;
  const auto visit = [&](const BucketPlace& place) {
    const auto& row = static_cast<const Row&>(place);
    entries.push_back({row.cache_key(), {row.variants.begin(), row.variants.end()}});
  };
  const std::lock_guard lock(stripe.mutex);
  listing.is_over = stripe.buckets.step(listing.place, bucket, limits::bucket_step_rows, visit);
  return entries;
}

bool Store::holds(const CacheKey& key, const StoredPointer& variant) {
  Stripe& stripe = stripe_of(key.hash);
  const std::lock_guard lock(stripe.mutex);
  const auto place = stripe.rows.find(KeyView{key.text, key.own_hash});
  if (place == stripe.rows.end()) return false;
  const auto& variants = place->second->variants;
  return std::find(variants.begin(), variants.end(), variant) != variants.end();
}

// Under the stripe's lock, which a relabel takes after it has changed what labels say. A row that
// is at the front since, where the relabel does not meet it, is where it belongs.
void Store::follow_label(Stripe& stripe, Row& row, const CacheKey& key) {
  auto bucket = labels_.of(key);
  // Who puts it may not know of any bucket: then it keeps the one it had, if there still is one.
  if (!bucket) bucket = labels_.of(row.cache_key());
  if (bucket != row.bucket()) move_to(stripe, row, bucket);
}

void Store::note_change(Stripe& stripe, Row& row) noexcept {
  if (!row.bucket()) return;
  stripe.buckets.refresh(row);
  bucket_changes_[*row.bucket()].fetch_add(1);
}

void Store::count(const Row& row, std::size_t added, std::size_t gone) noexcept {
  entries_.fetch_add(added - gone);
  const auto bucket = row.bucket();
  if (bucket) bucket_entries_[*bucket].fetch_add(static_cast<std::uint32_t>(added - gone));
}

void Store::move_to(Stripe& stripe, Row& row, std::optional<shard::Bucket> bucket) {
  const std::size_t responses = row.variants.size();
  count(row, 0, responses);
  leave_bucket(stripe, row);
  if (bucket) enter_bucket(stripe, row, *bucket);
  count(row, responses, 0);
  if (bucket) bucket_changes_[*bucket].fetch_add(1);
}

void Store::enter_bucket(Stripe& stripe, Row& row, shard::Bucket bucket) {
  stripe.buckets.add(row, bucket);
  bucket_stripes_[bucket].fetch_or(bit_of(stripe));
}

void Store::leave_bucket(Stripe& stripe, Row& row) noexcept {
  const auto bucket = row.bucket();
  stripe.buckets.remove(row);
  if (bucket && !stripe.buckets.has(*bucket)) bucket_stripes_[*bucket].fetch_and(~bit_of(stripe));
}

Store::BucketWalk::BucketWalk(Store& store, shard::Bucket bucket)
    : store_(store),
      bucket_(bucket),
      changes_(store.bucket_changes_[bucket].load()),
      first_left_(store.count_of(bucket)) {
  if (first_left_ == 0) stripes_left_ = 0;  // most are empty
}

Store::BucketWalk::~BucketWalk() {
  for (auto& [index, places] : places_) {
    Stripe& stripe = store_.stripes_[index];
    const std::lock_guard lock(stripe.mutex);
    stripe.buckets.remove(places.here);
    stripe.buckets.remove(places.mark);
  }
}

std::optional<Store::Entry> Store::BucketWalk::next() {
  while (true) {
    if (stripes_left_ == 0) {
      first_left_ = 0;
      const auto changes = store_.bucket_changes_[bucket_].load();
      if (changes == changes_) return std::nullopt;
      changes_ = changes;
      stripes_left_ = stripe_count;
    }
    // A bucket lies in few stripes. What comes into another one is a change, and so one more round.
    Stripe& stripe = store_.stripes_[stripe_];
    if ((store_.bucket_stripes_[bucket_].load() & store_.bit_of(stripe)) != 0) {
      if (auto entry = next_of(stripe)) return entry;
    }
    stripe_ = (stripe_ + 1) % stripe_count;
    --stripes_left_;
  }
}

std::optional<Store::Entry> Store::BucketWalk::next_of(Stripe& stripe) {
  const std::lock_guard lock(stripe.mutex);
  if (!stripe.buckets.has(bucket_)) return std::nullopt;
  const auto* const place = stripe.buckets.next(places_[stripe_].here, bucket_);
  if (place == nullptr) return std::nullopt;
  const auto& row = static_cast<const Row&>(*place);
  const std::size_t variants = row.variants.size();
  // Those were all, unless something has changed: then another round begins.
  if (first_left_ > 0 && variants >= first_left_) stripes_left_ = 0;
  first_left_ -= std::min(first_left_, variants);
  return Entry{row.cache_key(), {row.variants.begin(), row.variants.end()}};
}

void Store::BucketWalk::mark() {
  marked_stripe_ = stripe_;
  for (auto& [index, places] : places_) {
    Stripe& stripe = store_.stripes_[index];
    const std::lock_guard lock(stripe.mutex);
    stripe.buckets.put_beside(places.mark, places.here);
  }
}

void Store::BucketWalk::rewind() {
  stripe_ = marked_stripe_;
  stripes_left_ = stripe_count;
  first_left_ = 0;
  for (auto& [index, places] : places_) {
    Stripe& stripe = store_.stripes_[index];
    const std::lock_guard lock(stripe.mutex);
    stripe.buckets.put_beside(places.here, places.mark);
  }
}

bool Store::BucketWalk::erase_passed(Share& left) {
  for (auto& [index, places] : places_) {
    Stripe& stripe = store_.stripes_[index];
    bool is_over = false;
    while (!is_over) {
      if (left.is_used_up()) return false;
      std::vector<Rows::node_type> gone;  // freed when the lock is not held any more
      gone.reserve(limits::bucket_step_rows);
      std::size_t cost_bytes = 0;
      {
        const std::lock_guard lock(stripe.mutex);
        while (gone.size() < limits::bucket_step_rows && !left.is_used_up()) {
          auto* const place = stripe.buckets.passed(places.here);
          is_over = place == nullptr;
          if (is_over) break;
          const auto& row = static_cast<const Row&>(*place);
          std::size_t size_bytes = row.cost_bytes;
          for (const StoredPointer& variant : row.variants) size_bytes += variant->body->size_bytes;
          left.size_bytes -= std::min(left.size_bytes, size_bytes);
          --left.keys;
          cost_bytes += row.cost_bytes;
          gone.push_back(store_.take(stripe, stripe.rows.find(KeyView{row.key, row.hash})));
        }
      }
      gone.clear();
      store_.memory_->give_back(cost_bytes);
    }
  }
  return true;
}

// A bucket that was cut keeps its number, so what it has lost lies there; what it has kept is
// looked at in vain. Where the numbers mean something else by now, all buckets are looked at.
void Store::follow(TopologyPointer topology) {
  TopologyPointer was;
  const TopologyPointer now = topology;
  if (!labels_.follow(std::move(topology), was)) return;
  std::vector<bool> is_looked_at(shard::bucket_count, was->numbering() != now->numbering());
  for (std::size_t i = 0; i < now->bucket_owners().size(); ++i) {
    const auto parent = now->parent_of(static_cast<shard::Bucket>(i));
    if (parent && i >= was->bucket_owners().size()) is_looked_at[*parent] = true;
  }
  if (!now->extends(*was)) is_looked_at.assign(shard::bucket_count, true);
  for (std::size_t i = 0; i < is_looked_at.size(); ++i) {
    if (is_looked_at[i] && bucket_entries_[i].load() > 0) relabel(static_cast<shard::Bucket>(i));
  }
}

void Store::relabel(shard::Bucket bucket) {
  for (Stripe& stripe : stripes_) {
    Listing listing;
    while (!listing.is_over) {
      const std::lock_guard lock(stripe.mutex);
      std::vector<Row*> rows;
      listing.is_over = stripe.buckets.step(
          listing.place, bucket, limits::bucket_step_rows,
          [&](BucketPlace& place) { rows.push_back(&static_cast<Row&>(place)); });
      for (Row* const row : rows) {
        const auto now = labels_.of(row->cache_key());
        if (now != bucket) move_to(stripe, *row, now);
      }
    }
  }
}

std::vector<shard::Bucket> Store::warm_buckets() {
  std::vector<shard::Bucket> buckets;
  std::vector<std::vector<shard::Bucket>> by_stripe(stripe_count);
  std::size_t longest = 0;
  for (std::size_t index = 0; index < stripe_count; ++index) {
    Stripe& stripe = stripes_[index];
    const std::lock_guard lock(stripe.mutex);
    stripe.order->visit_last_to_go(limits::move_order_rows, [&](const Evictable& key) {
      const auto bucket = static_cast<const Row&>(key).bucket();
      if (bucket) by_stripe[index].push_back(*bucket);
    });
    longest = std::max(longest, by_stripe[index].size());
  }
  std::vector<bool> is_there(shard::bucket_count);
  for (std::size_t place = 0; place < longest; ++place) {
    for (const auto& of_stripe : by_stripe) {
      if (place >= of_stripe.size() || is_there[of_stripe[place]]) continue;
      is_there[of_stripe[place]] = true;
      buckets.push_back(of_stripe[place]);
    }
  }
  return buckets;
}

}  // namespace ringside::cache
