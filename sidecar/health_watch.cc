#include "sidecar/health_watch.h"

#include <algorithm>

#include "base/limits.h"
#include "base/log.h"
#include "http/field_lines.h"
#include "http/internal_fields.h"
#include "sidecar/probe.h"

namespace ringside::sidecar {

HealthWatch::HealthWatch(net::Core& core, metrics::CoreSheet& sheet,
                         std::unique_ptr<hop::Upstreams> probes, net::RetryBudget& repeats,
                         Troubles& troubles)
    : core_(core),
      sheet_(sheet),
      probes_(std::move(probes)),
      repeats_(repeats),
      troubles_(troubles),
      sleep_(core),
      looked_(core.steady_now()),
      next_look_(looked_ + limits::deadline_tick) {}

HealthWatch::~HealthWatch() = default;

void HealthWatch::introduce_as(std::shared_ptr<const hop::PeerIdentity> self) {
  probes_->introduce_as(std::move(self));
}

void HealthWatch::follow(std::shared_ptr<const Settings> settings,
                         const std::vector<metrics::ShardIndex>& shards,
                         const MissedPointers& missed) {
  std::vector<Replica*> members;
  const tier::Membership& membership = *settings->membership;
  const bool has_new_keys = followed_ == nullptr || settings->peer_keys != followed_->peer_keys;
  for (shard::MemberIndex index = 0; index < membership.size(); ++index) {
    const Endpoint& address = membership.address(index);
    const Key key(membership.name(index), address);
    Replica& replica = replicas_[key];
    // Asked by one core for all, so that it is known before a request needs it.
    const bool is_about_proof = settings->peer_keys || settings->insecure_peers;
    if (is_about_proof && core_.index() == 0 && membership.is_somewhere(index)) {
      if (settings->peer_keys && !replica.is_member) {
        troubles_.unproven.expect(key, "is not used: it was not asked yet");
      }
      replica.awaits_first_word = replica.awaits_first_word || !replica.is_member || has_new_keys;
    }
    replica.name = key.first;
    replica.address = address;
    replica.shard = shards[index];
    replica.missed = missed[index];
    members.push_back(&replica);
  }
  for (Replica* before : members_) before->is_member = false;
  for (Replica* member : members) member->is_member = true;
  for (Replica* before : members_) {
    if (before->is_member) continue;
    if (before->health.is_ejected()) sheet_.replica_returned(before->shard);
    before->health = {};
    before->is_unproven = before->is_silent = before->awaits_first_word = false;
  }
  if (core_.index() == 0) {
    troubles_.unproven.keep(membership);
    troubles_.silent.keep(membership);
  }
  members_ = std::move(members);
  followed_ = std::move(settings);
  forget_strangers();
  look_by(core_.steady_now());
}

void HealthWatch::forget_strangers() {
  std::erase_if(replicas_, [](const auto& row) {
    const Replica& replica = row.second;
    return !replica.is_member && !replica.is_probed && replica.waiting.empty();
  });
}

HealthWatch::Replica* HealthWatch::find(const Settings& settings,
                                        shard::MemberIndex member) noexcept {
  if (&settings == followed_.get()) return members_[member];
  const tier::Membership& membership = *settings.membership;
  const auto found = replicas_.find(Key(membership.name(member), membership.address(member)));
  return found == replicas_.end() ? nullptr : &found->second;
}

std::optional<int> HealthWatch::rank(const Settings& settings, shard::MemberIndex member,
                                     const shard::ShardKey& key, SteadyPoint now) noexcept {
  switch (standing(settings, member, key, now)) {
    case Standing::in_service:
      return 0;
    case Standing::returning:
      return 1;
    case Standing::ejected:
      return 2;
    case Standing::not_ready:
    case Standing::unproven:
      return 3;
    case Standing::nowhere:
      break;
  }
  return std::nullopt;
}

HealthWatch::Standing HealthWatch::standing(const Settings& settings, shard::MemberIndex member,
                                            const shard::ShardKey& key, SteadyPoint now) noexcept {
  if (!settings.membership->is_somewhere(member)) return Standing::nowhere;
  if (!settings.membership->is_ready(member)) return Standing::not_ready;
  const Replica* replica = find(settings, member);
  if (replica != nullptr && replica->is_unproven) return Standing::unproven;
  if (replica == nullptr || replica->health.takes(key.hash, now)) return Standing::in_service;
  return replica->health.is_ejected() ? Standing::ejected : Standing::returning;
}

bool HealthWatch::is_ejected(const Settings& settings, shard::MemberIndex member) noexcept {
  const Replica* const replica = find(settings, member);
  return replica != nullptr && replica->health.is_ejected();
}

// Counted of the newest members and of the request's, whichever they are: too many is no harm.
std::size_t HealthWatch::members_out(const Settings& settings) const noexcept {
  const auto unwell = std::count_if(members_.begin(), members_.end(), [](const Replica* member) {
    return !member->takes_everything();
  });
  const tier::Membership& asked = *settings.membership;
  return static_cast<std::size_t>(unwell) + asked.size() - asked.ready_members();
}

std::optional<shard::MemberIndex> HealthWatch::choose(const Settings& settings,
                                                      const shard::ShardKey& key,
                                                      std::span<const shard::MemberIndex> asked) {
  if (asked.empty()) {  // Nearly always this is all.
    const shard::MemberIndex owner = settings.membership->topology->owner(key);
    const Replica* replica = find(settings, owner);
    const bool well = replica == nullptr || replica->takes_everything();
    if (well && settings.membership->is_ready(owner)) return owner;
  }
  const SteadyPoint now = core_.steady_now();
  const std::size_t tried = limits::owners_tried + members_out(settings);
  settings.membership->topology->owners(key, tried, owners_);
  std::optional<shard::MemberIndex> best;
  std::optional<int> best_rank;
  for (const shard::MemberIndex owner : owners_) {
    if (std::find(asked.begin(), asked.end(), owner) != asked.end()) continue;
    const auto owner_rank = rank(settings, owner, key, now);
    if (!owner_rank || (best_rank && *owner_rank >= *best_rank)) continue;
    best = owner;
    best_rank = owner_rank;
    if (best_rank == 0) break;
  }
  return best;
}

HealthWatch::Ask::Ask(HealthWatch& watch, const Settings& settings, shard::MemberIndex member,
                      hop::Exchange& exchange, BreakOff break_off)
    : watch_(watch),
      replica_(watch.find(settings, member)),
      exchange_(exchange),
      began_(watch.core_.steady_now()),
      break_off_(break_off) {
  if (replica_ == nullptr) return;
  replica_->waiting.push_back(*this);
  watch_.look_by(began_ + limits::suspicion_after);
}

void HealthWatch::Ask::end(const Result<void>& answered) {
  if (is_linked()) unlink();
  if (replica_ == nullptr || !replica_->is_member) return;
  if (answered) {
    replica_->health.answered(watch_.core_.steady_now());
    if (replica_->is_unproven) watch_.settle(*replica_);
    if (replica_->is_silent) watch_.hear(*replica_);
  } else if (answered.error().source == ErrorSource::peer) {
    watch_.note_failure(*replica_, answered.error(), began_);
  }
}

void HealthWatch::note_failure(Replica& replica, const Error& failure, SteadyPoint began) {
  if (failure.kind == ErrorKind::untrusted) return refuse(replica, failure.message);
  if (replica.health.failed(failure.kind, began)) take_out(replica, failure.message);
  attend_to(replica);
}

// It is as if its source said that it is not ready, for as long as it proves nothing.
void HealthWatch::refuse(Replica& replica, const std::string& why) {
  replica.is_unproven = true;
  const std::string what = "is not used: " + why;
  if (!troubles_.unproven.note(Key(replica.name, replica.address), what, core_.steady_now()))
    return;
  log::warning("replica {} at {} {}", replica.name, replica.address.text(), what);
}

void HealthWatch::settle(Replica& replica) {
  replica.is_unproven = replica.awaits_first_word = false;
  if (!troubles_.unproven.settled(Key(replica.name, replica.address))) return;
  log::info("replica {} at {} has proved membership", replica.name, replica.address.text());
}

// A look at every replica when one may be due, rather than a timer for each request or replica:
// what waits is a list in order of age, so that a look is one comparison. While nobody waits and no
// replica is in trouble, the core sleeps.
Task<void> HealthWatch::run() {
  while (!core_.stopped()) {
    if (core_.steady_now() >= next_look_) look();
    co_await sleep_.wait(next_look_);
  }
}

// When it is to be probed.
SteadyPoint HealthWatch::due(const Replica& replica) const noexcept {
  // It is nowhere at present, or what there is to know is being asked.
  if (replica.address.host.empty() || replica.is_probed) return SteadyPoint::max();
  const bool has_to_tell =
      replica.is_unproven || replica.awaits_first_word || replica.missed->has_news();
  if (has_to_tell) return replica.health.may_be_probed();
  return replica.health.wants_probe(replica.waiting.empty() ? SteadyPoint::max()
                                                            : replica.waiting.front().began_);
}

void HealthWatch::begin_probe(Replica& replica) {
  replica.is_probed = true;
  replica.health.probe_begins(core_.steady_now());
  core_.spawn(probe_one(replica));
}

void HealthWatch::attend_to(Replica& replica) {
  const SteadyPoint at = due(replica);
  // The sooner, the fewer get such an answer.
  if (replica.health.is_suspected() && at <= core_.steady_now()) return begin_probe(replica);
  look_by(at);
}

// Not more than once a tick, whatever happens in it.
void HealthWatch::look_by(SteadyPoint at) {
  at = std::max(at, looked_ + SteadyPoint::duration(limits::deadline_tick));
  if (at >= next_look_) return;
  next_look_ = at;
  sleep_.bell()->wake();
}

// A thousand new replicas are not all probed in one turn, in which nobody else would be answered:
// first those that somebody waits for, then the others by turns.
void HealthWatch::look() {
  looked_ = core_.steady_now();
  next_look_ = looked_ + limits::health_look;
  std::size_t begun = 0;
  for (const bool awaited : {true, false}) {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const std::size_t place = (first_looked_at_ + i) % members_.size();
      Replica& replica = *members_[place];
      if (replica.waiting.empty() == awaited) continue;
      const SteadyPoint at = due(replica);
      next_look_ = std::min(next_look_, std::max(at, looked_ + limits::deadline_tick));
      if (at > looked_) continue;
      if (begun == limits::probes_at_once) {
        if (!awaited) first_looked_at_ = place;
        break;
      }
      begin_probe(replica);
      ++begun;
    }
  }
  if (replicas_.size() > members_.size()) forget_strangers();
}

