#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "net/waiter.h"
#include "tier/authority.h"

namespace ringside::cache {

// What this replica knows of who holds which bucket (tier/authority.h), for all of its cores.
// Thread-safe; nothing on the way of a hit asks it.
class Holders {
 public:
  using Bell = std::shared_ptr<net::Waiter::Bell>;

  Holders(std::string own_name, tier::Incarnation incarnation)
      : authority_(std::move(own_name), incarnation) {}

  // Rings once, with the next change, where the way is unknown.
  [[nodiscard]] tier::Authority::Direction direction(shard::Bucket bucket, const Bell& bell) {
    const std::lock_guard lock(mutex_);
    auto direction = authority_.direction(bucket);
    if (direction.way == tier::Authority::Way::unknown) waiting_.push_back(bell);
    return direction;
  }
  [[nodiscard]] bool answers_for(shard::Bucket bucket) const {
    const std::lock_guard lock(mutex_);
    return authority_.answers_for(bucket);
  }
  [[nodiscard]] std::optional<std::string> elsewhere(shard::Bucket bucket, bool fills) const {
    const std::lock_guard lock(mutex_);
    return authority_.elsewhere(bucket, fills);
  }
  [[nodiscard]] bool may_keep(shard::Bucket bucket, bool is_filled) const {
    const std::lock_guard lock(mutex_);
    return authority_.may_keep(bucket, is_filled);
  }
  [[nodiscard]] tier::Holdings own() const {
    const std::lock_guard lock(mutex_);
    return authority_.own();
  }
  [[nodiscard]] tier::HoldingsVersion own_version() const {
    const std::lock_guard lock(mutex_);
    return authority_.own().version;
  }
  [[nodiscard]] bool is_unreachable(std::string_view peer) const {
    const std::lock_guard lock(mutex_);
    return authority_.is_unreachable(peer);
  }
  [[nodiscard]] bool knows(std::string_view peer) const {
    const std::lock_guard lock(mutex_);
    return authority_.knows(peer);
  }
  [[nodiscard]] bool is_draining(std::string_view peer) const {
    const std::lock_guard lock(mutex_);
    return authority_.is_draining(peer);
  }

  // Whether what is stored here of a bucket that `taker` was given is not needed any more: not
  // where the bucket has come back, or the taker may have died with it.
  [[nodiscard]] bool may_remove(shard::Bucket bucket, std::string_view taker) const {
    const std::lock_guard lock(mutex_);
    return authority_.own().epoch(bucket) == 0 && !authority_.is_unreachable(taker);
  }

  // See tier::Authority. Rings where a gift is under way to another one than the asker: that one is
  // to be heard.
  [[nodiscard]] std::optional<tier::Authority::Other> other_holder(shard::Bucket bucket,
                                                                   std::string_view asker,
                                                                   bool is_empty) {
    std::unique_lock lock(mutex_);
    auto other = authority_.other_holder(bucket, asker, is_empty);
    const bool is_under_way = other && authority_.own().epoch(bucket) > 0 && other->name != asker;
    if (is_under_way) ring(std::move(lock));
    return other;
  }

  [[nodiscard]] std::vector<shard::Bucket> to_give(std::string_view taker) const {
    const std::lock_guard lock(mutex_);
    return authority_.to_give(taker);
  }
  [[nodiscard]] std::optional<tier::Authority::Gift> give(shard::Bucket bucket,
                                                          std::string_view taker) {
    const std::lock_guard lock(mutex_);
    return authority_.give(bucket, taker);
  }
  void withdraw(shard::Bucket bucket) {
    const std::lock_guard lock(mutex_);
    authority_.withdraw(bucket);
  }
  [[nodiscard]] std::size_t to_be_given() const {
    const std::lock_guard lock(mutex_);
    return authority_.to_be_given();
  }
  [[nodiscard]] std::vector<tier::Peer> reachable(tier::Authority::Among among) const {
    const std::lock_guard lock(mutex_);
    return authority_.reachable(among);
  }
  [[nodiscard]] bool has_peers() const {
    const std::lock_guard lock(mutex_);
    return authority_.has_peers();
  }
  // All peers, each in one of the two.
  struct Peers {
    std::vector<tier::Peer> reachable;
    std::vector<std::string> unreachable;  // names
  };
  [[nodiscard]] Peers peers() const {
    const std::lock_guard lock(mutex_);
    return {authority_.reachable(tier::Authority::Among::all), authority_.unreachable()};
  }
  [[nodiscard]] std::size_t away() const {
    const std::lock_guard lock(mutex_);
    return authority_.away();
  }
  [[nodiscard]] std::size_t unheard() const {
    const std::lock_guard lock(mutex_);
    return authority_.unheard();
  }
  // Rings with the next change.
  [[nodiscard]] std::vector<tier::Peer> givers(const Bell& bell) {
    const std::lock_guard lock(mutex_);
    stand_by(bell);
    return authority_.givers();
  }

  void note_strays(const std::function<bool(shard::Bucket)>& is_stored) {
    std::unique_lock lock(mutex_);
    if (!authority_.note_strays(is_stored)) return;
    ring(std::move(lock));
  }

  // Rings only where this replica drains.
  void suspect_takers() {
    std::unique_lock lock(mutex_);
    if (!authority_.own().is_draining) return;
    authority_.suspect_takers();
    ring(std::move(lock));
  }

  // See tier::Authority::is_forgotten. Rings where it held something.
  [[nodiscard]] bool give_up_if_forgotten() {
    std::unique_lock lock(mutex_);
    if (!authority_.is_forgotten()) return false;
    if (authority_.give_up()) ring(std::move(lock));
    return true;
  }

  // Does it to the tier::Authority, and rings for all who wait.
  template <class Change>
  void change(const Change& change) {
    std::unique_lock lock(mutex_);
    change(authority_);
    ring(std::move(lock));
  }
  // Whom to ask for their holdings now, and when the next one is due. Rings with the next change.
  struct Calls {
    std::vector<tier::Authority::Call> due;
    std::optional<SteadyPoint> next;
  };
  [[nodiscard]] Calls take_calls(SteadyPoint now, const Bell& bell) {
    const std::lock_guard lock(mutex_);
    Calls calls{authority_.take_due(now), authority_.next_due()};
    stand_by(bell);
    return calls;
  }

 private:
  // One that asks again and again, of which there are a few: in an idle tier nothing rings for
  // days.
  void stand_by(const Bell& bell) {
    const bool stands_by = std::find(standing_.begin(), standing_.end(), bell) != standing_.end();
    if (!stands_by) standing_.push_back(bell);
  }
  void ring(std::unique_lock<std::mutex> lock) {
    const auto waiting = std::exchange(waiting_, {});
    const auto standing = std::exchange(standing_, {});
    lock.unlock();
    for (const Bell& bell : waiting) bell->wake();
    for (const Bell& bell : standing) bell->wake();
  }

  mutable std::mutex mutex_;
  tier::Authority authority_;
  std::vector<Bell> waiting_;
  std::vector<Bell> standing_;
};

}  // namespace ringside::cache
