#include "tier/authority.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/limits.h"

namespace ringside::tier {

using shard::Bucket;
using shard::bucket_count;

Authority::Authority(std::string own_name, Incarnation incarnation)
    : own_name_(std::move(own_name)), is_owned_(bucket_count), highest_(bucket_count) {
  own_.version.incarnation = incarnation;
  own_.epochs.resize(bucket_count);
}

void Authority::follow(const MembershipPointer& membership) {
  membership_ = membership;
  std::fill(is_owned_.begin(), is_owned_.end(), false);
  std::vector<Known> before = std::exchange(peers_, {});
  const auto buckets = membership ? buckets_of(*membership, own_name_) : std::nullopt;
  is_by_bucket_ = buckets && membership->size() > 0;
  if (!is_by_bucket_) return;
  for (const Bucket bucket : *buckets) is_owned_[bucket] = true;

  for (Peer& peer : peers_of(*membership, own_name_)) {
    const auto same = std::find_if(before.begin(), before.end(),
                                   [&](const Known& known) { return known.peer == peer; });
    Known known;
    if (same != before.end()) known = std::move(*same);
    known.peer = std::move(peer);
    if (known.peer.address.host.empty()) known.state = State::unreachable;
    peers_.push_back(std::move(known));
  }
  std::erase_if(given_, [&](const auto& given) { return find(given.second.to) == nullptr; });
  for (const Known& known : peers_) {
    if (known.state == State::heard) yield_to(known);
  }
  settle();
}

const Authority::Known* Authority::find(std::string_view peer) const noexcept {
  const auto known = std::find_if(peers_.begin(), peers_.end(),
                                  [&](const Known& one) { return one.peer.name == peer; });
  return known == peers_.end() ? nullptr : &*known;
}

Authority::Known* Authority::find(std::string_view peer) noexcept {
  return const_cast<Known*>(std::as_const(*this).find(peer));  // NOLINT: what is ours to change
}

// Among those that were heard of, reachable or not heard again yet.
const Authority::Known* Authority::holder_of(Bucket bucket) const noexcept {
  const Known* holder = nullptr;
  for (const Known& known : peers_) {
    const Epoch epoch = known.holdings.epoch(bucket);
    if (known.state == State::unreachable || epoch == 0) continue;
    const Epoch highest = holder != nullptr ? holder->holdings.epoch(bucket) : 0;
    const bool is_better =
        epoch > highest ||
        (epoch == highest && comes_first(known.peer.name, holder->peer.name, bucket));
    if (is_better) holder = &known;
  }
  return holder;
}

Authority::Direction Authority::direction(Bucket bucket) const {
  if (!is_by_bucket_) return {};
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
  if (is_owned_[bucket]) return {Way::unknown};  // until we take it over
  const bool all_heard = std::none_of(peers_.begin(), peers_.end(), [](const Known& known) {
    return known.state == State::unheard;
  });
  if (!all_heard) return {Way::unknown};
  const Known* const owner = find(owner_of(bucket));
  if (owner == nullptr || owner->state == State::unreachable) return {};
  return {Way::holder, owner->peer};
}

bool Authority::answers_for(Bucket bucket) const noexcept {
  return !is_by_bucket_ || (own_.epochs[bucket] > 0 && !given_.contains(bucket));
}

const std::string& Authority::owner_of(Bucket bucket) const {
  return membership_->name(membership_->topology->bucket_owners()[bucket]);
}

std::optional<Authority::Other> Authority::other_holder(Bucket bucket, std::string_view asker,
                                                        bool is_empty) {
  if (!is_by_bucket_) return std::nullopt;
  const Epoch epoch = own_.epochs[bucket];
  if (epoch == 0) {
    const Known* const holder = holder_of(bucket);
    return Other{holder != nullptr ? holder->peer.name : std::string{}};
  }
  const bool gives = is_empty && !is_owned_[bucket] && owner_of(bucket) == asker;
  if (gives) given_.try_emplace(bucket, Given{std::string(asker)});
  const auto given = given_.find(bucket);
  if (given == given_.end()) return std::nullopt;
  const std::string& to = given->second.to;
  if (to != asker) suspect(to);
  return Other{to, to == asker ? epoch : 0};
}

void Authority::take(Bucket bucket, Epoch given) {
  highest_[bucket] = std::max(highest_[bucket], given);
  if (!is_by_bucket_ || own_.epochs[bucket] > 0) return;
  own_.epochs[bucket] = ++highest_[bucket];
  ++own_.version.number;
}

// Of two that have the same epoch.
bool Authority::comes_first(const std::string& name, const std::string& other,
                            Bucket bucket) const {
  const std::string& owner = owner_of(bucket);
  return other != owner && (name == owner || name < other);
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
    own_.epochs[i] = 0;
    given_.erase(bucket);
    changed = true;
  }
  if (changed) ++own_.version.number;
}

bool Authority::has_unclaimed() const noexcept {
  for (std::size_t i = 0; i < bucket_count; ++i) {
    const auto bucket = static_cast<Bucket>(i);
    if (is_owned_[i] && own_.epochs[i] == 0 && holder_of(bucket) == nullptr) return true;
  }
  return false;
}

