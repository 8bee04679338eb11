#include <algorithm>
#include <utility>

#include "tier/authority.h"

// What a new membership changes, and who takes what by it: the rest is in authority.cc.

namespace ringside::tier {

using shard::Bucket;
using shard::bucket_count;

void Authority::follow(const MembershipPointer& membership) {
  const MembershipPointer before_it = takers_.followed();
  takers_.follow(membership);
  renumber(before_it);
  ours_ = takers_.buckets_of(own_name_);
  std::vector<Known> before = std::exchange(peers_, {});
  if (!takers_.has_any()) {
    unclaimed_.clear();
    return drop_gifts_to_nowhere();
  }
  for (Peer& peer : peers_of(*membership, own_name_)) {
    const auto same = std::find_if(before.begin(), before.end(), [&](const Known& known) {
      return known.peer.name == peer.name;
    });
    Known known = new_known();
    if (same != before.end()) {
      // Nobody but a peer has told where it is, still.
      const bool is_by_hearsay = peer.address.host.empty() && same->is_by_hearsay;
      if (is_by_hearsay) peer.address = same->peer.address;
      if (same->peer == peer) known = std::move(*same);
      known.is_by_hearsay = is_by_hearsay;
      // At another address it is another process; nowhere, it is gone, or may come back there.
      known.was_heard = same->was_heard;
      known.taken_back_in = same->taken_back_in;
      known.gives_since = same->gives_since;
      before.erase(same);
    }
    known.peer = std::move(peer);
    known.is_leaver = false;
    if (known.peer.address.host.empty()) known.state = State::unreachable;
    peers_.push_back(std::move(known));
  }
  keep_leavers(std::move(before));
  drop_gifts_to_nowhere();
  choose_takers();
  hear_former_takers();
  tell_of_leavers();
  for (const Known& known : peers_) {
    if (known.state == State::heard) yield_to(known);
  }
  settle();
}

// What is held of a bucket is held of all that were cut of it. Where numbers mean something else by
// now, nothing that was known of them is.
void Authority::renumber(const MembershipPointer& before) {
  const shard::Topology* const topology = takers_.topology();
  if (topology == nullptr) return;
  // Without buckets in between, it is what is held that tells.
  const bool is_other = before ? !topology->extends(*before->topology)
                               : own_.numbers.meaning != topology->numbering();
  if (is_other) {
    std::fill(own_.epochs.begin(), own_.epochs.end(), Epoch{0});
    own_.copies.assign(bucket_count, false);
    std::fill(highest_.begin(), highest_.end(), Epoch{0});
    std::fill(ended_.begin(), ended_.end(), Epoch{0});
    given_.clear();
    unclaimed_.clear();
    taken_back_in_ = own_.version.number + 1;  // which is the version below
    for (Known& known : peers_) {
      if (known.state == State::heard) known.state = State::unheard;
      known.holdings.epochs.clear();
      known.holdings.copies.clear();
      known.holdings.version = {};
      known.is_doubted = known.is_asked;
      known.not_before = {};
      known.taken_back_in = taken_back_in_;
    }
  }
  const Numbers numbers = numbers_of(*topology);
  for (Known& known : peers_)
    known.known_buckets = extend(known.holdings, known.known_buckets, *topology);
  if (numbers == own_.numbers && !is_other) return;
  if (numbers.meaning == own_.numbers.meaning && !is_other) {
    static_cast<void>(extend(own_, own_.numbers.buckets, *topology));
    // A gift under way is of all that was one bucket when it was made.
    for (std::size_t i = own_.numbers.buckets; i < numbers.buckets; ++i) {
      const auto parent = topology->parent_of(static_cast<Bucket>(i));
      if (!parent) continue;
      highest_[i] = std::max(highest_[i], highest_[*parent]);
      ended_[i] = std::max(ended_[i], ended_[*parent]);
      const auto given = given_.find(*parent);
      if (given != given_.end()) given_.emplace(static_cast<Bucket>(i), given->second);
    }
  }
  own_.numbers = numbers;
  ++own_.version.number;
}

// Those whose names members have by now are not among them: who asks by name asks the member.
void Authority::keep_leavers(std::vector<Known> before) {
  for (Known& known : before) {
    const bool is_there = known.is_leaver || known.state != State::unreachable;
    if (!is_there || known.peer.name == own_name_) continue;
    if (!std::exchange(known.is_leaver, true)) {
      known.was_heard_since = false;
      known.is_doubted = known.is_asked;
      known.is_wanted = true;
      known.not_before = {};
    }
    peers_.push_back(std::move(known));
  }
}

// Who could not be reached from the start on may not have started yet: it is waited for.
void Authority::choose_takers() {
  const bool has_changed = takers_.leave_out([this](const std::string& member) {
    if (member == own_name_) return own_.is_draining;
    const Known* const known = find(member);
    const bool is_gone = known->state == State::unreachable && known->was_heard;
    return is_gone || known->holdings.is_draining;
  });
  if (!has_changed) return;
  ours_ = takers_.buckets_of(own_name_);
  hear_former_takers();
}

// Nobody else asks for what it was given: so it is up to us to find out whether it has it.
void Authority::hear_former_takers() {
  for (const auto& [bucket, given] : given_) {
    if (given.taken_back_in == 0 && !takers_.is(given.to, bucket)) suspect(given.to);
  }
}

// Who can't be asked can't say that it has something.
void Authority::drop_gifts_to_nowhere() {
  const std::uint64_t next_version = own_.version.number + 1;
  const auto dropped = std::erase_if(given_, [&](const auto& given) {
    Known* const to = find(given.second.to);
    if (to != nullptr && !to->peer.address.host.empty()) return false;
    if (to != nullptr) to->taken_back_in = next_version;
    return true;
  });
  if (dropped > 0) taken_back_in_ = own_.version.number = next_version;
}

// It may have been known before, and given something that was taken back since.
Authority::Known Authority::new_known() const {
  Known known;
  known.taken_back_in = taken_back_in_;
  return known;
}

}  // namespace ringside::tier