// While it runs the replica is not forgotten.
Task<void> HealthWatch::probe_one(Replica& replica) {
  const auto news = replica.missed->news();
  http::FieldLines lines;
  if (news) {
    lines.add(http::internal::topology, followed_->membership->topology_id);
    lines.add(http::internal::missed, news->text);
    lines.add(http::internal::purges_done, news->purges);
  } else if (followed_->insecure_peers) {  // who wants a proof says so to who speaks like a member
    lines.add(http::internal::topology, followed_->membership->topology_id);
  }
  // Not made in the call: GCC 12 frees what a braced argument of an awaited call holds twice.
  const Probed probed{replica.name, replica.address};
  const auto answered = co_await probe(core_, *probes_, probed, lines.text());
  probes_->close_idle();
  replica.is_probed = false;
  if (core_.stopped() || !replica.is_member) co_return;
  hear_probe(replica, answered, news);
  look_by(due(replica));
}

void HealthWatch::hear_probe(Replica& replica, const Result<std::uint64_t>& answered,
                             const std::optional<Missed::News>& news) {
  const bool is_of_peer = !answered && answered.error().source == ErrorSource::peer;
  const bool is_refused = is_of_peer && answered.error().kind == ErrorKind::untrusted;
  if (is_refused) {
    sheet_.count("ringside_replica_probes_total", metrics::ProbeAnswer::failed);
    replica.awaits_first_word = false;
    return refuse(replica, answered.error().message);
  }
  // Who is not there now has proved nothing either, but that is another obstacle.
  if (answered || (is_of_peer && replica.awaits_first_word)) settle(replica);
  if (answered) {
    if (news) replica.missed->heeded(std::min(news->number, *answered));
    sheet_.count("ringside_replica_probes_total", metrics::ProbeAnswer::answered);
    if (replica.health.probe_answered(core_.steady_now())) sheet_.replica_returned(replica.shard);
    if (replica.is_silent) hear(replica);
    return;
  }
  if (!is_of_peer) return;  // It tells nothing of the replica.
  sheet_.count("ringside_replica_probes_total", metrics::ProbeAnswer::failed);
  if (!replica.health.probe_failed()) return;
  take_out(replica, answered.error().message);
  break_off(replica);
}