void Authority::begin_round() {
  ++round_;
  is_confirming_ = true;
  for (Known& known : peers_) {
    known.is_wanted = known.state == State::heard;
    if (known.is_wanted) known.not_before = {};
  }
}

// Rule 3.
void Authority::settle() {
  for (const Known& known : peers_) {
    if (known.state == State::unheard) return;
  }
  if (!is_by_bucket_ || !has_unclaimed()) {
    is_confirming_ = false;
    return;
  }
  if (!is_confirming_) begin_round();
  for (const Known& known : peers_) {
    if (known.state == State::heard && known.heard_in != round_) return;
  }
  is_confirming_ = false;
  for (std::size_t i = 0; i < bucket_count; ++i) {
    const auto bucket = static_cast<Bucket>(i);
    if (!is_owned_[i] || own_.epochs[i] > 0 || holder_of(bucket) != nullptr) continue;
    own_.epochs[i] = ++highest_[i];
  }
  ++own_.version.number;
}

void Authority::heard(std::string_view peer, Holdings holdings, const HoldingsVersion& told,
                      SteadyPoint now) {
  if (Known* const known = find(peer); known != nullptr && !known->is_doubted) {
    known->holdings = std::move(holdings);
    yield_to(*known);
  }
  heard_again(peer, told, now);
}

void Authority::heard_again(std::string_view peer, const HoldingsVersion& told, SteadyPoint now) {
  Known* const known = find(peer);
  if (known == nullptr) return;
  known->is_asked = false;
  if (std::exchange(known->is_doubted, false)) return;
  known->state = State::heard;
  known->heard_in = known->asked_in;
  known->told = told;
  known->is_asked = false;
  known->failures = 0;
  known->not_before = now + limits::holdings_interval;
  look_at_gifts(*known);
  settle();
}

void Authority::failed(std::string_view peer, bool is_gone, SteadyPoint now) {
  Known* const known = find(peer);
  if (known == nullptr) return;
  known->is_doubted = false;
  if (!is_gone && known->failures == 0) {
    known->failures = 1;
    known->is_asked = false;
    known->is_wanted = true;
    known->not_before = now;
    return;
  }
  known->state = State::unreachable;
  known->is_asked = false;
  known->is_wanted = false;
  const auto pause = limits::holder_pause_start * (1U << std::min(known->failures, 16U));
  known->not_before = now + std::min<Milliseconds>(pause, limits::holder_pause_most);
  ++known->failures;
  // Whether or not it has heard of it: the higher epoch has it when it is back.
  std::erase_if(given_, [&](const auto& given) { return given.second.to == peer; });
  settle();
}

// A gift that did not arrive was none.
void Authority::look_at_gifts(const Known& known) {
  constexpr unsigned most = 2;
  for (auto given = given_.begin(); given != given_.end();) {
    const bool is_to_it = given->second.to == known.peer.name;
    const bool is_lost = is_to_it && ++given->second.heard_without >= most;
    given = is_lost ? given_.erase(given) : std::next(given);
  }
}

void Authority::hint(std::string_view peer, const HoldingsVersion& version) {
  Known* const known = find(peer);
  if (known == nullptr || known->holdings.version == version) return;
  known->is_wanted = true;
  // It is there, whatever we thought of it.
  known->not_before = {};
}

void Authority::doubt(std::string_view peer) {
  Known* const known = find(peer);
  if (known == nullptr || known->state == State::unreachable) return;
  known->state = State::unheard;
  known->is_doubted = known->is_asked;
  known->holdings = {};
  known->not_before = {};
}

void Authority::suspect(std::string_view peer) {
  Known* const known = find(peer);
  if (known == nullptr || known->state != State::heard) return;
  known->is_wanted = true;
  known->not_before = {};
}

bool Authority::is_unreachable(std::string_view peer) const noexcept {
  const Known* const known = find(peer);
  return known == nullptr || known->state == State::unreachable;
}

std::optional<Peer> Authority::peer(std::string_view name) const {
  const Known* const known = find(name);
  if (known == nullptr || known->state == State::unreachable) return std::nullopt;
  return known->peer;
}

bool Authority::is_due(const Known& known) const noexcept {
  if (known.is_asked || known.peer.address.host.empty()) return false;
  return known.state != State::heard || known.is_wanted || known.told != own_.version;
}

std::vector<Authority::Call> Authority::take_due(SteadyPoint now) {
  std::vector<Call> calls;
  for (Known& known : peers_) {
    if (!is_due(known) || now < known.not_before) continue;
    known.is_asked = true;
    known.is_wanted = false;
    known.asked_in = round_;
    calls.push_back({known.peer, known.holdings.version, own_.version});
  }
  return calls;
}

std::optional<SteadyPoint> Authority::next_due() const noexcept {
  std::optional<SteadyPoint> next;
  for (const Known& known : peers_) {
    if (is_due(known) && (!next || known.not_before < *next)) next = known.not_before;
  }
  return next;
}

std::size_t Authority::away() const noexcept {
  std::size_t away = 0;
  for (std::size_t i = 0; i < bucket_count; ++i) {
    if (is_owned_[i] && own_.epochs[i] == 0) ++away;
  }
  return away;
}

}  // namespace ringside::tier
