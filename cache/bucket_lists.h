#pragma once

#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

#include "cache/cells.h"
#include "shard/topology.h"

namespace ringside::cache {

// A place in the list of a bucket: an entry's, or that of somebody who walks the list and has come
// so far.
class BucketPlace : public boost::intrusive::list_base_hook<> {
 public:
  enum class Of { entry, walker };
  explicit BucketPlace(Of of) : of_(of) {}
  [[nodiscard]] std::optional<shard::Bucket> bucket() const noexcept { return bucket_; }

 private:
  friend class BucketLists;
  const Of of_;
  std::optional<shard::Bucket> bucket_;  // while it is in a list
};

// The entries of a stripe by their bucket, what has changed last at the front. A walk goes one way
// or the other: step() sees each entry once at most, and none that changes meanwhile; next() goes
// on until it has seen every change. Not thread-safe: each stripe has its own, used under the
// stripe's lock.
class BucketLists {
 public:
  void add(BucketPlace& entry, shard::Bucket bucket) {
    lists_[bucket].push_front(entry);
    entry.bucket_ = bucket;
  }

  // The entry has changed.
  void refresh(BucketPlace& entry) noexcept {
    if (!entry.bucket_) return;
    List& list = lists_.find(*entry.bucket_)->second;
    list.splice(list.begin(), list, list.iterator_to(entry));
  }

  [[nodiscard]] bool has(shard::Bucket bucket) const { return lists_.contains(bucket); }

  void remove(BucketPlace& place) noexcept {
    if (!place.bucket_) return;
    const auto found = lists_.find(*place.bucket_);
    found->second.erase(found->second.iterator_to(place));
    if (found->second.empty()) lists_.erase(found);
    place.bucket_.reset();
  }

  // Walks on from the back, which is where a walker begins, and passes one entry, which it returns;
  // null: it has passed all there are. What is added or refreshed meanwhile lies before it.
  BucketPlace* next(BucketPlace& walker, shard::Bucket bucket) {
    const auto found = lists_.find(bucket);
    if (found == lists_.end()) return nullptr;
    List& list = found->second;
    if (!walker.bucket_) list.push_back(walker);
    walker.bucket_ = bucket;
    auto place = list.iterator_to(walker);
    while (place != list.begin()) {
      --place;
      if (place->of_ == BucketPlace::Of::walker) continue;
      list.splice(place, list, list.iterator_to(walker));
      return &*place;
    }
    return nullptr;
  }

  // The entry that a walker has passed last, and that is not refreshed since; null: none.
  [[nodiscard]] BucketPlace* passed(BucketPlace& walker) {
    if (!walker.bucket_) return nullptr;
    List& list = lists_.find(*walker.bucket_)->second;
    auto place = list.iterator_to(walker);
    while (++place != list.end()) {
      if (place->of_ == BucketPlace::Of::entry) return &*place;
    }
    return nullptr;
  }

  // Puts a walker where another one is.
  void put_beside(BucketPlace& walker, BucketPlace& other) {
    remove(walker);
    if (!other.bucket_) return;
    List& list = lists_.find(*other.bucket_)->second;
    list.insert(list.iterator_to(other), walker);
    walker.bucket_ = other.bucket_;
  }

  // Walks on from the front by at most `places_most` and calls `visit` for each entry that was
  // there; true: that was the last of the bucket. Between two steps entries may come and go: the
  // walker's own place stays.
  template <class Visit>
  bool step(BucketPlace& walker, shard::Bucket bucket, std::size_t places_most,
            const Visit& visit) {
    const auto found = lists_.find(bucket);
    if (found == lists_.end()) return true;  // so the walk has not begun: it would keep the list
    List& list = found->second;
    auto place = walker.bucket_ ? list.erase(list.iterator_to(walker)) : list.begin();
    walker.bucket_.reset();
    for (; place != list.end(); ++place) {
      if (places_most-- == 0) {
        list.insert(place, walker);
        walker.bucket_ = bucket;
        return false;
      }
      if (place->of_ == BucketPlace::Of::entry) visit(*place);
    }
    if (list.empty()) lists_.erase(found);
    return true;
  }

 private:
  using List = boost::intrusive::list<BucketPlace, boost::intrusive::constant_time_size<false>>;
  std::unordered_map<shard::Bucket, List, std::hash<shard::Bucket>, std::equal_to<shard::Bucket>,
                     CellAllocator<std::pair<const shard::Bucket, List>>>
      lists_;  // none is empty
};

}  // namespace ringside::cache
