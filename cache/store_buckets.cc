#include <algorithm>
#include <iterator>

#include "base/limits.h"
#include "cache/store.h"

// What is stored of a bucket, and which buckets are warm: the rest is in store.cc.

namespace ringside::cache {

std::vector<Store::Entry> Store::entries_of(shard::Bucket bucket) {
  std::vector<Entry> entries;
  if (count_of(bucket) == 0) return entries;  // most are empty, and there are many stripes
  std::array<Listing, stripe_count> listings;
  std::size_t unfinished = stripe_count;
  while (unfinished > 0) {  // by turns, as a purge does
    for (std::size_t index = 0; index < stripe_count; ++index) {
      if (listings[index].is_over) continue;
      auto more = entries_step(stripes_[index], bucket, listings[index]);
      std::move(more.begin(), more.end(), std::back_inserter(entries));
      if (listings[index].is_over) --unfinished;
    }
  }
  return entries;
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
