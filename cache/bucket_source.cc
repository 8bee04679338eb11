#include "cache/bucket_source.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"

namespace ringside::cache {

std::string BucketSource::batch(const std::string& taker, std::uint64_t number,
                                const AskedAt& now) {
  const std::lock_guard lock(mutex_);
  if (givings_.size() >= limits::members && !givings_.contains(taker)) givings_.clear();
  Giving& giving = givings_[taker];
  if (giving.number != 0 && number == giving.number) {
    giving.place = giving.before;
  } else if (giving.number != 0 && number == giving.number + 1) {
    end_last(giving, taker);
  } else {
    begin(giving, taker, now.steady);
  }
  if (giving.place.next == giving.order.size()) begin(giving, taker, now.steady);
  giving.number = number;
  giving.asked_at = now.steady;
  giving.before = giving.place;
  giving.given.clear();
  std::string batch = make_batch(giving, taker, now);
  // What is to be given may be other buckets when it asks again.
  if (batch.empty()) giving.number = 0;
  if (batch.empty() && giving.left_for_later.empty()) givings_.erase(taker);
  return batch;
}

bool BucketSource::is_moving(shard::Bucket bucket, SteadyPoint now) {
  const std::lock_guard lock(mutex_);
  return std::any_of(givings_.begin(), givings_.end(), [&](const auto& to) {
    const Giving& giving = to.second;
    if (now - giving.asked_at >= limits::split_wait) return false;
    const bool is_sent_in_part =
        !giving.place.sent.empty() && giving.order[giving.place.next] == bucket;
    return is_sent_in_part || std::any_of(giving.given.begin(), giving.given.end(),
                                          [&](const Given& of) { return of.bucket == bucket; });
  });
}

// The warmest first; those that are not known to be warm by number.
void BucketSource::begin(Giving& giving, const std::string& taker, SteadyPoint now) {
  std::vector<shard::Bucket> buckets = holders_.to_give(taker);
  std::erase_if(giving.left_for_later, [&](const auto& left) {
    return !std::binary_search(buckets.begin(), buckets.end(), left.first);
  });
  std::vector<std::size_t> rank(shard::bucket_count, shard::bucket_count);
  const auto warm = buckets.empty() ? std::vector<shard::Bucket>() : store_.warm_buckets();
  for (std::size_t i = 0; i < warm.size(); ++i) rank[warm[i]] = i;
  std::stable_sort(buckets.begin(), buckets.end(),
                   [&](shard::Bucket a, shard::Bucket b) { return rank[a] < rank[b]; });
  giving.warm = static_cast<std::size_t>(
      std::count_if(buckets.begin(), buckets.end(),
                    [&](shard::Bucket bucket) { return rank[bucket] < shard::bucket_count; }));
  giving.order = std::move(buckets);
  giving.place = {};
  giving.marks.clear();
  if (giving.order.empty()) return;
  for (const UncacheableKeys::Mark& mark : uncacheable_.marks(now)) {
    giving.marks.emplace(mark.bucket, mark);
  }
}

void BucketSource::end_last(Giving& giving, const std::string& taker) {
  if (giving.given.empty()) return;
  // Before anything is removed: what a holder misses, it fetches.
  holders_.change([&](tier::Authority& authority) {
    std::erase_if(giving.given,
                  [&](const Given& given) { return !authority.given_over(given.bucket, taker); });
  });
  for (const Given& given : giving.given) {
    for (const Store::Entry& entry : store_.entries_of(given.bucket)) {
      for (const StoredPointer& variant : entry.variants) {
        if (given.sent.contains(variant)) store_.erase(entry.key, variant);
      }
    }
    giving.left_for_later.erase(given.bucket);
  }
  holders_.change([&](tier::Authority& authority) {
    for (const Given& given : giving.given) {
      if (is_empty(given.bucket)) authority.emptied(given.bucket);
    }
  });
}

bool BucketSource::is_empty(shard::Bucket bucket) {
  const bool is_fetched = flights_.size() > 0 && flights_.has_any_of(bucket, store_);
  return !is_fetched && store_.count_of(bucket) == 0;
}

std::string BucketSource::make_batch(Giving& giving, const std::string& taker, const AskedAt& now) {
  std::string batch;
  std::size_t buckets = 0;
  while (giving.place.next < giving.order.size() && buckets < limits::move_batch_buckets) {
    if (!give_next(giving, taker, now, batch)) break;
    ++giving.place.next;
    giving.place.sent.clear();
    ++buckets;
  }
  return batch;
}

// False: the batch is full, and has not all of the bucket.
bool BucketSource::give_next(Giving& giving, const std::string& taker, const AskedAt& now,
                             std::string& batch) {
  const shard::Bucket bucket = giving.order[giving.place.next];
  // Before flights are looked at: whoever begins one from here on asks the taker.
  //   1. a fetch begins, since we have the authority    1'. the bucket is given
  //   2. the bucket is given                            2'. a fetch asks the taker
  //   3. the fetch is seen: the gift is taken back
  const auto gift = holders_.give(bucket, taker);
  if (!gift) return true;  // it is for somebody else by now
  const bool is_busy = flights_.size() > 0 && flights_.has_any_of(bucket, store_);
  if (is_busy && gift->epoch == 0) return true;  // when it is there
  if (is_busy && gift->is_new && giving.left_for_later[bucket]++ < limits::move_repeats) {
    holders_.take_back(bucket);
    return true;
  }
  if (!add_stored(giving, now.resident, batch)) {
    if (gift->is_new) holders_.take_back(bucket);
    return false;
  }
  const auto [first, last] = giving.marks.equal_range(bucket);
  for (auto mark = first; mark != last; ++mark) append_moved(batch, mark->second, now.steady);
  append_moved(batch, MovedBucket{bucket, gift->epoch, gift->known_buckets});
  giving.given.push_back({bucket, giving.place.sent});
  return true;
}

// Of the bucket that is next.
bool BucketSource::add_stored(Giving& giving, TimePoint now, std::string& batch) {
  const shard::Bucket bucket = giving.order[giving.place.next];
  const auto warmth = giving.place.next < giving.warm ? Store::Warmth::warm : Store::Warmth::cold;
  if (store_.count_of(bucket) == 0) return true;
  for (const Store::Entry& entry : store_.entries_of(bucket)) {
    for (const StoredPointer& variant : entry.variants) {
      if (giving.place.sent.contains(variant)) continue;
      if (batch.size() >= limits::move_batch_size_bytes) return false;
      giving.place.sent.insert(variant);
      if (variant->body->size_bytes > limits::moved_response_size_bytes) continue;
      append_moved(batch, entry.key, *variant, warmth, now);
    }
  }
  return true;
}

}  // namespace ringside::cache
