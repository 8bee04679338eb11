#include "sidecar/forwarding.h"

#include <algorithm>
#include <boost/container/static_vector.hpp>

#include "base/limits.h"
#include "http/internal_fields.h"
#include "http1/head_text.h"
#include "sidecar/messages.h"

namespace ringside::sidecar {
namespace {

constexpr std::string_view end_of_head = "\r\n";

// What the replica may take of a wait, so that it can still say itself that its origin is silent:
// else the next owners would be asked, and ask that origin too.
Milliseconds share_of_replica(Milliseconds wait) noexcept {
  return std::max(wait - limits::replica_answer_allowance, wait / 2);
}

}  // namespace

Forwarding::Forwarding(CoreState& state, const Snapshot& snapshot, const Decision& decision)
    : state_(state),
      settings_(*snapshot.settings),
      own_via_(snapshot.identity.via),
      decision_(decision),
      deadline_(state.core.steady_now() + settings_.request_deadline) {}

http::ExchangeLimits Forwarding::limits() const noexcept {
  return {settings_.connect_timeout, settings_.first_byte_timeout, deadline_};
}

Task<Result<void>> Forwarding::ask_owner(shard::MemberIndex owner,
                                         const http::OutgoingRequest& outgoing) {
  exchange_.emplace(state_.core, state_.replicas);
  const bool repeatable = outgoing.body == nullptr && http::is_idempotent(outgoing.method);
  HealthWatch::Ask asked(state_.health, settings_, owner, *exchange_, repeatable);
  const auto answered =
      co_await exchange_->ask(settings_.membership->address(owner), outgoing, limits());
  asked.end(answered);
  co_return answered;
}

// For the head of a replica's answer, from now on. The time for the first byte begins when a body
// is out; until then what the client sends may take long.
Milliseconds Forwarding::wait_for(const http::OutgoingRequest& outgoing) const noexcept {
  const auto left = std::chrono::ceil<Milliseconds>(deadline_ - state_.core.steady_now());
  const auto most = outgoing.body == nullptr ? settings_.first_byte_timeout : left;
  return std::clamp(left, Milliseconds{0}, std::max(most, Milliseconds{0}));
}

// A request that was never sent is none that is repeated: the next owner is the first that it costs
// anything.
bool Forwarding::may_repeat_after(const Error& failure) noexcept {
  const bool never_sent =
      failure.kind == ErrorKind::refused || failure.kind == ErrorKind::unresolved;
  return never_sent || state_.repeats.spend(state_.core.steady_now());
}

Task<Result<void>> Forwarding::ask_owners(http::OutgoingRequest& outgoing, std::string& head) {
  const std::size_t members = settings_.membership->size();
  Error nobody{ErrorKind::no_replica, ErrorSource::ourselves, Retry::yes, "no replica"};
  if (members == 0) co_return nobody;

  state_.repeats.count_request(state_.core.steady_now());
  const std::size_t most = std::min<std::size_t>(members, limits::owners_tried);
  const std::size_t head_size = head.size();
  boost::container::static_vector<shard::MemberIndex, limits::owners_tried> asked;
  while (true) {
    const auto owner = state_.health.choose(settings_, decision_.key(), asked);
    if (!owner) co_return nobody;  // the others are nowhere at present
    if (!asked.empty()) state_.sheet.count("ringside_retries_total");
    asked.push_back(*owner);
    head.resize(head_size);
    http::append_field(head, http::internal::deadline,
                       std::to_string(share_of_replica(wait_for(outgoing)).count()));
    outgoing.head = head.append(end_of_head);
    const auto answered = co_await ask_owner(*owner, outgoing);
    if (answered) {
      answered_by_ = *owner;
      co_return answered;
    }
    const Error& failure = answered.error();
    if (failure.retry == Retry::no) co_return failure;
    // A wait that ran out is another thing than nobody to ask: 504, not 503.
    if (failure.kind == ErrorKind::timeout) nobody.kind = ErrorKind::timeout;
    nobody.message += "; " + settings_.membership->name(*owner) + ": " + failure.message;
    const bool was_last = asked.size() == most || state_.core.steady_now() >= deadline_;
    if (!was_last && !may_repeat_after(failure)) co_return failure;
    state_.sheet.count_error(failure);
    if (was_last) co_return nobody;
  }
}

Task<Result<void>> Forwarding::ask_origins(const std::vector<net::Origin>& origins,
                                           const http::OutgoingRequest& outgoing) {
  exchange_.emplace(state_.core, state_.origins);
  auto asked = co_await state_.origin_access.ask(origins, *exchange_, outgoing, limits());
  std::optional<int> status;
  if (asked.answered) status = exchange_->head().status;
  state_.sheet.count_origin_requests(asked.requests, status);
  co_return std::move(asked.answered);
}

Task<Result<void>> Forwarding::run(const http::RequestHead& request, http::Connection& client,
                                   std::string& head) {
  auto outgoing = http::passed_on(request, decision_.hop, decision_.method, client);
  const auto& origins = decision_.route->origins;
  const bool origin_allowed =
      settings_.without_replica == WithoutReplica::ask_origin && !origins.empty();

  write_upstream_head(head, request, decision_, settings_, own_via_, Upstream::replica);
  head.resize(head.size() - end_of_head.size());
  const auto answered = co_await ask_owners(outgoing, head);
  if (answered || answered.error().retry == Retry::no || !origin_allowed) co_return answered;

  write_upstream_head(head, request, decision_, settings_, own_via_, Upstream::origin);
  outgoing.head = head;
  co_return co_await ask_origins(origins, outgoing);
}

}  // namespace ringside::sidecar
