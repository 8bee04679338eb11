#include "cache/holder.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/limits.h"
#include "cache/origin.h"
#include "http/internal_fields.h"
#include "net/waiter.h"

namespace ringside::cache {
namespace {

using Way = tier::Authority::Way;
using metrics::HolderAnswer;

void count(CoreState& core, HolderAnswer answer) {
  core.sheet.count("ringside_holder_requests_total", answer);
}

// Who holds the bucket. Waits while not all that may hold it have been heard.
Task<tier::Authority::Direction> find_holder(CoreState& core, shard::Bucket bucket,
                                             SteadyPoint deadline) {
  net::Waiter waiter(core.core);
  while (true) {
    auto direction = core.shared.holders.direction(bucket, waiter.bell());
    if (direction.way != Way::unknown) co_return direction;
    const bool woken = co_await waiter.wait(deadline);
    if (woken) continue;
    count(core, HolderAnswer::unknown);
    co_return tier::Authority::Direction{};
  }
}

// One request at a holder that may be slow because its origin is, or because it is not there any
// more: the talk with it (cache/peer_talk.h) tells one from the other.
class Patience {
 public:
  Patience(CoreState& core, std::string holder, hop::Exchange& exchange)
      : state_(std::make_shared<State>(core, std::move(holder), exchange)) {
    core.core.spawn(watch(state_));
  }
  ~Patience() {
    state_->exchange = nullptr;
    state_->waiter.bell()->wake();
  }
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

 private:
  struct State {
    State(CoreState& the_core, std::string name, hop::Exchange& asked)
        : core(the_core), holder(std::move(name)), exchange(&asked), waiter(the_core.core) {}
    CoreState& core;
    const std::string holder;
    hop::Exchange* exchange;  // null: the request is over
    net::Waiter waiter;
  };

  static Task<void> watch(std::shared_ptr<State> state) {
    net::Core& core = state->core.core;
    Holders& holders = state->core.shared.holders;
    Milliseconds pause = limits::suspicion_after;
    while (!core.stopped()) {
      co_await state->waiter.wait(core.steady_now() + pause);
      if (state->exchange == nullptr) co_return;
      if (holders.is_unreachable(state->holder)) co_return state->exchange->give_up();
      holders.change([&](tier::Authority& authority) { authority.suspect(state->holder); });
      pause = limits::probe_interval;
    }
  }

  std::shared_ptr<State> state_;
};

// The holder has answered with an error of its own making, since no origin answered it.
std::optional<Error> failure_of_origin(const http::ResponseHead& head) {
  const bool is_own =
      head.fields.first(http::internal::outcome) == metrics::name(metrics::Outcome::error);
  if (!is_own || head.status < 500) return std::nullopt;
  const auto detail = head.fields.first(http::internal::detail).value_or(std::string_view{});
  return Error{head.status == 504 ? ErrorKind::timeout : ErrorKind::refused, ErrorSource::origin,
               Retry::no, std::string(detail)};
}

metrics::Outcome outcome_of(const http::ResponseHead& head) {
  const auto text = head.fields.first(http::internal::outcome).value_or(std::string_view{});
  const auto outcome = metrics::outcome_from(text);
  return outcome && metrics::is_hit(*outcome) ? metrics::Outcome::peer_fill
                                              : metrics::Outcome::miss;
}

using Answer = Result<std::unique_ptr<hop::Exchange>>;

// The holder's answer; null: it leads nowhere, and somebody else has to be asked.
Task<Answer> ask_holder(CoreState& core, const Settings& settings, const tier::Peer& holder,
                        SteadyPoint deadline, hop::UpstreamRequest outgoing, FillNotes& notes) {
  outgoing.peer = holder.name;
  outgoing.reads_fields = true;
  const Milliseconds wait = settings.first_byte_timeout + limits::replica_answer_allowance;
  const SteadyPoint last = std::min(core.core.steady_now() + wait, deadline);
  const hop::UpstreamLimits limits{settings.connect_timeout, wait, last};
  auto exchange = core.peers->exchange();
  Result<void> answered;
  {
    const Patience patience(core, holder.name, *exchange);
    answered = co_await exchange->ask(holder.address, outgoing, limits);
  }
  if (!answered) {
    count(core, HolderAnswer::failed);
    core.sheet.count_error(answered.error());
    // It is there, and waits for its origin still.
    const bool was_given_time = core.core.steady_now() >= last;
    if (was_given_time && !core.shared.holders.is_unreachable(holder.name)) {
      co_return answered.error();
    }
    core.shared.holders.change([&](tier::Authority& authority) { authority.doubt(holder.name); });
    co_return nullptr;
  }
  const http::ResponseHead& head = exchange->head();
  const bool is_heeded = head.fields.has(http::internal::outcome);
  if (!is_heeded || (head.status == 421 && head.fields.has(http::internal::holder))) {
    count(core, HolderAnswer::refused);
    core.shared.holders.change([&](tier::Authority& authority) { authority.doubt(holder.name); });
    co_return nullptr;
  }
  count(core, HolderAnswer::answered);
  if (auto failure = failure_of_origin(head)) co_return *std::move(failure);
  notes.outcome = outcome_of(head);
  const auto beyond = head.fields.first(http::internal::age_beyond).value_or(std::string_view{});
  notes.age_beyond = std::min(milliseconds_in(beyond, {}), Milliseconds{Seconds{1}});
  co_return std::move(exchange);
}

}  // namespace

Task<Answer> ask_holder_or_origin(CoreState& core, const Settings& settings,
                                  const http::RequestHead& request, const RequestContext& context,
                                  const Asking& asking, Milliseconds time_allowed,
                                  hop::UpstreamRequest outgoing, FillNotes& notes) {
  const auto bucket = context.key.bucket;
  const bool may_ask_origin = !bucket || core.shared.holders.answers_for(*bucket);
  if (!may_ask_origin && context.fills_peer) {
    co_return Error{ErrorKind::refused, ErrorSource::ourselves, Retry::no,
                    "another replica holds the bucket by now"};
  }
  if (!may_ask_origin) {
    const SteadyPoint deadline = core.core.steady_now() + time_allowed;
    const SteadyPoint patience = core.core.steady_now() + limits::holdings_patience;
    http::FieldLines fields;
    write_holder_fields(fields, request, context, settings,
                        {core.identity.via, core.shared.name, time_allowed}, asking);
    hop::UpstreamRequest to_holder = outgoing;
    to_holder.target = &context.target;
    to_holder.host = context.host;
    to_holder.fields = fields.text();
    for (unsigned tried = 0; tried < limits::holders_tried; ++tried) {
      const auto direction = co_await find_holder(core, *bucket, std::min(patience, deadline));
      if (direction.way == Way::origin) break;
      auto answered =
          co_await ask_holder(core, settings, *direction.holder, deadline, to_holder, notes);
      if (!answered || *answered != nullptr) co_return answered;
    }
  }
  co_return co_await ask_origin(core, settings, request, context, asking, time_allowed, outgoing);
}

}  // namespace ringside::cache
