#include <algorithm>
#include <iterator>
#include <utility>

#include "base/limits.h"
#include "tier/authority.h"

// What peers say, and whom to ask: the rest is in authority.cc.

namespace ringside::tier {

using shard::Bucket;
using shard::bucket_count;

void Authority::heard(std::string_view peer, Holdings holdings, const HoldingsVersion& told,
                      SteadyPoint now) {
  if (Known* const known = find(peer); known != nullptr && !known->is_doubted) {
    known->holdings = std::move(holdings);
    known->known_buckets = known->holdings.numbers.buckets;
    if (const shard::Topology* const topology = takers_.topology()) {
      known->known_buckets = extend(known->holdings, known->known_buckets, *topology);
    }
    yield_to(*known);
    const std::vector<Peer> leavers = known->holdings.leavers;
    hear_of_leavers(leavers);
  }
  heard_again(peer, told, now);
}

void Authority::heard_again(std::string_view peer, const HoldingsVersion& told, SteadyPoint now) {
  Known* const known = find(peer);
  if (known == nullptr) return;
  known->is_asked = false;
  known->failures = 0;
  known->waited_for = 0;
  if (std::exchange(known->is_doubted, false)) return;
  known->state = State::heard;
  known->was_heard = true;
  known->was_heard_since = true;
  known->heard_in = known->asked_in;
  if (known->heard_in != round_) known->is_wanted = true;  // it was unreachable when this one began
  known->told = told;
  known->not_before = now + limits::holdings_interval * (1 + peers_.size() / 4);
  look_at_gifts(*known, now);
  choose_takers();
  forget_leavers(now);
  tell_of_leavers();
  settle();
}

void Authority::heard_of_us(std::string_view peer, bool knows_us) {
  if (Known* const known = find(peer)) known->has_forgotten_us = !knows_us;
}

bool Authority::is_forgotten() const noexcept {
  if (!takers_.has_any() || takers_.has(own_name_)) return false;
  return std::all_of(peers_.begin(), peers_.end(), [this](const Known& known) {
    return known.state == State::heard && known.has_forgotten_us && known.told == own_.version;
  });
}

bool Authority::give_up() {
  bool changed = false;
  for (std::size_t i = 0; i < bucket_count; ++i) {
    const auto bucket = static_cast<Bucket>(i);
    if (!own_.has(bucket)) continue;
    let_go(bucket);
    own_.copies[i] = false;
    changed = true;
  }
  if (changed) ++own_.version.number;
  return changed;
}

void Authority::failed(std::string_view peer, bool is_gone, SteadyPoint now) {
  Known* const known = find(peer);
  if (known == nullptr) return;
  known->is_doubted = false;
  const bool is_first = known->failures == 0;
  if (is_first) known->failing_since = now;
  // Connections that break say little: it may answer on the next one. So does a refusal, if it has
  // talked to us since we asked.
  const bool is_early = now < known->failing_since + limits::unreachable_after;
  const bool is_proof = is_gone && !known->has_talked;
  if (!is_proof && (is_first || is_early)) {
    known->failures = 1;
    known->is_asked = false;
    known->is_wanted = true;
    known->not_before = is_first ? now : now + limits::deadline_tick;
    return;
  }
  known->state = State::unreachable;
  known->is_asked = false;
  known->is_wanted = false;
  const auto pause = limits::holder_pause_start * (1U << std::min(known->failures, 16U));
  known->not_before = now + std::min<Milliseconds>(pause, limits::holder_pause_most);
  if (known->has_talked) known->not_before = now;
  ++known->failures;
  if (std::exchange(known->is_by_hearsay, false)) known->peer.address = {};
  // Whether or not it took it: the higher epoch has it when it is back. If it did not, it hears
  // then that it may not any more.
  if (std::erase_if(given_, [&](const auto& given) { return given.second.to == peer; }) > 0) {
    known->taken_back_in = taken_back_in_ = ++own_.version.number;
  }
  choose_takers();
  forget_leavers(now);
  tell_of_leavers();
  settle();
}

// Rule 6.
void Authority::forget_leavers(SteadyPoint now) {
  std::erase_if(peers_, [&](const Known& known) {
    if (!known.is_leaver) return false;
    if (known.state == State::unreachable) {
      return now >= known.failing_since + limits::leaver_patience;
    }
    if (known.state != State::heard || !known.was_heard_since) return false;
    if (is_given_any(known.peer.name)) return false;  // and it is still to come
    for (std::size_t i = 0; i < bucket_count; ++i) {
      if (known.holdings.has(static_cast<Bucket>(i))) return false;
    }
    return true;
  });
}

// A gift that did not arrive does not count. One that goes with a batch may be long on its way, and
// its taker still asks for it again: if it were forgotten, two would ask the origin. A replica that
// is no longer the taker may still get it:
//   1. a gives to b, with a batch that takes long   1'. c becomes the taker
//   2. a hears b without it, and takes it back      2'. b gets the batch, and has the higher epoch
//   3. a fetches for c                              3'. c asks b, which fetches again
// So b is told between 2 and 3, and has either said by its answer that it has the bucket, or takes
// nothing of that batch. A gift without a batch may have arrived and been passed on meanwhile.
// Nothing was stored here when it was made, so the bucket is nobody's now, which rule 3 is for.
void Authority::look_at_gifts(Known& known, SteadyPoint now) {
  constexpr unsigned most = 2;
  const std::uint64_t next_version = own_.version.number + 1;
  bool has_changed = false;
  for (auto row = given_.begin(); row != given_.end();) {
    Given& given = row->second;
    const bool is_to_it = given.to == known.peer.name;
    if (is_to_it && given.heard_without++ == 0) given.without_since = now;
    const bool is_to_taker = takers_.is(given.to, row->first);
    const bool is_awaited =
        !given.is_all_there && is_to_taker && now < given.without_since + limits::move_timeout;
    const bool is_late = is_to_it && given.heard_without >= most && !is_awaited;
    if (is_to_it && !is_to_taker && !is_late) known.is_wanted = true;
    if (is_late && given.taken_back_in == 0) {
      given.taken_back_in = known.taken_back_in = taken_back_in_ = next_version;
      known.not_before = {};
      has_changed = true;
    }
    const bool is_lost =
        is_to_it && given.taken_back_in > 0 && known.told.number >= given.taken_back_in;
    if (is_lost && given.is_all_there) {
      own_.epochs[row->first] = 0;
      own_.copies[row->first] = true;  // of what was fetched from the taker since
      has_changed = true;
    }
    row = is_lost ? given_.erase(row) : std::next(row);
  }
  if (has_changed) ++own_.version.number;
}

void Authority::hear_of_taking_back(std::string_view giver, const HoldingsVersion& since) {
  Known* const known = find(giver);
  if (known != nullptr && !is_taken_back(giver, since)) known->gives_since = since;
}

bool Authority::is_taken_back(std::string_view giver, const HoldingsVersion& given) const noexcept {
  const Known* const known = find(giver);
  if (known == nullptr) return true;
  const HoldingsVersion& since = known->gives_since;
  return given.incarnation == since.incarnation && given.number < since.number;
}

// Who talks to us is there, whatever we thought of it, and may take over what it hears that nobody
// has. So it is heard before we do that: else both would have it.
//   1. b comes back, and hears a and all others: nobody has the bucket, and b takes it over.
//   2. a, which could not reach b, hears the last of the others.
//   3. a takes the bucket over as well.
// One that hears us, but that we can't reach, is waited for once, until it has failed as any other.
void Authority::hint(std::string_view peer, const HoldingsVersion& version) {
  Known* const known = find(peer);
  if (known == nullptr) return;
  known->has_talked = true;
  const bool is_silent = known->state == State::unreachable;
  if (known->holdings.version == version && !is_silent) return;
  known->is_wanted = true;
  known->not_before = {};
  if (!is_silent || known->peer.address.host.empty()) return;
  if (std::exchange(known->waited_for, version.incarnation) == version.incarnation) return;
  if (known->holdings.version.incarnation != version.incarnation) known->holdings = {};
  known->state = State::unheard;
  known->failures = 0;
  choose_takers();
  tell_of_leavers();
}

void Authority::doubt(std::string_view peer) {
  Known* const known = find(peer);
  if (known == nullptr || known->state == State::unreachable) return;
  known->state = State::unheard;
  known->is_doubted = known->is_asked;
  known->holdings = {};
  known->not_before = {};
}

void Authority::denies(std::string_view peer, Bucket bucket) {
  if (has_said_to_hold(peer, bucket)) return doubt(peer);
  suspect(peer);
}

void Authority::suspect(std::string_view peer) {
  Known* const known = find(peer);
  if (known == nullptr || known->state != State::heard) return;
  known->is_wanted = true;
  known->not_before = {};
}

void Authority::suspect_takers() {
  if (!own_.is_draining) return;
  for (Known& known : peers_) {
    if (known.state != State::heard || to_give(known.peer.name).empty()) continue;
    known.is_wanted = true;
    known.not_before = {};
  }
}

bool Authority::is_draining(std::string_view peer) const noexcept {
  const Known* const known = find(peer);
  return known != nullptr && known->holdings.is_draining;
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

std::vector<Peer> Authority::reachable(Among among) const {
  std::vector<Peer> peers;
  for (const Known& known : peers_) {
    const bool is_meant = among == Among::all || known.is_leaver;
    if (is_meant && known.state != State::unreachable) peers.push_back(known.peer);
  }
  return peers;
}

std::vector<std::string> Authority::unreachable() const {
  std::vector<std::string> names;
  for (const Known& known : peers_) {
    if (known.state == State::unreachable) names.push_back(known.peer.name);
  }
  return names;
}

// Nobody is believed that one is there: each hears it for itself, or was asked by it for what it
// gave it, and tells of it only then, for as long as it can be reached. So one that is gone is
// forgotten by all.
void Authority::hear_of_leavers(const std::vector<Peer>& leavers) {
  for (const Peer& leaver : leavers) {
    if (leaver.name == own_name_) continue;
    if (Known* const member = find(leaver.name)) {
      const bool is_awaited = member->peer.address.host.empty() && !member->was_heard;
      if (!is_awaited) continue;
      member->peer.address = leaver.address;
      member->is_by_hearsay = true;
      member->state = State::unheard;
      member->failures = 0;
      member->not_before = {};
      continue;
    }
    Known known = new_known();
    known.peer = leaver;
    known.is_leaver = true;
    peers_.push_back(std::move(known));
  }
}

void Authority::tell_of_leavers() {
  std::vector<Peer> leavers;
  for (const Known& known : peers_) {
    // Whom we gave something has asked us for it.
    const bool is_told = known.was_given || (known.is_leaver && known.was_heard);
    if (is_told && known.state != State::unreachable) leavers.push_back(known.peer);
  }
  if (leavers == own_.leavers) return;
  own_.leavers = std::move(leavers);
  ++own_.version.number;
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
    known.has_talked = false;
    known.asked_in = round_;
    calls.push_back({known.peer, known.holdings.version, own_.version, known.taken_back_in});
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

}  // namespace ringside::tier
