#include "cache/fetch.h"

#include <algorithm>
#include <chrono>

#include "base/limits.h"
#include "cache/detail.h"
#include "cache/messages.h"
#include "cache/origin.h"
#include "cache/selection.h"
#include "cache/transaction.h"
#include "http/vary.h"
#include "net/waiter.h"

namespace ringside::cache {

Fetch::Fetch(CoreState& core, const Settings& settings, const http::RequestHead& request,
             const RequestContext& context, const Store::Found& found, http::Caller* interim_to,
             Purpose purpose)
    : core_(core),
      settings_(settings),
      request_(request),
      context_(context),
      interim_to_(interim_to),
      purpose_(purpose),
      known_(found.response),
      plan_(plan_fetch(context, found.response)),
      variant_(variant_asked(found, request.fields)) {}

FlightTable::Joined Fetch::join() {
  Shared& shared = core_.shared;
  const auto purges_seen = shared.store.purge_count();
  const bool alone = purpose_ == Purpose::answer &&
                     shared.uncacheable.contains(context_.key, core_.core.steady_now());
  if (alone) return shared.flights.lead_alone(context_.key, purges_seen);
  return shared.flights.join(context_.key, flight_name(variant_, plan_, context_.entity_tag),
                             purges_seen);
}

Task<Fetch::From> Fetch::run() {
  const SteadyPoint deadline = core_.core.steady_now() + context_.time_allowed;
  // Who waits for a fill has waited before it was settled who answers it: of slices, once for all.
  if (!context_.fills_peer || purpose_ == Purpose::refresh) {
    static_cast<void>(co_await wait_for_move(core_, settings_, context_, deadline));
  }
  for (unsigned round = 0; round < limits::flight_rounds; ++round) {
    auto joined = join();
    if (!joined.flight) break;
    if (purpose_ == Purpose::refresh && !joined.leads) co_return From::nobody;
    flight_ = std::move(joined.flight);
    reader_ = std::make_unique<Flight::Reader>(flight_, core_.core);
    if (joined.leads) co_return co_await lead();
    if (!reader_->joined()) break;
    if (const auto from = co_await follow(deadline)) co_return *from;
  }
  reader_.reset();
  co_return From::elsewhere;
}

Task<bool> wait_for_move(CoreState& core, const Settings& settings, const RequestContext& context,
                         SteadyPoint deadline) {
  const auto& membership = settings.membership;
  const auto bucket = context.key.bucket;
  if (!bucket || !membership) co_return false;
  const bool is_chosen =
      settings.split_writes == SplitWrites::wait && membership->topology->state().has_shards();
  const SteadyPoint begun = core.core.steady_now();
  const SteadyPoint last = std::min(deadline, begun + limits::split_wait);
  const auto must_wait = [&](SteadyPoint now) {
    if (now >= last || core.core.stopped()) return false;
    BucketSource& source = core.shared.source;
    return is_chosen ? source.is_moving(*bucket, now) : source.is_outpaced(*bucket, now);
  };
  if (!must_wait(begun)) co_return false;
  net::Waiter waiter(core.core);
  SteadyPoint now = begun;
  for (; must_wait(now); now = core.core.steady_now()) {
    co_await waiter.wait(std::min(last, now + limits::deadline_tick));
  }
  core.sheet.count_split_wait(std::chrono::duration_cast<std::chrono::microseconds>(now - begun));
  co_return true;
}

Fetch::From Fetch::adopt(std::unique_ptr<hop::Exchange> exchange, const ExchangeTimes& times) {
  exchange_ = std::move(exchange);
  times_ = times;
  led_ = true;
  origin_status_ = exchange_->head().status;
  auto joined = core_.shared.flights.lead_alone(context_.key, core_.shared.store.purge_count());
  if (!joined.flight) return From::exchange;
  flight_ = std::move(joined.flight);
  reader_ = std::make_unique<Flight::Reader>(flight_, core_.core);
  Leadership leadership(core_.shared.flights, *flight_);
  return carry_out(leadership, decide_new(fetched(), exchange_->head()));
}

Task<Fetch::From> Fetch::lead() {
  Leadership leadership(core_.shared.flights, *flight_);
  if (is_answered_meanwhile()) co_return give_found(leadership);
  led_ = true;
  auto action = co_await ask();
  if (!action) {
    led_ = false;
    co_return give_found(leadership);
  }
  co_return carry_out(leadership, *std::move(action));
}

Fetch::From Fetch::give_found(Leadership& leadership) {
  leadership.complete(response_, Flight::Completion::found);
  return From::store;
}

// Looked at again inside the flight: an earlier one may have ended between our look into the store
// and our joining, and what a purge has taken meanwhile must not come back confirmed.
bool Fetch::is_answered_meanwhile() {
  const auto again = core_.shared.store.find(context_.key, request_.fields);
  plan_ = plan_fetch(context_, again.response);
  if (!again.response) return false;
  if (purpose_ == Purpose::refresh && again.response == known_) return false;
  if (!is_good(*again.response)) return false;
  response_ = again.response;
  return true;
}

Fetched Fetch::fetched() const {
  return {context_,
          request_.fields,
          plan_,
          known_,
          times_,
          core_.identity.via_name,
          core_.shared.store.object_limit_bytes()};
}

// nullopt: it is stored by now.
Task<std::optional<Action>> Fetch::ask() {
  Asking asked_for = asking_of(plan_);
  hop::UpstreamRequest outgoing;
  outgoing.method = context_.method;
  outgoing.interim_to = interim_to_;
  outgoing.interim_is_optional = true;
  times_.requested = core_.core.now();
  // Others may wait for it who have more time than this request.
  const Milliseconds allowed = settings_.request_deadline;
  auto asked = co_await ask_holder(core_, settings_, request_, context_, asked_for, allowed,
                                   outgoing, fill_);
  const bool asks_origin = asked && *asked == nullptr;
  if (asks_origin) {
    // What others were asked for may have moved here meanwhile; if not all of it, a part of it, and
    // the plan is another one.
    if (fill_.was_looked_for && is_answered_meanwhile()) co_return std::nullopt;
    asked_for = asking_of(plan_);
    if (fill_.was_let_down) core_.sheet.count("ringside_holder_fallbacks_total");
    asked = co_await ask_origin(core_, settings_, request_, context_, asked_for, allowed, outgoing);
  }
  times_.received = core_.core.now();
  times_.resident = core_.core.resident_now();
  times_ = earlier(times_, fill_.age_beyond);
  if (!asked) {
    error_ = asked.error();
    co_return decide(fetched(), error_);
  }
  exchange_ = *std::move(asked);
  origin_status_ = exchange_->head().status;
  co_return decide(fetched(), exchange_->head());
}

Fetch::From Fetch::carry_out(Leadership& leadership, Action action) {
  Shared& shared = core_.shared;
  if (action.outdated) shared.store.erase(context_.key, action.outdated);
  if (action.memory == Action::Memory::uncacheable) {
    shared.uncacheable.remember(context_.key, core_.core.steady_now() + limits::uncacheable_ttl,
                                action.storability);
  } else if (action.memory == Action::Memory::cacheable) {
    shared.uncacheable.forget(context_.key);
  }
  if (fill_.is_passing) action.terms.keep = action.answer.is_kept = false;
  storability_ = action.storability;
  own_lines_ = std::move(action.own_lines);
  response_ = std::move(action.response);
  // The slot at the origin is released as soon as nothing more is read from it.
  const bool goes_on = action.kind == Action::Kind::publish || action.kind == Action::Kind::relay;
  if (!goes_on) exchange_.reset();
  switch (action.kind) {
    case Action::Kind::fail:
      leadership.fail(error_);
      return From::failed;
    case Action::Kind::give_stale:
      stale_ = true;
      leadership.complete(response_, action.completion);
      return From::store;
    case Action::Kind::give_confirmed:
      if (!fill_.is_passing) {
        keep_fetched(shared, *flight_, response_, context_.rules().variants_most);
      }
      // What the holder had stored is not as young as what an origin has confirmed.
      if (fill_.outcome == metrics::Outcome::peer_fill) {
        action.completion = Flight::Completion::found;
      }
      leadership.complete(response_, action.completion);
      return From::store;
    case Action::Kind::give_alone:
      leadership.release();
      return From::store;
    case Action::Kind::ask_alone:
      leadership.release();
      return From::elsewhere;
    case Action::Kind::relay:
      leadership.release();
      return From::exchange;
    case Action::Kind::publish:
      break;
  }
  return publish(action);
}

Fetch::From Fetch::publish(Action& action) {
  action.answer.was_stored = fill_.outcome == metrics::Outcome::peer_fill;
  if (!action.terms.keep) core_.shared.flights.leave(*flight_);
  flight_->publish(std::move(action.answer));
  if (action.beginning) {
    for (const PiecePointer& piece : action.beginning->body->pieces) flight_->append(piece);
  }
  core_.core.spawn(fill(core_, flight_, std::move(exchange_), action.terms));
  return From::flight;
}

// nullopt: the flight was for another variant; variant_ is then ours, for the next round.
Task<std::optional<Fetch::From>> Fetch::follow(SteadyPoint deadline) {
  if (!co_await reader_->wait_for_head(deadline)) {
    Error late{ErrorKind::timeout, ErrorSource::origin, Retry::no,
               "the shared fetch had no answer before the deadline"};
    co_return follow_failure(std::move(late));
  }
  const Flight::Answer answer = flight_->answer();
  if (answer.head == nullptr) {
    if (flight_->state() == Flight::State::released) co_return From::elsewhere;
    co_return follow_failure(flight_->error());
  }
  if (http::variant_key(answer.head->vary(), request_.fields) != answer.head->variant()) {
    variant_ = http::variant_key(answer.head->vary(), request_.fields);
    co_return std::nullopt;
  }
  if (answer.was_stored && !is_fresh(*answer.head)) co_return From::elsewhere;
  response_ = flight_->complete_response();
  if (response_) co_return follow_completed();
  // A part is for those who asked for that part; its leader may have found another plan.
  if (answer.extent) {
    const std::uint64_t first = answer.extent->first_byte;
    const http::ByteSpan part{first, first + *answer.length_bytes - 1};
    if (!wants_just(context_, part, answer.extent->complete_length_bytes)) {
      co_return From::elsewhere;
    }
  }
  co_return From::flight;
}

std::optional<Fetch::From> Fetch::follow_completed() {
  const Flight::Completion completion = flight_->completion();
  if (completion == Flight::Completion::found && !is_good(*response_)) return std::nullopt;
  stale_ =
      completion == Flight::Completion::unreachable || completion == Flight::Completion::failed;
  const TimePoint now = core_.core.resident_now();
  const bool taken = stale_ ? takes_stale(response_, context_, request_.fields, completion, now)
                            : is_enough(*response_, context_, request_.fields, now);
  return taken ? From::store : From::elsewhere;
}

// The leader may have been one that takes nothing stale.
Fetch::From Fetch::follow_failure(Error error) {
  error_ = std::move(error);
  stale_ = takes_stale(known_, context_, request_.fields, Flight::Completion::unreachable,
                       core_.core.resident_now());
  if (!stale_) return From::failed;
  response_ = known_;
  return From::store;
}

// Fresh for this request, and enough of it; a slice is good for as long as it is of the entity.
bool Fetch::is_good(const StoredResponse& stored) const {
  return is_fresh(*stored.head) &&
         is_enough(stored, context_, request_.fields, core_.core.resident_now());
}

bool Fetch::is_fresh(const StoredHead& head) const {
  if (!context_.entity_tag.empty()) {
    return head.fields().first("etag") == std::string_view(context_.entity_tag);
  }
  const TimePoint now = core_.core.resident_now();
  return judge(&head.freshness(), context_.directives, now) == Verdict::fresh;
}

void note_fetch(Transaction& transaction, const Fetch& fetch) {
  transaction.status.collapsed = !fetch.led();
  transaction.status.forward_status = fetch.origin_status();
  if (fetch.holders() == metrics::Outcome::peer_fill) transaction.status.detail = detail::peer_fill;
  transaction.own_lines = fetch.own_lines();
  transaction.is_what_is_stored =
      fetch.own_lines().empty() && fetch.storability() == Storability::storable;
}

}  // namespace ringside::cache
