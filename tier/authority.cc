#include "tier/authority.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/limits.h"

namespace ringside::tier {

using shard::Bucket;
using shard::bucket_count;

Authority::Authority(std::string own_name, Incarnation incarnation)
    : own_name_(std::move(own_name)), highest_(bucket_count), ended_(bucket_count) {
  own_.version.incarnation = incarnation;
  own_.epochs.resize(bucket_count);
  own_.copies.resize(bucket_count);
}

void Authority::drain() {
  if (std::exchange(own_.is_draining, true)) return;
  ++own_.version.number;
  choose_takers();
}

const Authority::Known* Authority::find(std::string_view peer) const noexcept {
  const auto known = std::find_if(peers_.begin(), peers_.end(),
                                  [&](const Known& one) { return one.peer.name == peer; });
  return known == peers_.end() ? nullptr : &*known;
}

Authority::Known* Authority::find(std::string_view peer) noexcept {
  return const_cast<Known*>(std::as_const(*this).find(peer));  // NOLINT: what is ours to change
}

// Among those that were heard of, reachable or not heard again yet. Whoever has a lower epoch than
// was heard of counts only when we have found that the higher one has ended: a giver may consider a
// gift lost that was passed on (1. a gives to b; 2. b gives to c; 3. a hears b, which has it no
// more).
const Authority::Known* Authority::holder_of(Bucket bucket, bool even_lower) const noexcept {
  const Known* holder = nullptr;
  for (const Known& known : peers_) {
    const Epoch epoch = known.holdings.epoch(bucket);
    if (known.state == State::unreachable || epoch == 0) continue;
    const bool is_lower = epoch < highest_[bucket] && ended_[bucket] < highest_[bucket];
    if (is_lower && !even_lower) continue;
    const Epoch highest = holder != nullptr ? holder->holdings.epoch(bucket) : 0;
    const bool is_better =
        epoch > highest ||
        (epoch == highest && comes_first(known.peer.name, holder->peer.name, bucket));
    if (is_better) holder = &known;
  }
  return holder;
}

Authority::Direction Authority::direction(Bucket bucket) const {
  if (!takers_.has_any()) return {};
  if (own_.epochs[bucket] > 0) {
    const auto given = given_.find(bucket);
    const Known* const to = given != given_.end() ? find(given->second.to) : nullptr;
    if (to == nullptr) return {};
    return {Way::holder, to->peer};
  }
  const Known* const holder = holder_of(bucket);
  if (holder != nullptr) {
    if (holder->state != State::heard) return {Way::unknown};
    return {Way::holder, holder->peer};
  }
  if (takes(bucket)) return {Way::unknown};  // until we take it over
  const bool all_heard = std::none_of(peers_.begin(), peers_.end(), [](const Known& known) {
    return known.state == State::unheard;
  });
  if (!all_heard) return {Way::unknown};
  const std::string* const name = takers_.of(bucket);
  const Known* const taker = name == nullptr ? nullptr : find(*name);
  if (taker != nullptr && taker->state != State::unreachable) return {Way::holder, taker->peer};
  // Nobody is there to find out whether the higher one has ended.
  const Known* const lower = holder_of(bucket, true);
  return lower == nullptr ? Direction{} : Direction{Way::holder, lower->peer};
}

bool Authority::answers_for(Bucket bucket) const noexcept {
  return !takers_.has_any() || (own_.epochs[bucket] > 0 && !given_.contains(bucket));
}

std::optional<std::string> Authority::elsewhere(Bucket bucket, bool fills) const {
  if (!takers_.has_any() || (fills && takes(bucket))) return std::nullopt;
  const Direction to = direction(bucket);
  return to.way == Way::holder ? std::optional(to.holder->name) : std::nullopt;
}

std::optional<Authority::Other> Authority::other_holder(Bucket bucket, std::string_view asker,
                                                        bool is_empty) {
  if (!takers_.has_any()) return std::nullopt;
  const Epoch epoch = own_.epochs[bucket];
  if (epoch == 0) {
    const Known* const holder = holder_of(bucket);
    if (holder != nullptr) return Other{holder->peer.name};
    return Other{{}, 0, direction(bucket).way == Way::unknown};
  }
  auto given = given_.find(bucket);
  if (is_empty && takers_.is(asker, bucket) && !is_unreachable(asker)) {
    const bool is_new = given == given_.end();
    if (is_new) given = given_.try_emplace(bucket, Given{std::string(asker)}).first;
    if (is_new) note_gift(asker);
    if (given->second.to == asker) {
      given->second.is_all_there = true;
      if (std::exchange(given->second.taken_back_in, 0) > 0) given->second.heard_without = 0;
    }
  }
  if (given == given_.end()) return std::nullopt;
  const std::string& to = given->second.to;
  if (to != asker) suspect(to);
  const bool is_given =
      to == asker && given->second.is_all_there && given->second.taken_back_in == 0;
  return Other{to, is_given ? epoch : 0};
}

bool Authority::take(Bucket bucket, Epoch given, std::string_view giver,
                     std::size_t known_buckets) {
  const bool is_ours = take_one(bucket, given, giver);
  for (std::size_t i = known_buckets; i < own_.numbers.buckets; ++i) {
    const auto cut = static_cast<Bucket>(i);
    if (told_ancestor(cut, known_buckets, *takers_.topology()) != bucket) continue;
    take_one(cut, given, giver);
  }
  return is_ours;
}

bool Authority::take_one(Bucket bucket, Epoch given, std::string_view giver) {
  highest_[bucket] = std::max(highest_[bucket], given);
  // Unless we have it already. It may come back before we know that it had arrived elsewhere.
  const bool is_older = own_.epochs[bucket] > 0 && given < own_.epochs[bucket];
  // 1. It was given to us with a refusal; 2. we passed it on; 3. the giver, which has not heard of
  // either yet, gives it once more, with a batch.
  const Known* const holder = holder_of(bucket);
  const bool is_passed_on =
      holder != nullptr && holder->peer.name != giver && holder->holdings.epoch(bucket) > given;
  if (!takers_.has_any() || is_older) return is_older;
  // The giver may take it for ours by now: it is to hear that it is not.
  ++own_.version.number;
  if (is_passed_on) return false;
  given_.erase(bucket);
  std::erase(unclaimed_, bucket);
  own_.epochs[bucket] = ++highest_[bucket];
  own_.copies[bucket] = false;
  return true;
}

// What is stored here stays, until the taker has it.
void Authority::let_go(Bucket bucket) {
  own_.epochs[bucket] = 0;
  own_.copies[bucket] = true;
  given_.erase(bucket);
}

bool Authority::note_strays(const std::function<bool(Bucket)>& is_stored) {
  bool changed = false;
  for (std::size_t i = 0; i < bucket_count && takers_.has_any(); ++i) {
    const auto bucket = static_cast<Bucket>(i);
    // Of most nothing is stored, and this is asked often: names are compared last.
    if (!is_stored(bucket) || own_.has(bucket) || takes(bucket)) continue;
    own_.copies[i] = true;
    changed = true;
  }
  if (changed) ++own_.version.number;
  return changed;
}

std::vector<Peer> Authority::givers() const {
  std::vector<Peer> givers;
  for (const Known& known : peers_) {
    if (known.state != State::heard) continue;
    const bool gives = std::any_of(ours_.begin(), ours_.end(),
                                   [&](Bucket bucket) { return known.holdings.has(bucket); });
    if (gives) givers.push_back(known.peer);
  }
  return givers;
}

std::vector<Bucket> Authority::to_give(std::string_view taker) const {
  std::vector<Bucket> buckets = takers_.buckets_of(taker);
  std::erase_if(buckets, [&](Bucket bucket) { return !own_.has(bucket); });
  return buckets;
}

std::optional<Authority::Gift> Authority::give(Bucket bucket, std::string_view taker) {
  if (!takers_.is(taker, bucket) || taker == own_name_) return std::nullopt;
  // We send to it who asks us, from then on: so it must be somewhere. A new pod is asked for by the
  // others when they hear of its address, and may ask them before.
  if (is_unreachable(taker)) return std::nullopt;
  // Who has not heard that it was cut would take what was cut of it for its own, too.
  if (is_wider_for(*find(taker), bucket)) return std::nullopt;
  const Epoch epoch = own_.epochs[bucket];
  if (epoch == 0) return Gift{};
  const auto [given, is_new] = given_.try_emplace(bucket, Given{std::string(taker)});
  if (given->second.to != taker) return std::nullopt;
  given->second.heard_without = 0;
  given->second.taken_back_in = 0;
  if (is_new) note_gift(taker);
  return Gift{epoch, is_new, own_.numbers.buckets};
}

bool Authority::is_wider_for(const Known& known, Bucket bucket) const {
  const shard::Topology* const topology = takers_.topology();
  const std::size_t told = known.holdings.numbers.buckets;
  if (bucket >= told) return true;
  for (std::size_t i = told; i < own_.numbers.buckets; ++i) {
    if (told_ancestor(static_cast<Bucket>(i), told, *topology) == bucket) return true;
  }
  return false;
}

bool Authority::is_given_any(std::string_view taker) const {
  return std::any_of(given_.begin(), given_.end(),
                     [&](const auto& given) { return given.second.to == taker; });
}

void Authority::note_gift(std::string_view taker) {
  if (std::exchange(find(taker)->was_given, true)) return;
  tell_of_leavers();
}

bool Authority::given_over(Bucket bucket, std::string_view taker) {
  if (own_.epochs[bucket] == 0) return true;
  const auto given = given_.find(bucket);
  if (given == given_.end() || given->second.to != taker) return false;
  Known* const known = find(taker);
  if (known == nullptr) {  // it left, and was forgotten since
    given_.erase(given);
    return false;
  }
  // By this it says that it holds the bucket, which an answer under way does not know yet. Another
  // one may go on saying that it does, from whom we have it.
  known->holdings.epochs.resize(bucket_count);
  highest_[bucket] = std::max(highest_[bucket], own_.epochs[bucket] + 1);
  known->holdings.epochs[bucket] = std::max(known->holdings.epochs[bucket], highest_[bucket]);
  known->is_doubted = known->is_asked;
  known->is_wanted = true;
  let_go(bucket);
  ++own_.version.number;
  return true;
}

void Authority::emptied(Bucket bucket) {
  if (own_.epochs[bucket] > 0 || !own_.copies[bucket]) return;
  own_.copies[bucket] = false;
  ++own_.version.number;
}

std::size_t Authority::to_be_given() const {
  // In one pass over the buckets, not one for each peer: it is asked often while a process ends.
  std::size_t count = 0;
  for (std::size_t i = 0; i < shard::bucket_count; ++i) {
    const auto bucket = static_cast<Bucket>(i);
    if (!own_.has(bucket) || takers_.is(own_name_, bucket)) continue;
    const std::string* const taker = takers_.of(bucket);
    const Known* const known = taker == nullptr ? nullptr : find(*taker);
    if (known != nullptr && known->state != State::unreachable) ++count;
  }
  return count;
}

// Of two that have the same epoch.
bool Authority::comes_first(const std::string& name, const std::string& other,
                            Bucket bucket) const {
  if (takers_.is_owner(other, bucket)) return false;
  return takers_.is_owner(name, bucket) || name < other;
}

bool Authority::wins(const Known& known, Bucket bucket) const noexcept {
  const Epoch theirs = known.holdings.epoch(bucket);
  const Epoch ours = own_.epochs[bucket];
  if (theirs != ours) return theirs > ours;
  return comes_first(known.peer.name, own_name_, bucket);
}

void Authority::yield_to(const Known& known) {
  bool changed = false;
  for (std::size_t i = 0; i < known.holdings.epochs.size(); ++i) {
    const auto bucket = static_cast<Bucket>(i);
    highest_[i] = std::max(highest_[i], known.holdings.epochs[i]);
    if (known.holdings.epochs[i] == 0 || own_.epochs[i] == 0 || !wins(known, bucket)) continue;
    // Whom we gave it, if that is another one, may have it to come with our lower epoch.
    const auto given = given_.find(bucket);
    Known* const to = given == given_.end() ? nullptr : find(given->second.to);
    if (to != nullptr && to != &known) {
      to->taken_back_in = taken_back_in_ = own_.version.number + 1;
      to->not_before = {};
    }
    let_go(bucket);
    changed = true;
  }
  if (changed) ++own_.version.number;
}

bool Authority::is_unclaimed(Bucket bucket) const noexcept {
  return own_.epochs[bucket] == 0 && holder_of(bucket) == nullptr;
}

bool Authority::has_unclaimed() const noexcept {
  return std::any_of(ours_.begin(), ours_.end(),
                     [this](Bucket bucket) { return is_unclaimed(bucket); });
}

void Authority::begin_round() {
  ++round_;
  std::copy_if(ours_.begin(), ours_.end(), std::back_inserter(unclaimed_),
               [this](Bucket bucket) { return is_unclaimed(bucket); });
  for (Known& known : peers_) {
    known.is_wanted = known.state == State::heard;
    if (known.is_wanted) known.not_before = {};
  }
}

// Rule 3. What became nobody's in a round may have gone, in that round, from one that was heard
// late to one that was heard early: it needs a round of its own.
void Authority::settle() {
  for (const Known& known : peers_) {
    if (known.state == State::unheard) return unclaimed_.clear();
  }
  std::erase_if(unclaimed_,
                [this](Bucket bucket) { return !takes(bucket) || !is_unclaimed(bucket); });
  while (has_unclaimed()) {
    if (unclaimed_.empty()) begin_round();
    for (const Known& known : peers_) {
      if (known.state == State::heard && known.heard_in != round_) return;
    }
    bool changed = false;
    for (const Bucket bucket : std::exchange(unclaimed_, {})) {
      ended_[bucket] = highest_[bucket];
      if (holder_of(bucket) != nullptr) continue;  // a lower epoch has it
      own_.epochs[bucket] = ++highest_[bucket];
      own_.copies[bucket] = false;
      changed = true;
    }
    if (changed) ++own_.version.number;
  }
}

std::size_t Authority::away() const noexcept {
  return static_cast<std::size_t>(std::count_if(
      ours_.begin(), ours_.end(), [this](Bucket bucket) { return own_.epochs[bucket] == 0; }));
}

std::size_t Authority::unheard() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(peers_.begin(), peers_.end(),
                    [](const Known& known) { return known.state == State::unheard; }));
}

}  // namespace ringside::tier
