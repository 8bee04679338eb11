#include "cache/shared_fetch.h"

#include "base/limits.h"
#include "cache/conditional.h"
#include "cache/fill.h"
#include "cache/messages.h"
#include "cache/origin.h"
#include "cache/selection.h"
#include "cache/serving.h"
#include "cache/update.h"
#include "cache/vary.h"
#include "http/invalidation.h"
#include "http1/head_text.h"

namespace ringside::cache {
namespace {

// Whether an answer that is not stored says something of the resource, so that what was stored is
// outdated and the next requests for the key should not wait for each other. A 4xx is most often
// about who asked or how (400, 401, 403, 416, 429, …), and a 5xx about the origin's state.
bool is_about_resource(std::string_view method, Storability storability, int status) noexcept {
  if (method != "GET" || storability == Storability::authorization) return false;
  return status < 400 || status == 404 || status == 405 || status == 410 || status == 414;
}

std::optional<std::uint64_t> body_length(const http::Framing& framing) noexcept {
  if (framing.kind == http::Framing::Kind::length) return framing.length_bytes;
  if (framing.kind == http::Framing::Kind::none) return 0;
  return std::nullopt;
}

// The part that a 206 has, where all that it says of it fits together (RFC 9110 §15.3.7.1, §14.4).
std::optional<http::ContentRange> told_part(const http::ResponseHead& response) {
  if (response.fields.count("content-range") != 1) return std::nullopt;
  const auto told = http::parse_content_range(*response.fields.first("content-range"));
  if (!told || !told->span || !told->complete_length) return std::nullopt;
  const auto length = body_length(response.framing);
  if (length && *length != told->span->size()) return std::nullopt;
  // Several parts, each with a range of its own (§15.3.7.2).
  constexpr std::string_view several = "multipart/byteranges";
  const auto type = response.fields.first("content-type").value_or(std::string_view{});
  if (http::same_token(type.substr(0, several.size()), several)) return std::nullopt;
  return told;
}

}  // namespace

SharedFetch::SharedFetch(CoreState& state, const Settings& settings,
                         const http::RequestHead& request, const Inquiry& inquiry,
                         const Store::Found& found, http::Connection* interim_to, Purpose purpose)
    : state_(state),
      settings_(settings),
      request_(request),
      inquiry_(inquiry),
      interim_to_(interim_to),
      purpose_(purpose),
      known_(found.response),
      plan_(plan_fetch(inquiry, found.response)),
      variant_(found.vary.empty() ? std::string{} : variant_key(found.vary, request.fields)) {}

bool SharedFetch::fits(const StoredHead& head) const {
  return variant_key(head.vary(), request_.fields) == head.variant();
}

// Of a whole of that length the request wants this part and nothing else.
bool SharedFetch::wants_just(const http::ByteSpan& part, std::uint64_t length_bytes) const {
  if (!inquiry_.ranges) return false;
  const auto wanted = http::resolve(*inquiry_.ranges, length_bytes);
  return wanted.size() == 1 && wanted.front() == part;
}

FlightTable::Joined SharedFetch::join() {
  Shared& shared = state_.shared;
  const auto purges_seen = shared.store.purge_count();
  const bool alone = purpose_ == Purpose::answer &&
                     shared.uncacheable.contains(inquiry_.key, state_.core.steady_now());
  if (alone) {
    return shared.flights.lead_alone(inquiry_.key, purges_seen);
  }
  // What brings the whole serves all; what brings a part serves those who want that part. Who wants
  // one entity and no other takes no part in what brings the present one.
  std::string name = variant_;
  const bool brings_part = !plan_.range.empty() && !plan_.completed;
  if (brings_part) name.append("\n").append(plan_.range);
  if (!inquiry_.entity_tag.empty()) name.append("\n").append(inquiry_.entity_tag);
  return shared.flights.join(inquiry_.key, name, purges_seen);
}

Task<SharedFetch::Way> SharedFetch::run(std::string& head) {
  const SteadyPoint deadline = state_.core.steady_now() + inquiry_.time_allowed;
  for (unsigned round = 0; round < limits::flight_rounds; ++round) {
    auto joined = join();
    if (!joined.flight) break;
    if (purpose_ == Purpose::refresh && !joined.leads) co_return Way::nobody;
    flight_ = std::move(joined.flight);
    reader_.emplace(flight_, state_.core);
    if (joined.leads) co_return co_await lead(head);
    if (!reader_->joined()) break;
    if (const auto way = co_await follow(deadline)) co_return *way;
  }
  reader_.reset();
  co_return Way::alone;
}

SharedFetch::Way SharedFetch::adopt(std::unique_ptr<http::Exchange> exchange,
                                    const ExchangeTimes& times) {
  exchange_ = std::move(exchange);
  times_ = times;
  led_ = true;
  origin_status_ = exchange_->head().status;
  auto joined = state_.shared.flights.lead_alone(inquiry_.key, state_.shared.store.purge_count());
  if (!joined.flight) return Way::relay;
  flight_ = std::move(joined.flight);
  reader_.emplace(flight_, state_.core);
  Leadership leadership(state_.shared.flights, *flight_);
  return take_answer(leadership, exchange_->head());
}

// nullopt: the flight was for another variant; variant_ is then ours, for the next round.
Task<std::optional<SharedFetch::Way>> SharedFetch::follow(SteadyPoint deadline) {
  if (!co_await reader_->wait_for_head(deadline)) {
    Error late{ErrorKind::timeout, ErrorSource::origin, Retry::no,
               "the shared fetch had no answer before the deadline"};
    co_return follow_failure(std::move(late));
  }
  const Flight::Answer answer = flight_->answer();
  if (answer.head == nullptr) {
    if (flight_->state() == Flight::State::released) co_return Way::alone;
    co_return follow_failure(flight_->error());
  }
  if (!fits(*answer.head)) {
    variant_ = variant_key(answer.head->vary(), request_.fields);
    co_return std::nullopt;
  }
  response_ = flight_->complete_response();
  if (response_) {
    const Flight::Completion completion = flight_->completion();
    if (completion == Flight::Completion::found && !is_good(*response_)) co_return std::nullopt;
    stale_ =
        completion == Flight::Completion::unreachable || completion == Flight::Completion::failed;
    const bool taken = stale_ ? takes_stale(response_, completion)
                              : is_enough(*response_, inquiry_, request_.fields, state_.core.now());
    co_return taken ? Way::stored : Way::alone;
  }
  // A part is for those who asked for that part; its leader may have found another plan.
  if (answer.extent) {
    const std::uint64_t first = answer.extent->first_byte;
    const http::ByteSpan part{first, first + *answer.length_bytes - 1};
    if (!wants_just(part, answer.extent->complete_length_bytes)) co_return Way::alone;
  }
  co_return Way::stream;
}

// The leader may have been one that takes nothing stale.
SharedFetch::Way SharedFetch::follow_failure(Error error) {
  error_ = std::move(error);
  stale_ = takes_stale(known_, Flight::Completion::unreachable);
  if (!stale_) return Way::failed;
  response_ = known_;
  return Way::stored;
}

// RFC 9111 §4.2.4: what is stale is better than nothing, unless something forbids it.
bool SharedFetch::takes_stale(const StoredPointer& stored, Flight::Completion why) const {
  const TimePoint now = state_.core.now();
  if (!stored || !is_enough(*stored, inquiry_, request_.fields, now)) return false;
  const Freshness& freshness = stored->head->freshness();
  return why == Flight::Completion::failed
             ? may_be_given_on_error(freshness, inquiry_.directives, now)
             : may_be_given_unreachable(freshness, inquiry_.directives, now);
}

// Fresh for this request, and enough of it; a slice is good for as long as it is of the entity.
bool SharedFetch::is_good(const StoredResponse& stored) const {
  const TimePoint now = state_.core.now();
  const StoredHead& head = *stored.head;
  const bool is_fresh = inquiry_.entity_tag.empty()
                            ? judge(&head.freshness(), inquiry_.directives, now) == Verdict::fresh
                            : head.fields().first("etag") == std::string_view(inquiry_.entity_tag);
  return is_fresh && is_enough(stored, inquiry_, request_.fields, now);
}

// Looked at again inside the flight: an earlier one may have ended between our look into the store
// and our joining, and what a purge has taken meanwhile must not come back confirmed.
bool SharedFetch::is_answered_meanwhile() {
  const auto again = state_.shared.store.find(inquiry_.key, request_.fields);
  plan_ = plan_fetch(inquiry_, again.response);
  if (!again.response) return false;
  if (purpose_ == Purpose::refresh && again.response == known_) return false;
  if (!is_good(*again.response)) return false;
  response_ = again.response;
  return true;
}

// Conditions are about what a 200 would have (RFC 9110 §13.2.1): a stored 404 can't be confirmed.
bool SharedFetch::validates() const noexcept {
  return plan_.validated && plan_.validated->head->status() / 100 == 2;
}

Task<Result<void>> SharedFetch::ask(std::string& head) {
  Asking asking;
  asking.fills = true;
  if (validates()) asking.validated = plan_.validated->head.get();
  asking.range = plan_.range;
  if (plan_.completed) asking.same_as = plan_.completed->head.get();
  write_origin_head(head, request_, inquiry_, settings_, state_.shared.identity.via, asking);
  http::OutgoingRequest outgoing;
  outgoing.method = inquiry_.method;
  outgoing.interim_to = interim_to_;
  outgoing.interim_is_optional = true;
  outgoing.head = head;
  exchange_ = std::make_unique<http::Exchange>(state_.core, state_.origins);
  times_.requested = state_.core.now();
  // Others may wait for it who have more time than this request.
  auto answered = co_await ask_origin(state_, settings_, inquiry_, settings_.request_deadline,
                                      *exchange_, outgoing);
  times_.received = state_.core.now();
  co_return answered;
}

Task<SharedFetch::Way> SharedFetch::lead(std::string& head) {
  Leadership leadership(state_.shared.flights, *flight_);
  if (is_answered_meanwhile()) {
    leadership.complete(response_, Flight::Completion::found);
    co_return Way::stored;
  }
  led_ = true;
  const auto asked = co_await ask(head);
  if (!asked) co_return take_failure(leadership, asked.error());
  origin_status_ = exchange_->head().status;
  co_return take(leadership, exchange_->head());
}

SharedFetch::Way SharedFetch::take_failure(Leadership& leadership, const Error& error) {
  error_ = error;
  if (takes_stale(plan_.validated, Flight::Completion::unreachable)) {
    return take_stale(leadership, Flight::Completion::unreachable);
  }
  leadership.fail(error_);
  return Way::failed;
}

SharedFetch::Way SharedFetch::take_stale(Leadership& leadership, Flight::Completion why) {
  response_ = plan_.validated;
  stale_ = true;
  leadership.complete(response_, why);
  return Way::stored;
}

SharedFetch::Way SharedFetch::take(Leadership& leadership, const http::ResponseHead& response) {
  if (response.status == 304 && validates()) return take_confirmed(leadership, response);
  if (is_error_of_rfc5861(response.status) &&
      takes_stale(plan_.validated, Flight::Completion::failed)) {
    return take_stale(leadership, Flight::Completion::failed);
  }
  // 416: it has become shorter than what is stored, and the origin does not heed If-Range.
  const bool is_of_range = response.status == 206 || response.status == 416;
  if (is_of_range && plan_.completed) return take_rest(leadership, response);
  return take_answer(leadership, response);
}

// RFC 9111 §4.3.4: the stored response gets the 304's fields and a new life.
SharedFetch::Way SharedFetch::take_confirmed(Leadership& leadership,
                                             const http::ResponseHead& response) {
  exchange_->finish();
  const StoredHead& stored = *plan_.validated->head;
  if (!confirms(stored.fields(), response.fields, times_.received)) {
    state_.shared.store.erase(inquiry_.key, plan_.validated);
    leadership.release();
    return Way::alone;
  }
  auto update = update_of(stored, response.fields, request_.fields, times_, inquiry_);
  response_ = std::make_shared<StoredResponse>(
      StoredResponse{std::move(update.head), plan_.validated->body, plan_.validated->extent});
  const auto directives = effective_directives(response_->head->fields(), inquiry_.rules());
  own_lines_ = lines_not_stored(response.fields, fields_not_stored(directives, inquiry_.rules()),
                                inquiry_.rules());
  storability_ = update.storability;
  if (storability_ != Storability::storable) {
    // This request gets it, others ask for themselves; and where it is not for this request's
    // sake, it was stored and may be no longer.
    if (storability_ != Storability::authorization) {
      state_.shared.store.erase(inquiry_.key, plan_.validated);
    }
    leadership.release();
    return Way::stored;
  }
  keep_fetched(state_.shared, *flight_, response_, inquiry_.rules().variants_most);
  leadership.complete(response_, Flight::Completion::confirmed);
  return Way::stored;
}

// The rest of what is stored in part: both together are the whole.
SharedFetch::Way SharedFetch::take_rest(Leadership& leadership,
                                        const http::ResponseHead& response) {
  const StoredResponse& stored = *plan_.completed;
  const auto part = told_part(response);
  const bool fits_on = response.status == 206 && part &&
                       part->span->first == stored.body->size_bytes &&
                       part->span->last + 1 == *part->complete_length &&
                       *part->complete_length == stored.extent->complete_length_bytes &&
                       same_strong_validator(stored.head->fields(), response.fields);
  Flight::Answer answer;
  if (fits_on) {
    auto update = update_of(*stored.head, response.fields, request_.fields, times_, inquiry_);
    answer.head = std::move(update.head);
    answer.length_bytes = part->complete_length;
    storability_ = update.storability;
  }
  if (!fits_on || storability_ != Storability::storable) {
    if (storability_ != Storability::authorization) {
      state_.shared.store.erase(inquiry_.key, plan_.completed);
    }
    leadership.release();
    exchange_.reset();  // its place at the origin is for the request that asks for the whole
    return Way::alone;
  }
  FillTerms terms;
  terms.keep = *answer.length_bytes <= state_.shared.store.object_limit_bytes();
  if (!terms.keep) state_.shared.flights.leave(*flight_);
  answer.is_kept = terms.keep;
  flight_->publish(std::move(answer));
  for (const PiecePointer& piece : stored.body->pieces) flight_->append(piece);
  terms.expected_bytes = part->span->size();
  terms.variants_most = inquiry_.rules().variants_most;
  state_.core.spawn(fill(state_, flight_, std::move(exchange_), terms));
  return Way::stream;
}

Storability SharedFetch::judge_storability(const http::ResponseHead& response,
                                           const http::ResponseDirectives& directives,
                                           const Freshness& freshness) const {
  StorabilityInput input{inquiry_.method, inquiry_.directives, inquiry_.authorized,
                         response.status, response.fields,     directives,
                         freshness,       inquiry_.rules()};
  const auto location = response.fields.first("content-location");
  if (inquiry_.method == "POST" && location) {
    input.content_location_is_target =
        http::target_of_reference(*location, inquiry_.host, inquiry_.target) ==
        inquiry_.target.text();
  }
  if (response.status == 206 && inquiry_.ranges && !plan_.range.empty()) {
    const auto part = told_part(response);
    // Only what was asked for is what it says it is.
    input.is_understood_part = part && wants_just(*part->span, *part->complete_length);
  }
  if (!inquiry_.entity_tag.empty() && response.fields.first("etag") != inquiry_.entity_tag) {
    return Storability::status;  // of another entity: it can't stand under the key of this one
  }
  if (response.status == 416) return Storability::status;  // about the range, not the resource
  return cache::storability(input);
}

SharedFetch::Way SharedFetch::take_answer(Leadership& leadership,
                                          const http::ResponseHead& response) {
  Shared& shared = state_.shared;
  const Rules& rules = inquiry_.rules();
  const auto directives = effective_directives(response.fields, rules);
  const auto freshness = freshness_of(
      {response.status == 206 ? 200 : response.status, response.fields, directives, times_, rules});
  storability_ = judge_storability(response, directives, freshness);
  if (storability_ != Storability::storable) {
    // That one entity is gone says nothing against storing the next.
    const bool is_of_any = inquiry_.entity_tag.empty();
    if (is_of_any && is_about_resource(inquiry_.method, storability_, response.status)) {
      if (known_) shared.store.erase(inquiry_.key, known_);
      shared.uncacheable.remember(inquiry_.key, state_.core.steady_now() + limits::uncacheable_ttl);
    }
    leadership.release();
    return Way::relay;
  }
  shared.uncacheable.forget(inquiry_.key);
  const auto withheld = fields_not_stored(directives, rules);
  own_lines_ = lines_not_stored(response.fields, withheld, rules);
  auto vary = vary_names(response.fields);
  auto variant = variant_key(vary, request_.fields);
  Flight::Answer answer;
  answer.length_bytes = body_length(response.framing);
  FillTerms terms;
  terms.variants_most = rules.variants_most;
  if (response.status == 206) {
    const auto part = told_part(response);
    answer.extent = Extent{part->span->first, *part->complete_length};
    answer.length_bytes = terms.expected_bytes = part->span->size();
  }
  answer.head = std::make_shared<const StoredHead>(
      response, StoredHead::Making{freshness, shared.identity.name, std::move(vary),
                                   std::move(variant), withheld});
  terms.keep = !answer.length_bytes || *answer.length_bytes <= shared.store.object_limit_bytes();
  // What is too large to be stored is still one fetch for those who wait for it now.
  if (!terms.keep) shared.flights.leave(*flight_);
  answer.is_kept = terms.keep;
  flight_->publish(std::move(answer));
  state_.core.spawn(fill(state_, flight_, std::move(exchange_), terms));
  return Way::stream;
}

}  // namespace ringside::cache
