#include "cache/bucket_source.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"

namespace ringside::cache {

BucketSource::Answer BucketSource::answer(const Question& question, const AskedAt& now) {
  const auto& [taker, number, serial, response_bytes_most] = question;
  const std::lock_guard lock(mutex_);
  if (givings_.size() >= limits::members && !givings_.contains(taker)) givings_.clear();
  Giving& giving = givings_[taker];
  const bool is_next = giving.number != 0 && number == giving.number + 1;
  const bool has_come = is_next && (serial == 0 || serial == giving.serial);
  const std::size_t left_out = has_come ? note_arrival(giving, taker) : 0;
  if (!giving.has_remover) remove_some(giving, taker);
  if (giving.number != 0 && number == giving.number) {
    rewind(giving);
  } else if (!has_come) {
    // It may have nothing of what it was sent.
    if (now.steady - giving.asked_at >= limits::move_silence) giving.later.clear();
    for (auto& left : giving.later) left.second.moving.reset();
    begin(giving, taker, now.steady);
  }
  if (giving.next == giving.order.size()) begin(giving, taker, now.steady);
  giving.number = number;
  giving.serial = ++answers_;
  giving.asked_at = now.steady;
  giving.response_bytes_most = std::min(response_bytes_most, limits::moved_response_size_bytes);
  giving.next_before = giving.next;
  if (giving.moving) giving.moving->mark();
  giving.given.clear();
  Answer answer{make_batch(giving, taker, now), giving.serial, left_out};
  const bool has_outpaced = std::any_of(givings_.begin(), givings_.end(), [](const auto& to) {
    return to.second.has_moving([](const Moving& moving) { return moving.is_outpaced(); });
  });
  outpaced_until_.store(has_outpaced ? now.steady + limits::move_silence : SteadyPoint{});
  const bool is_over = answer.batch.is_empty() && giving.later.empty() && giving.arrived.empty();
  if (is_over) givings_.erase(taker);
  return answer;
}

bool BucketSource::claim_removal(const std::string& taker) {
  const std::lock_guard lock(mutex_);
  const auto giving = givings_.find(taker);
  if (giving == givings_.end() || giving->second.arrived.empty()) return false;
  return !std::exchange(giving->second.has_remover, true);
}

bool BucketSource::remove_step(const std::string& taker) {
  const std::lock_guard lock(mutex_);
  const auto found = givings_.find(taker);
  if (found == givings_.end()) return true;
  Giving& giving = found->second;
  remove_some(giving, taker);
  giving.has_remover = !giving.arrived.empty();
  if (giving.has_remover) return false;
  // The taker was told that there is nothing, and perhaps never asks again.
  const bool is_idle = giving.next == giving.order.size() && giving.given.empty() &&
                       !giving.moving && giving.later.empty();
  if (is_idle) givings_.erase(found);
  return true;
}

bool BucketSource::is_moving(shard::Bucket bucket, SteadyPoint now) {
  const auto is_it = [bucket](const Moving& moving) { return moving.bucket == bucket; };
  const std::lock_guard lock(mutex_);
  return std::any_of(givings_.begin(), givings_.end(), [&](const auto& to) {
    const Giving& giving = to.second;
    if (now - giving.asked_at >= limits::move_silence) return false;
    return giving.has_moving(is_it) ||
           std::any_of(giving.given.begin(), giving.given.end(),
                       [&](const auto& given) { return is_it(*given); });
  });
}

bool BucketSource::is_outpaced(shard::Bucket bucket, SteadyPoint now) {
  if (now >= outpaced_until_.load()) return false;
  const std::lock_guard lock(mutex_);
  return std::any_of(givings_.begin(), givings_.end(), [&](const auto& to) {
    return now - to.second.asked_at < limits::move_silence &&
           to.second.has_moving([bucket](const Moving& moving) {
             return moving.bucket == bucket && moving.is_outpaced();
           });
  });
}

// The warmest first; those that are not known to be warm by number.
void BucketSource::begin(Giving& giving, const std::string& taker, SteadyPoint now) {
  std::vector<shard::Bucket> buckets = holders_.to_give(taker);
  // What is still being removed is sent no more.
  std::erase_if(buckets, [&](shard::Bucket bucket) {
    return std::any_of(giving.arrived.begin(), giving.arrived.end(),
                       [&](const auto& arrived) { return arrived->bucket == bucket; });
  });
  std::erase_if(giving.later, [&](const auto& left) {
    return !std::binary_search(buckets.begin(), buckets.end(), left.first);
  });
  std::vector<std::size_t> rank(shard::bucket_count, shard::bucket_count);
  const auto warm = buckets.empty() ? std::vector<shard::Bucket>() : store_.warm_buckets();
  giving.is_warm.assign(shard::bucket_count, false);
  for (std::size_t i = 0; i < warm.size(); ++i) {
    rank[warm[i]] = i;
    giving.is_warm[warm[i]] = true;
  }
  std::stable_sort(buckets.begin(), buckets.end(),
                   [&](shard::Bucket a, shard::Bucket b) { return rank[a] < rank[b]; });
  giving.order = std::move(buckets);
  giving.next = 0;
  giving.moving.reset();
  giving.marks.clear();
  if (giving.order.empty()) return;
  for (const UncacheableKeys::Mark& mark : uncacheable_.marks(now)) {
    giving.marks.emplace(mark.bucket, mark);
  }
}

// Of what the batch had, the first bucket and those that were left for later had begun before it:
// they go on from where it began. The others begin anew.
void BucketSource::rewind(Giving& giving) {
  if (giving.next_before == giving.order.size()) return;
  const shard::Bucket first = giving.order[giving.next_before];
  for (std::size_t i = giving.next_before; i < giving.next; ++i) {
    const auto left = giving.later.find(giving.order[i]);
    if (left != giving.later.end() && left->second.moving) left->second.moving->rewind();
  }
  auto walks = std::exchange(giving.given, {});
  if (giving.moving) walks.push_back(std::move(giving.moving));
  for (auto& walk : walks) {
    walk->rewind();
    const auto left = giving.later.find(walk->bucket);
    if (walk->bucket == first) {
      giving.moving = std::move(walk);
    } else if (left != giving.later.end()) {
      left->second.moving = std::move(walk);
    }
  }
  giving.next = giving.next_before;
}

std::size_t BucketSource::note_arrival(Giving& giving, const std::string& taker) {
  if (giving.given.empty()) return 0;
  // Before anything is removed: what a holder misses, it fetches.
  holders_.change([&](tier::Authority& authority) {
    std::erase_if(giving.given,
                  [&](const auto& given) { return !authority.given_over(given->bucket, taker); });
  });
  std::size_t left_out = 0;
  for (auto& given : giving.given) {
    left_out += given->now.left_out;
    giving.arrived.push_back(std::move(given));
  }
  giving.given.clear();
  return left_out;
}

void BucketSource::remove_some(Giving& giving, const std::string& taker) {
  // What has come back is ours, with all that is still stored of it; what may have died with the
  // taker are copies, which the next one is given.
  std::erase_if(giving.arrived,
                [&](const auto& arrived) { return !holders_.may_remove(arrived->bucket, taker); });
  Store::BucketWalk::Share left{limits::move_remove_size_bytes, limits::move_remove_keys};
  const auto first_left =
      std::find_if(giving.arrived.begin(), giving.arrived.end(),
                   [&](const auto& arrived) { return !arrived->walk.erase_passed(left); });
  std::vector<shard::Bucket> removed;
  for (auto arrived = giving.arrived.begin(); arrived != first_left; ++arrived) {
    removed.push_back((*arrived)->bucket);
  }
  giving.arrived.erase(giving.arrived.begin(), first_left);
  if (removed.empty()) return;
  holders_.change([&](tier::Authority& authority) {
    for (const shard::Bucket bucket : removed) {
      if (is_empty(bucket)) authority.emptied(bucket);
    }
  });
  // The rest is what its taker may be asked for next. One that has begun to move goes on first.
  const auto at = static_cast<std::ptrdiff_t>(giving.next + (giving.moving ? 1 : 0));
  for (const shard::Bucket bucket : removed) {
    giving.later.erase(bucket);
    if (store_.count_of(bucket) > 0) giving.order.insert(giving.order.begin() + at, bucket);
  }
}

bool BucketSource::is_empty(shard::Bucket bucket) {
  const bool is_fetched = flights_.size() > 0 && flights_.has_any_of(bucket, store_);
  return !is_fetched && store_.count_of(bucket) == 0;
}

MovedBatch BucketSource::make_batch(Giving& giving, const std::string& taker, const AskedAt& now) {
  MovedBatch batch;
  std::size_t buckets = 0;
  while (giving.next < giving.order.size() && buckets < limits::move_batch_buckets) {
    if (!give_next(giving, taker, now, batch)) break;
    ++giving.next;
    giving.moving.reset();
    ++buckets;
  }
  return batch;
}

// False: the batch is full, and has not all of the bucket.
bool BucketSource::give_next(Giving& giving, const std::string& taker, const AskedAt& now,
                             MovedBatch& batch) {
  const shard::Bucket bucket = giving.order[giving.next];
  // Before flights are looked at: whoever begins one from here on asks the taker.
  //   1. a fetch begins, since we have the authority    1'. the bucket is given
  //   2. the bucket is given                            2'. a fetch asks the taker
  //   3. the fetch is seen: the gift is withdrawn
  const auto gift = holders_.give(bucket, taker);
  if (!gift) {  // it is for somebody else by now
    giving.later.erase(bucket);
    return true;
  }
  const bool is_busy = flights_.size() > 0 && flights_.has_any_of(bucket, store_);
  if (is_busy && gift->epoch == 0) {  // when it is there
    if (giving.moving) giving.later[bucket].moving = std::move(giving.moving);
    return true;
  }
  if (!giving.moving) giving.moving = next_moving(giving);
  const auto warmth = giving.is_warm[bucket] ? Store::Warmth::warm : Store::Warmth::cold;
  if (!add_stored(giving, warmth, now.resident, batch)) {
    if (gift->is_new) holders_.withdraw(bucket);
    return false;
  }
  const bool may_wait = is_busy && gift->is_new && !giving.moving->is_hopeless();
  if (may_wait && leave_for_later(giving, now.steady)) {
    holders_.withdraw(bucket);
    return true;
  }
  const auto [first, last] = giving.marks.equal_range(bucket);
  for (auto mark = first; mark != last; ++mark) batch.append(mark->second, now.steady);
  batch.append(MovedBucket{bucket, gift->epoch, gift->known_buckets});
  giving.given.push_back(std::move(giving.moving));
  return true;
}

std::unique_ptr<BucketSource::Moving> BucketSource::next_moving(Giving& giving) {
  const shard::Bucket bucket = giving.order[giving.next];
  const auto left = giving.later.find(bucket);
  if (left == giving.later.end() || !left->second.moving) {
    return std::make_unique<Moving>(store_, bucket);
  }
  // Whatever it was sent of it before this batch has arrived.
  left->second.moving->mark();
  return std::move(left->second.moving);
}

bool BucketSource::leave_for_later(Giving& giving, SteadyPoint now) {
  Later& later = giving.later[giving.moving->bucket];
  if (later.looks == 0) later.since = now;
  if (later.looks >= limits::move_flight_looks &&
      now - later.since >= limits::move_flight_patience) {
    return false;
  }
  ++later.looks;
  giving.moving->caught_up();
  later.moving = std::move(giving.moving);
  return true;
}

// False: the batch is full. A purge may have removed what the walk has passed.
bool BucketSource::add_stored(Giving& giving, Store::Warmth warmth, TimePoint now,
                              MovedBatch& batch) {
  Moving& moving = *giving.moving;
  auto& [key, unsent, sent, left_out, batches] = moving.now;
  while (true) {
    while (!unsent.empty()) {
      if (batch.size_bytes() >= limits::move_batch_size_bytes) {
        ++batches;
        return false;
      }
      const StoredPointer variant = unsent.back().lock();
      unsent.pop_back();
      if (!variant || !store_.holds(key, variant)) continue;
      ++sent;
      if (variant->body->size_bytes > giving.response_bytes_most) {
        ++left_out;
        continue;
      }
      batch.append(key, *variant, warmth, now);
    }
    if (moving.is_hopeless()) return true;
    auto entry = moving.walk.next();
    if (!entry) return true;
    key = std::move(entry->key);
    unsent.assign(entry->variants.rbegin(), entry->variants.rend());
  }
}

}  // namespace ringside::cache
