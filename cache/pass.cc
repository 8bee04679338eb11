#include "cache/pass.h"

#include <optional>

#include "cache/decision.h"
#include "cache/detail.h"
#include "cache/fetch.h"
#include "cache/flight_body.h"
#include "cache/holder.h"
#include "cache/invalidation.h"
#include "cache/origin.h"
#include "cache/parts.h"
#include "cache/purge_relay.h"
#include "cache/representation.h"
#include "cache/update.h"
#include "http/conditional.h"
#include "http/kept_request.h"

namespace ringside::cache {
namespace {

// The connection becomes WebSocket's (RFC 9110 §7.8) and ends with it.
void give_tunnel(Transaction& transaction, std::unique_ptr<hop::Exchange> exchange,
                 http::Response& response) {
  transaction.outcome = metrics::Outcome::bypass;
  begin_forwarded(response, exchange->head(), transaction.response_rules(), transaction.now(),
                  transaction.core.identity.via_name);
  const std::shared_ptr<hop::Exchange> owner = std::move(exchange);
  response.tunnel = {owner, &owner->stream()};
}

void heed_head(const Transaction& transaction, const http::ResponseHead& response,
               const ExchangeTimes& times) {
  const StoredPointer& stored = transaction.found.response;
  if (!stored) return;
  const RequestContext& context = transaction.context;
  Store& store = transaction.core.shared.store;
  const http::GetResponse known{stored->head->status(), stored->head->fields(),
                                complete_length_bytes(*stored)};
  switch (http::head_finding(known, response.status, response.fields)) {
    case http::HeadFinding::updates: {
      auto update =
          update_of(*stored->head, response.fields, transaction.request->fields, times, context);
      if (update.storability == Storability::authorization) break;
      // For which requests it is the answer is known of those that it varied on.
      const bool same_vary = update.head->vary() == stored->head->vary();
      if (update.storability != Storability::storable || !same_vary) {
        store.erase(context.key);
        break;
      }
      store.replace(context.key, stored,
                    make_stored({std::move(update.head), stored->body, stored->extent}));
      break;
    }
    case http::HeadFinding::invalidates:
      store.erase(context.key);
      break;
    case http::HeadFinding::nothing:
      break;
  }
}

// What is stored may be given, since no origin answered (status 0), or one with an error.
bool gives_stale(const Transaction& transaction, int status) {
  if (status != 0 && !is_error_of_rfc5861(status)) return false;
  const auto why = status == 0 ? Flight::Completion::unreachable : Flight::Completion::failed;
  return takes_stale(transaction.found.response, transaction.context, transaction.request->fields,
                     why, transaction.resident_now());
}

// RFC 9110 §9.3.3: an answer to POST that says by Content-Location that it is what a GET would get.
bool may_be_what_get_gets(const http::ResponseHead& response) {
  return response.status == 200 && response.fields.has("content-location");
}

void give_and_store(Transaction& transaction, const http::RequestHead& request,
                    std::unique_ptr<hop::Exchange> exchange, const ExchangeTimes& times,
                    http::Response& response) {
  const Store::Found nothing;
  Fetch fetch(transaction.core, *transaction.settings, request, transaction.context, nothing,
              nullptr);
  if (fetch.adopt(std::move(exchange), times) == Fetch::From::flight) {
    transaction.status.stored = true;
    give_flight(transaction, fetch.take_reader(), fetch.answer(), response);
  } else {
    give_exchange(transaction, fetch.take_exchange(), response);
  }
}

// While a bucket moves, what is stored for the request may lie at its holder, which is asked as the
// origin would be: nothing of its answer is stored. Null: nobody is to be asked in the origin's
// place.
Task<Result<std::unique_ptr<hop::Exchange>>> ask_for_stored(Transaction& transaction,
                                                            FillNotes& notes) {
  const RequestContext& context = transaction.context;
  if (!context.may_use_store || transaction.found.response) co_return nullptr;
  const Asking asking;
  auto asked = co_await ask_holder(
      transaction.core, *transaction.settings, *transaction.request, context, asking,
      context.time_allowed,
      hop::passed_on(*transaction.request, false, context.method, *transaction.caller), notes);
  const bool is_fill = notes.outcome == metrics::Outcome::peer_fill;
  if (is_fill) transaction.status.detail = detail::peer_fill;
  co_return asked;
}

}  // namespace

Task<void> pass_on(Transaction& transaction, http::Response& response) {
  CoreState& core = transaction.core;
  const RequestContext& context = transaction.context;
  const http::RequestHead& request = *transaction.request;
  // What the request says is gone once its content is pulled.
  std::unique_ptr<http::KeptRequest> kept;
  if (context.method == "POST" && context.may_keep_answer) {
    kept = std::make_unique<http::KeptRequest>(request);
  }
  const bool is_told = is_told_by_sidecar(transaction);
  const bool is_of_only_member = is_asked_as_only_member(transaction);
  ExchangeTimes times{core.core.now(), {}};
  // HEAD, several ranges and the like use the store and don't fill it. What fills it has been at
  // the holder before it comes here.
  FillNotes notes;
  Result<std::unique_ptr<hop::Exchange>> asked{nullptr};
  if (!context.may_fill_store) asked = co_await ask_for_stored(transaction, notes);
  const bool is_fill = asked && notes.outcome == metrics::Outcome::peer_fill;
  if (asked && *asked == nullptr) {
    if (notes.was_let_down) core.sheet.count("ringside_holder_fallbacks_total");
    asked = co_await ask_origin(
        core, *transaction.settings, request, context, Asking{}, context.time_allowed,
        hop::passed_on(request, context.hop.upgrades, context.method, *transaction.caller));
  }
  times.received = core.core.now();
  times.resident = core.core.resident_now();
  const int status = asked ? (*asked)->head().status : 0;
  transaction.status.collapsed = false;
  transaction.status.forward_status = status;
  if (gives_stale(transaction, status)) {
    transaction.outcome = metrics::Outcome::stale;
    co_return give_stored(transaction, transaction.found.response, response);
  }
  if (!asked) co_return transaction.refuse(asked.error(), response);
  if (status == 101) co_return give_tunnel(transaction, *std::move(asked), response);
  const http::ResponseHead& head = (*asked)->head();
  // A miss where the store had been asked: only what it has no say in stays out of the hit rate.
  transaction.outcome = context.may_fill_store ? metrics::Outcome::miss
                        : is_fill              ? metrics::Outcome::peer_fill
                                               : metrics::Outcome::bypass;
  const auto targets =
      invalidate_after(core.shared, *transaction.settings, context, head, core.core.steady_now());
  // Such a sidecar tells no number: we would await it for two seconds, and take nothing from
  // leavers meanwhile. tell_peers() issues one of ours.
  const bool is_awaited = context.from_sidecar && !targets.empty();
  if (is_awaited && is_of_only_member) core.shared.purges.number_is_told();
  if (!is_told) co_await tell_peers(core, context.host, targets);
  // RFC 9111 §5.2.1.5: of an answer to no-store nothing is kept, be it an update.
  if (context.method == "HEAD" && context.may_keep_answer) heed_head(transaction, head, times);
  if (kept && may_be_what_get_gets(head)) {
    give_and_store(transaction, kept->head(), *std::move(asked), times, response);
  } else {
    give_exchange(transaction, *std::move(asked), response);
  }
}

Task<bool> give_of_holder(Transaction& transaction, http::Response& response) {
  FillNotes notes;
  auto asked = co_await ask_for_stored(transaction, notes);
  const bool is_fill = notes.outcome == metrics::Outcome::peer_fill;
  if (!asked || *asked == nullptr || !is_fill) co_return false;
  transaction.status.forward_status = (*asked)->head().status;
  transaction.outcome = metrics::Outcome::peer_fill;
  give_exchange(transaction, *std::move(asked), response);
  co_return true;
}

void give_exchange(Transaction& transaction, std::unique_ptr<hop::Exchange> exchange,
                   http::Response& response) {
  begin_forwarded(response, exchange->head(), transaction.response_rules(), transaction.now(),
                  transaction.core.identity.via_name);
  end_response(response, transaction.notes());
  transaction.is_from_exchange = true;
  response.body = http::Body(std::move(exchange));
}

}  // namespace ringside::cache
