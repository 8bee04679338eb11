#include "cache/shared_fetch.h"

#include "base/limits.h"
#include "cache/fill.h"
#include "cache/messages.h"
#include "cache/origin.h"
#include "cache/vary.h"
#include "http/spawn.h"

namespace ringside::cache {
namespace {

// Whoever leads and ends without a word must not strand those who wait.
class Leadership {
 public:
  Leadership(FlightTable& flights, Flight& flight) noexcept : flights_(flights), flight_(flight) {}
  ~Leadership() {
    if (flight_.state() == Flight::State::asking) {
      fail({ErrorKind::internal, ErrorSource::ourselves, Retry::no,
            "the shared fetch was given up"});
    }
  }
  Leadership(const Leadership&) = delete;
  Leadership& operator=(const Leadership&) = delete;

  void complete(StoredPointer response) {
    flights_.leave(flight_);
    flight_.complete(std::move(response));
  }
  void release() {
    flights_.leave(flight_);
    flight_.release();
  }
  void fail(const Error& error) {
    flights_.leave(flight_);
    flight_.fail(error);
  }

 private:
  FlightTable& flights_;
  Flight& flight_;
};

bool is_strong(std::string_view tag) noexcept { return !tag.starts_with("W/"); }

// A 304 with a strong validator that is not the stored response's must not update it (RFC 9111
// §4.3.4), nor can what it confirms be given: we don't have it.
bool confirms_another(const StoredHead& stored, const http::ResponseHead& response) noexcept {
  const auto theirs = response.fields.first("etag");
  const auto ours = stored.fields().first("etag");
  return theirs && is_strong(*theirs) && ours && *ours != *theirs;
}

}  // namespace

SharedFetch::SharedFetch(CoreState& state, const Settings& settings,
                         const http::RequestHead& request, const Inquiry& inquiry,
                         const Store::Found& found, http::Connection* interim_to)
    : state_(state),
      settings_(settings),
      request_(request),
      inquiry_(inquiry),
      interim_to_(interim_to),
      validated_(found.response),
      variant_(found.vary.empty() ? std::string{} : variant_key(found.vary, request.fields)) {}

bool SharedFetch::fits(const StoredHead& head) const {
  return variant_key(head.vary(), request_.fields) == head.variant();
}

http::Task<SharedFetch::Way> SharedFetch::run(std::string& head) {
  const SteadyPoint deadline = state_.core.steady_now() + inquiry_.time_allowed;
  for (unsigned round = 0; round < limits::flight_rounds; ++round) {
    const auto purges_seen = state_.shared.store.purge_count();
    auto joined = state_.shared.flights.join(inquiry_.key, variant_, purges_seen);
    if (!joined.flight) break;
    flight_ = std::move(joined.flight);
    reader_.emplace(flight_, state_.core);
    if (joined.leads) co_return co_await lead(head);
    if (!reader_->joined()) break;
    if (const auto way = co_await follow(deadline)) co_return *way;
  }
  reader_.reset();
  co_return Way::alone;
}

// nullopt: the flight was for another variant; variant_ is then ours, for the next round.
http::Task<std::optional<SharedFetch::Way>> SharedFetch::follow(SteadyPoint deadline) {
  if (!co_await reader_->wait_for_head(deadline)) {
    error_ = {ErrorKind::timeout, ErrorSource::origin, Retry::no,
              "the shared fetch had no answer before the deadline"};
    co_return Way::failed;
  }
  const auto flight_head = flight_->head();
  if (flight_head == nullptr) {
    if (flight_->state() == Flight::State::released) co_return Way::alone;
    error_ = flight_->error();
    co_return Way::failed;
  }
  if (!fits(*flight_head)) {
    variant_ = variant_key(flight_head->vary(), request_.fields);
    co_return std::nullopt;
  }
  response_ = flight_->complete_response();
  co_return response_ ? Way::stored : Way::stream;
}

http::Task<SharedFetch::Way> SharedFetch::lead(std::string& head) {
  Leadership leadership(state_.shared.flights, *flight_);
  // Asked again inside the flight: an earlier one may have ended between our look into the store
  // and our joining.
  const auto again = state_.shared.store.find(inquiry_.key, request_.fields);
  if (again.response) {
    const auto& freshness = again.response->head->freshness();
    if (judge(&freshness, inquiry_.directives, state_.core.now()) == Verdict::fresh) {
      leadership.complete(response_ = again.response);
      co_return Way::stored;
    }
  }
  // What a purge has taken meanwhile must not come back confirmed.
  validated_ = again.response;

  led_ = true;
  write_origin_head(head, request_, inquiry_, settings_, state_.shared.via, Asking::whole,
                    validated_ ? validated_->head.get() : nullptr);
  http::OutgoingRequest outgoing;
  outgoing.method = inquiry_.method;
  outgoing.interim_to = interim_to_;
  outgoing.head = head;
  exchange_ = std::make_unique<http::Exchange>(state_.core, state_.origins);
  ExchangeTimes times{state_.core.now(), {}};
  // Others may wait for it who have more time than this request.
  const auto answered = co_await ask_origin(state_, settings_, inquiry_, settings_.request_deadline,
                                            *exchange_, outgoing);
  times.received = state_.core.now();
  if (!answered) {
    error_ = answered.error();
    leadership.fail(error_);
    co_return Way::failed;
  }
  const http::ResponseHead& response = exchange_->head();
  origin_status_ = response.status;
  Way way = Way::relay;
  if (response.status == 304 && validated_ && confirms_another(*validated_->head, response)) {
    exchange_->finish();
    state_.shared.store.erase(inquiry_.key);
    leadership.release();
    way = Way::alone;
  } else if (response.status == 304 && validated_) {
    way = take_confirmed(response, times);
    leadership.complete(response_);
  } else {
    way = take_answer(response, times);
    if (way == Way::relay) leadership.release();
  }
  co_return way;
}

// RFC 9111 §4.3.4: the stored response gets the 304's fields and a new life.
SharedFetch::Way SharedFetch::take_confirmed(const http::ResponseHead& response,
                                             const ExchangeTimes& times) {
  auto head = StoredHead::updated(*validated_->head, response.fields, times);
  auto confirmed =
      std::make_shared<StoredResponse>(StoredResponse{std::move(head), validated_->body});
  keep_fetched(state_.shared, *flight_, confirmed);
  exchange_->finish();
  response_ = std::move(confirmed);
  return Way::stored;
}

SharedFetch::Way SharedFetch::take_answer(const http::ResponseHead& response,
                                          const ExchangeTimes& times) {
  const auto directives = http::parse_response_directives(response.fields);
  const auto freshness = freshness_of(response.fields, directives, times);
  storability_ = cache::storability({inquiry_.method, inquiry_.directives,
                                     request_.fields.has("authorization"), response.status,
                                     response.fields, directives, freshness});
  using Kind = http::Framing::Kind;
  std::optional<std::uint64_t> length_bytes;
  if (response.framing.kind == Kind::length) length_bytes = response.framing.length_bytes;
  if (response.framing.kind == Kind::none) length_bytes = 0;
  const bool too_large = length_bytes && *length_bytes > state_.shared.store.object_limit_bytes();
  if (storability_ != Storability::storable || too_large) {
    // What was stored before is not what the origin says now.
    if (validated_ && response.status < 500) state_.shared.store.erase(inquiry_.key);
    return Way::relay;
  }
  auto vary = vary_names(response.fields);
  auto variant = variant_key(vary, request_.fields);
  flight_->publish(std::make_shared<const StoredHead>(response, freshness, state_.shared.name,
                                                      std::move(vary), std::move(variant)),
                   length_bytes);
  http::spawn(state_.core.context(), fill(state_, flight_, std::move(exchange_)));
  return Way::stream;
}

}  // namespace ringside::cache
