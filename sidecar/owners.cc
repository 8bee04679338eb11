#include "sidecar/owners.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/container/static_vector.hpp>

#include "base/limits.h"
#include "http/internal_fields.h"
#include "sidecar/messages.h"
#include "sidecar/probe.h"

namespace ringside::sidecar {
namespace {

using Members = boost::container::static_vector<shard::MemberIndex, limits::owners_tried>;

// What the replica may take of a wait, so that it can still say itself that its origin is silent:
// else the next owners would be asked, and ask that origin too.
Milliseconds share_of_replica(Milliseconds wait) noexcept {
  return std::max(wait - limits::replica_answer_allowance, wait / 2);
}

// Whether a replica has given the shard away (internal::holder). An origin's own 421 has no such
// field, which replicas pass on from nobody.
std::optional<std::string_view> named_holder(const http::ResponseHead& head) noexcept {
  return head.status == 421 ? head.fields.first(http::internal::holder) : std::nullopt;
}

}  // namespace

Owners::Owners(CoreState& core, const Snapshot& snapshot, const Decision& decision,
               http::FieldLines& fields)
    : core_(core),
      snapshot_(snapshot),
      settings_(*snapshot.settings),
      decision_(decision),
      deadline_(core.core.steady_now() + settings_.request_deadline),
      fields_(fields) {}

hop::UpstreamLimits Owners::limits() const noexcept {
  hop::UpstreamLimits limits{settings_.connect_timeout, settings_.first_byte_timeout, deadline_};
  limits.proof_timeout = limits::proof_timeout;
  return limits;
}

Task<Owners::Outcome> Owners::ask_replica(shard::MemberIndex member,
                                          std::optional<shard::MemberIndex> before, bool is_last) {
  const std::size_t size = fields_.text().size();
  fields_.add(http::internal::deadline,
              fmt::format_int(share_of_replica(wait_for_head()).count()).c_str());
  if (before) fields_.add(http::internal::instead_of, settings_.membership->name(*before));
  if (const auto news = snapshot_.missed[member]->news()) {
    fields_.add(http::internal::missed, news->text);
    fields_.add(http::internal::purges_done, news->purges);
  }
  outgoing_.fields = fields_.text();
  outgoing_.peer = settings_.membership->name(member);
  auto exchange = core_.replicas->exchange();
  HealthWatch::Ask asked(core_.health, settings_, member, *exchange, break_off(is_last));
  Result<void> answered =
      co_await exchange->ask(settings_.membership->address(member), outgoing_, limits());
  if (answered && !settings_.peer_keys) {
    if (auto refused = wants_proof(exchange->head())) {
      if (outgoing_.body != nullptr) refused->retry = Retry::no;  // what was sent of it is gone
      answered = *std::move(refused);
    }
  }
  asked.end(answered);
  is_repeat_paid_ = asked.is_repeat_paid();
  fields_.cut(size);
  if (!answered) co_return answered.error();
  if (const auto other = exchange->head().fields.first(http::internal::topology)) {
    core_.shared.topologies.hear(*other, core_.core.steady_now());
  }
  const auto holder = named_holder(exchange->head());
  if (holder) co_return Refusal{settings_.membership->topology->find(*holder)};
  co_return Answer{std::move(exchange), member};
}

// Where a replica is silent. An explanation says who is.
HealthWatch::BreakOff Owners::break_off(bool is_last) const noexcept {
  using BreakOff = HealthWatch::BreakOff;
  if (explains_) return BreakOff::always;
  if (outgoing_.body != nullptr || !http::is_idempotent(outgoing_.method)) return BreakOff::never;
  if (may_ask_origins()) return BreakOff::for_origin;
  return is_last ? BreakOff::never : BreakOff::for_another;
}

// For the head of a replica's answer, from now on. The time for the first byte begins when a body
// is out; until then what the client sends may take long.
Milliseconds Owners::wait_for_head() const noexcept {
  const auto left = std::chrono::ceil<Milliseconds>(deadline_ - core_.core.steady_now());
  const auto most = outgoing_.body == nullptr ? settings_.first_byte_timeout : left;
  return std::clamp(left, Milliseconds{0}, std::max(most, Milliseconds{0}));
}

// A request that was never sent can go to the next owner without counting as a repeat: that one is
// the first whom it costs anything.
bool Owners::may_repeat_after(const Error& failure) noexcept {
  const bool never_sent = failure.kind == ErrorKind::refused ||
                          failure.kind == ErrorKind::unresolved ||
                          failure.kind == ErrorKind::untrusted;
  return never_sent || explains_ || is_repeat_paid_ || core_.repeats.spend(core_.core.steady_now());
}

void Owners::count_request() {
  if (!explains_) core_.repeats.count_request(core_.core.steady_now());
}

void Owners::count_retry() {
  if (!explains_) core_.sheet.count("ringside_retries_total");
}

void Owners::note_failure(const std::string& name, const Error& failure) {
  if (explains_) {
    in_vain_.push_back(name + ": " + failure.message);
  } else {
    core_.sheet.count_error(failure);
  }
}

// The owner, where the one that is asked first is another one. Nobody is refused where the scheme
// is not by bucket.
std::optional<shard::MemberIndex> Owners::passed_over_for(shard::MemberIndex member) const {
  const shard::Topology& topology = *settings_.membership->topology;
  if (topology.bucket_owners().empty()) return std::nullopt;
  const shard::MemberIndex owner = topology.owner(decision_.key());
  return owner == member ? std::nullopt : std::optional(owner);
}

bool Owners::can_be_asked(const Refusal& refusal) const {
  return refusal.holder && settings_.membership->is_ready(*refusal.holder);
}

Task<Result<Owners::Answer>> Owners::ask_replicas() {
  const std::size_t members = settings_.membership->size();
  Error nobody{ErrorKind::no_replica, ErrorSource::ourselves, Retry::yes, "no replica"};
  if (members == 0) co_return nobody;

  count_request();
  const std::size_t most = std::min<std::size_t>(members, limits::owners_tried);
  Members asked;
  std::optional<shard::MemberIndex> next;     // named by one who refused, or that one once more
  std::optional<shard::MemberIndex> before;   // who was asked, or passed over, last
  std::optional<shard::MemberIndex> refuser;  // the first
  while (true) {
    const auto member = next ? next : core_.health.choose(settings_, decision_.key(), asked);
    if (!member) co_return nobody;  // the others are nowhere at present
    if (!asked.empty() && !next) count_retry();
    next.reset();
    if (!before) before = passed_over_for(*member);
    asked.push_back(*member);
    Outcome outcome = co_await ask_replica(*member, before, asked.size() >= most);
    if (auto* answer = std::get_if<Answer>(&outcome)) co_return std::move(*answer);
    before = member;
    const std::string& name = settings_.membership->name(*member);
    const bool is_late = core_.core.steady_now() >= deadline_;
    const bool was_last = asked.size() >= most || is_late;
    if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
      nobody.message += "; " + name + ": has given the shard away";
      // What was sent of the content is gone.
      if (outgoing_.body != nullptr) nobody.retry = Retry::no;
      if (outgoing_.body != nullptr || is_late) co_return nobody;
      if (!refuser) {
        refuser = member;
        next = can_be_asked(*refusal) ? refusal->holder : member;
        asked.pop_back();  // it has not touched the request, and may be asked again
        continue;
      }
      // Nobody refuses who is told that another one was asked before: these two agree on nothing.
      if (refuser != member && asked.size() < most) asked.push_back(*refuser);
      if (asked.size() >= most) co_return nobody;
      continue;
    }
    const Error& failure = std::get<Error>(outcome);
    if (failure.retry == Retry::no) co_return failure;
    // A wait that ran out is another thing than nobody to ask: 504, not 503.
    if (failure.kind == ErrorKind::timeout) nobody.kind = ErrorKind::timeout;
    nobody.message += "; " + name + ": " + failure.message;
    if (!was_last && !may_repeat_after(failure)) co_return failure;
    note_failure(name, failure);
    if (was_last) co_return nobody;
  }
}