// Whether the newest settings let it be asked before all others have failed.
bool HealthWatch::is_there(shard::MemberIndex index) const noexcept {
  const tier::Membership& membership = *followed_->membership;
  return membership.is_ready(index) && membership.may_own(index) && !members_[index]->is_unproven;
}

// Another one that answers, as far as is known.
bool HealthWatch::has_another(const Replica& replica) const noexcept {
  for (shard::MemberIndex index = 0; index < members_.size(); ++index) {
    const Replica* const other = members_[index];
    if (other != &replica && is_there(index) && !other->is_silent) return true;
  }
  return false;
}

// Of those that could be asked some must stay, so only they are counted.
bool HealthWatch::may_eject() const noexcept {
  std::size_t there = 0, ejected = 0;
  for (shard::MemberIndex index = 0; index < members_.size(); ++index) {
    if (!is_there(index)) continue;
    ++there;
    ejected += members_[index]->health.is_ejected() ? 1 : 0;
  }
  return ejected < most_ejected(there);
}

void HealthWatch::take_out(Replica& replica, const std::string& why) {
  if (replica.health.is_ejected()) return;
  const bool ejected = may_eject();
  if (ejected) {
    replica.health.eject();
    sheet_.replica_ejected(replica.shard);
  }
  replica.is_silent = true;
  const Key key(replica.name, replica.address);
  if (!troubles_.silent.note(key, "does not answer", core_.steady_now())) return;
  log::warning("replica {} at {} does not answer: {}; {}", replica.name, replica.address.text(),
               why,
               ejected ? "its requests go to the next owners"
                       : "it is asked all the same, since too few others are left");
}

void HealthWatch::hear(Replica& replica) {
  if (replica.health.is_ejected()) return;  // that was the answer to an old request
  replica.is_silent = false;
  if (!troubles_.silent.settled(Key(replica.name, replica.address))) return;
  log::info("replica {} at {} answers again", replica.name, replica.address.text());
}

// Who gives up here is resumed later, from the core's loop, so the list stays as it is meanwhile.
// Those who have waited longest come first. Others may follow after the next probe.
void HealthWatch::break_off(Replica& replica) noexcept {
  const SteadyPoint now = core_.steady_now();
  const bool another = has_another(replica);
  for (Ask& ask : replica.waiting) {
    const bool can_be_repeated = ask.break_off_ == BreakOff::for_origin ||
                                 (ask.break_off_ == BreakOff::for_another && another);
    if (can_be_repeated && !ask.is_repeat_paid_) ask.is_repeat_paid_ = repeats_.spend(now);
    if (ask.is_repeat_paid_ || ask.break_off_ == BreakOff::always) ask.exchange_.give_up();
  }
}

}  // namespace ringside::sidecar
