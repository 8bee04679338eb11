#include "cache/forwarded_answer.h"

#include "base/limits.h"
#include "cache/conditional.h"
#include "cache/flight_answer.h"
#include "cache/invalidation.h"
#include "cache/origin.h"
#include "cache/parts.h"
#include "cache/selection.h"
#include "cache/serving.h"
#include "cache/shared_fetch.h"
#include "cache/stored_answer.h"
#include "cache/update.h"
#include "http1/head_text.h"
#include "http1/kept_request.h"
#include "http1/relay.h"
#include "http1/tunnel.h"
#include "http1/turn.h"

namespace ringside::cache {
namespace {

// The connection becomes WebSocket's (RFC 9110 §7.8) and ends with it.
Task<void> carry_tunnel(RequestState& state, http::Exchange& exchange) {
  state.outcome = metrics::Outcome::bypass;
  state.keep_alive = false;
  CoreState& core = state.core;
  begin_forwarded_head(state.head, exchange.head(), state.rules(), core.core.now(),
                       core.shared.identity.name);
  http::append_upgrade(state.head);
  state.head.append("\r\n");
  if (!co_await state.write_head()) co_return;
  constexpr Milliseconds idle = limits::tunnel_idle_timeout;
  state.body_bytes = (co_await http::tunnel(state.client, exchange.connection(), idle)).down;
}

void heed_head(RequestState& state, const http::ResponseHead& response,
               const ExchangeTimes& times) {
  const StoredPointer& stored = state.found.response;
  if (!stored) return;
  Store& store = state.core.shared.store;
  const GetResponse known{stored->head->status(), stored->head->fields(),
                          complete_length_bytes(*stored)};
  switch (head_finding(known, response.status, response.fields)) {
    case HeadFinding::updates: {
      auto update =
          update_of(*stored->head, response.fields, state.request.fields, times, state.inquiry);
      if (update.storability == Storability::authorization) break;
      // For which requests it is the answer is known of those that it varied on.
      const bool same_vary = update.head->vary() == stored->head->vary();
      if (update.storability != Storability::storable || !same_vary) {
        store.erase(state.inquiry.key);
        break;
      }
      store.replace(state.inquiry.key, stored,
                    std::make_shared<StoredResponse>(
                        StoredResponse{std::move(update.head), stored->body, stored->extent}));
      break;
    }
    case HeadFinding::invalidates:
      store.erase(state.inquiry.key);
      break;
    case HeadFinding::nothing:
      break;
  }
}

// What is stored, where no origin answered, or with an error. Null: nothing that may be given.
StoredPointer stale_instead(const RequestState& state, bool answered, int status) {
  const StoredPointer& stored = state.found.response;
  const TimePoint now = state.core.core.now();
  const Inquiry& inquiry = state.inquiry;
  if (!stored || !is_enough(*stored, inquiry, state.request.fields, now)) return nullptr;
  const Freshness& freshness = stored->head->freshness();
  const bool allowed = answered ? is_error_of_rfc5861(status) &&
                                      may_be_given_on_error(freshness, inquiry.directives, now)
                                : may_be_given_unreachable(freshness, inquiry.directives, now);
  return allowed ? stored : nullptr;
}

// RFC 9110 §9.3.3: an answer to POST that says by Content-Location that it is what a GET would get.
bool may_be_what_get_gets(const http::ResponseHead& response) {
  return response.status == 200 && response.fields.has("content-location");
}

Task<void> answer_and_store(RequestState& state, const http::RequestHead& request,
                            std::unique_ptr<http::Exchange> exchange, const ExchangeTimes& times) {
  const Store::Found nothing;
  SharedFetch fetch(state.core, *state.settings, request, state.inquiry, nothing, nullptr);
  const auto way = fetch.adopt(std::move(exchange), times);
  if (way == SharedFetch::Way::stream) {
    state.status.stored = true;
    co_await answer_from_flight(state, fetch);
  } else {
    co_await answer_from_exchange(state, fetch.exchange());
  }
}

}  // namespace

Task<void> pass_on(RequestState& state) {
  CoreState& core = state.core;
  const Inquiry& inquiry = state.inquiry;
  auto outgoing = http::passed_on(state.request, inquiry.hop, inquiry.method, state.client);
  const Asking as_it_is;
  write_origin_head(state.head, state.request, inquiry, *state.settings, core.shared.identity.via,
                    as_it_is);
  outgoing.head = state.head;
  // What the request says is gone once its body is read.
  std::unique_ptr<http::KeptRequest> kept;
  if (inquiry.method == "POST" && inquiry.may_keep_answer) {
    kept = std::make_unique<http::KeptRequest>(state.request);
  }
  auto asked = std::make_unique<http::Exchange>(core.core, core.origins);
  http::Exchange& exchange = *asked;
  ExchangeTimes times{core.core.now(), {}};
  const auto answered =
      co_await ask_origin(core, *state.settings, inquiry, inquiry.time_allowed, exchange, outgoing);
  times.received = core.core.now();
  state.status.collapsed = false;
  state.status.forward_status = answered ? exchange.head().status : 0;
  if (auto stale = stale_instead(state, answered.has_value(), state.status.forward_status)) {
    state.outcome = metrics::Outcome::stale;
    co_await answer_stored(state, std::move(stale));
    co_return;
  }
  if (!answered) {
    co_await state.refuse(answered.error());
    co_return;
  }
  const http::ResponseHead& response = exchange.head();
  if (response.status == 101) {
    co_await carry_tunnel(state, exchange);
    co_return;
  }
  // A miss where the store had been asked: only what it has no say in stays out of the hit rate.
  state.outcome = inquiry.may_fill_store ? metrics::Outcome::miss : metrics::Outcome::bypass;
  invalidate_after(core.shared, *state.settings, inquiry, response);
  // RFC 9111 §5.2.1.5: of an answer to no-store nothing is kept, be it an update.
  if (inquiry.method == "HEAD" && inquiry.may_keep_answer) heed_head(state, response, times);
  if (kept && may_be_what_get_gets(response)) {
    co_await answer_and_store(state, kept->head(), std::move(asked), times);
    co_return;
  }
  co_await answer_from_exchange(state, exchange);
}

Task<void> answer_from_exchange(RequestState& state, http::Exchange& exchange) {
  CoreState& core = state.core;
  AnswerNotes notes = state.notes();
  const auto delivery = http::choose_delivery(state.request.minor_version,
                                              http::length_is_known(exchange.head().framing),
                                              notes.keep_alive && state.client.body_done());
  notes.coding = delivery.coding;
  notes.keep_alive = state.keep_alive = delivery.keep_alive;
  begin_forwarded_head(state.head, exchange.head(), state.rules(), core.core.now(),
                       core.shared.identity.name);
  end_head(state.head, notes);
  state.record.status = exchange.head().status;
  std::string_view head = state.head;
  const http::RelayLimits relay_limits{limits::upstream_io_timeout, limits::client_io_timeout};
  const auto relayed =
      co_await http::relay(exchange.connection(), state.client, head, notes.coding, relay_limits);
  if (relayed) {
    state.body_bytes = *relayed;
    exchange.finish();
    co_return;
  }
  core.sheet.count_error(relayed.error());
  if (!head.empty() && relayed.error().source != ErrorSource::client) {
    co_await state.refuse(relayed.error());
    co_return;
  }
  state.cut_off();
}

}  // namespace ringside::cache
