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

// The entries of a stripe by their bucket. Not thread-safe: each stripe has its own, used under the
// stripe's lock.
class BucketLists {
 public:
  // At the front, where no walk comes that has begun.
  void add(BucketPlace& entry, shard::Bucket bucket) {
    lists_[bucket].push_front(entry);
    entry.bucket_ = bucket;
  }

  void remove(BucketPlace& entry) noexcept {
    if (!entry.bucket_) return;
    const auto place = lists_.find(*entry.bucket_);
    place->second.erase(place->second.iterator_to(entry));
    if (place->second.empty()) lists_.erase(place);
    entry.bucket_.reset();
  }

  // Walks on by at most `places_most` and calls `visit` for each entry that was there; true: that
  // was the last of the bucket. Between two steps entries may come and go: the walker's own place
  // stays.
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