Task<Result<Owners::Answer>> Owners::ask_origins() {
  Answer answer{core_.origins->exchange(), std::nullopt};
  const auto asked =
      co_await core_.origin_access.ask(decision_.route->origins, *answer.exchange, outgoing_,
                                       limits(), subscriber_of(told_client(decision_, settings_)));
  std::optional<int> status;
  if (asked.answered) status = answer.exchange->head().status;
  core_.sheet.count_origin_requests(asked.requests, status);
  if (!asked.answered) co_return asked.answered.error();
  co_return answer;
}

Task<Result<Owners::Answer>> Owners::ask(const http::RequestHead& request, http::Caller& caller) {
  outgoing_ = hop::passed_on(request, decision_.hop.upgrades, decision_.method, caller);
  outgoing_.repeats = &core_.repeats;
  outgoing_.target = &decision_.target;
  outgoing_.host = decision_.host;
  write_upstream_fields(fields_, request, decision_, settings_, snapshot_.identity.via,
                        Upstream::replica);
  return may_ask_origins() ? ask_replicas_or_origins(request) : ask_replicas();
}

bool Owners::may_ask_origins() const noexcept {
  return settings_.without_replica == WithoutReplica::ask_origin &&
         !decision_.route->origins.empty();
}

// As an OPTIONS that goes no further: who does not know what is asked for does nothing either.
Task<Result<Owners::Answer>> Owners::explain(const http::RequestHead& request) {
  explains_ = true;
  outgoing_.method = "OPTIONS";
  outgoing_.reads_fields = true;
  outgoing_.target = &decision_.target;
  outgoing_.host = decision_.host;
  write_upstream_fields(fields_, request, decision_, settings_, snapshot_.identity.via,
                        Upstream::replica);
  fields_.add("Max-Forwards", "0");
  fields_.add(http::internal::explain, decision_.method);
  return ask_replicas();
}

Task<Result<Owners::Answer>> Owners::ask_replicas_or_origins(const http::RequestHead& request) {
  auto answered = co_await ask_replicas();
  if (answered || answered.error().retry == Retry::no) co_return answered;
  write_upstream_fields(fields_, request, decision_, settings_, snapshot_.identity.via,
                        Upstream::origin);
  outgoing_.fields = fields_.text();
  co_return co_await ask_origins();
}

}  // namespace ringside::sidecar
