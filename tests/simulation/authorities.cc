#include "tests/simulation/authorities.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cache/holders.h"
#include "tier/cut_buckets.h"
#include "tier/membership.h"

namespace ringside::simulation {

using shard::Bucket;
using shard::bucket_count;

bool Authorities::follow(Seen& seen, const cache::Replica* replica) {
  const bool is_same = std::exchange(seen.replica, replica) == replica;
  if (replica == nullptr) return !is_same;
  // A new process may be where the last one was, but it is another incarnation.
  if (is_same && seen.version == replica->holders().own_version()) return false;
  const auto buckets = [](const shard::Topology& one) { return tier::numbers_of(one).buckets; };
  const auto& membership = replica->settings()->membership;
  if (!membership) return true;
  const auto& topology = membership->topology;
  if (widest_ != nullptr && buckets(*topology) <= buckets(*widest_)) return true;
  widest_ = topology;
  for (Seen& one : replicas_) one.version = {};  // their buckets are more, too
  return true;
}

std::optional<std::string> Authorities::look(const std::vector<const cache::Replica*>& replicas,
                                             std::optional<std::size_t> turn, Instant now) {
  replicas_.resize(replicas.size());
  bool has_changed = false;
  for (std::size_t place = 0; place < replicas.size(); ++place) {
    if (place != turn && replicas_[place].replica == replicas[place]) continue;
    if (!follow(replicas_[place], replicas[place])) continue;
    replicas_[place].version = {};
    has_changed = true;
  }
  if (has_changed) {
    for (Seen& seen : replicas_) {
      if (seen.version == tier::HoldingsVersion{}) see(seen);
    }
    find_overlaps(now);
    ++looks_;
  }
  return breach(now);
}

void Authorities::see(Seen& seen) {
  if (seen.replica == nullptr) return count(seen, std::vector<tier::Epoch>(bucket_count));
  tier::Holdings held = seen.replica->holders().own();
  seen.version = held.version;
  seen.numbers = held.numbers;
  // Who has not heard of a cut asks the origin for all that was cut of what it holds.
  if (widest_) static_cast<void>(tier::extend(held, held.numbers.buckets, *widest_));
  held.epochs.resize(bucket_count);
  count(seen, std::move(held.epochs));
}

void Authorities::count(Seen& seen, std::vector<tier::Epoch> epochs) {
  constexpr std::ptrdiff_t at_once = 64;  // most are as before, and are compared together
  for (std::ptrdiff_t from = 0; from < std::ptrdiff_t{bucket_count}; from += at_once) {
    const auto before = seen.epochs.begin() + from;
    const auto now = epochs.begin() + from;
    if (std::equal(before, before + at_once, now)) continue;
    for (std::ptrdiff_t i = 0; i < at_once; ++i) {
      if (now[i] > before[i]) seen.raised[static_cast<std::size_t>(from + i)] = looks_;
      if ((before[i] > 0) == (now[i] > 0)) continue;
      const auto bucket = static_cast<Bucket>(from + i);
      std::uint8_t& holders = holders_[bucket];
      holders = static_cast<std::uint8_t>(now[i] > 0 ? holders + 1 : holders - 1);
      if (holders > 1) shared_.insert(bucket);
      if (holders == 1) shared_.erase(bucket);
    }
  }
  seen.epochs = std::move(epochs);
}

bool Authorities::answers(const Seen& seen, Bucket bucket) const {
  if (seen.replica == nullptr || seen.epochs[bucket] == 0) return false;
  const Bucket own = widest_ ? tier::told_ancestor(bucket, seen.numbers.buckets, *widest_) : bucket;
  return seen.replica->holders().answers_for(own);
}

std::vector<std::size_t> Authorities::holders_of(Bucket bucket) const {
  std::vector<std::size_t> all;
  for (std::size_t place = 0; place < replicas_.size(); ++place) {
    if (replicas_[place].epochs[bucket] > 0) all.push_back(place);
  }
  std::stable_sort(all.begin(), all.end(), [&](std::size_t one, std::size_t other) {
    return replicas_[one].epochs[bucket] > replicas_[other].epochs[bucket];
  });
  return all;
}

Instant Authorities::end_of(const Lower& one, std::size_t higher, Instant now) const {
  if (!joined_at_) return Instant::max();
  const auto& [bucket, place] = one;
  const Seen& above = replicas_[higher];
  const Seen& below = replicas_[place];
  // It is the lower one that has begun to answer by now, and another one had it in between.
  const bool is_taken_back = above.raised[bucket] < looks_ && below.raised[bucket] < looks_ &&
                             above.epochs[bucket] > below.epochs[bucket] + 1;
  return std::max(is_taken_back ? now + passed_on_most : now, *joined_at_ + parted_most);
}

void Authorities::find_overlaps(Instant now) {
  const auto before = std::exchange(overlaps_, {});
  first_end_ = Instant::max();
  for (const Bucket bucket : shared_) {
    const std::vector<std::size_t> all = holders_of(bucket);
    std::optional<std::size_t> answering;
    for (const std::size_t place : all) {
      if (!answers(replicas_[place], bucket)) continue;
      const Lower one{bucket, place};
      const auto known = before.find(one);
      const Instant end = known != before.end() ? known->second.end : end_of(one, all[0], now);
      if (place != all[0]) {
        overlaps_[one] = {end, answering};
        first_end_ = std::min(first_end_, end);
      }
      answering = place;
    }
  }
}

std::optional<std::string> Authorities::breach(Instant now) const {
  if (now < first_end_) return std::nullopt;
  for (const auto& [one, overlap] : overlaps_) {
    if (!overlap.higher || now < overlap.end) continue;
    const auto shown = [this, bucket = one.first](std::size_t place) {
      const Seen& seen = replicas_[place];
      return fmt::format("{} (epoch {})", seen.replica->name(), seen.epochs[bucket]);
    };
    return fmt::format("{} and {} both answer for bucket {}", shown(*overlap.higher),
                       shown(one.second), one.first);
  }
  return std::nullopt;
}

void Authorities::join(Instant now) {
  joined_at_ = now;
  first_end_ = std::min(first_end_, now + parted_most);
  for (auto& [one, overlap] : overlaps_) overlap.end = std::min(overlap.end, now + parted_most);
}

bool Authorities::has_two() const noexcept {
  return std::any_of(overlaps_.begin(), overlaps_.end(),
                     [](const auto& one) { return one.second.higher.has_value(); });
}

}  // namespace ringside::simulation
