#include "sidecar/handler.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/limits.h"
#include "base/log.h"
#include "http/cache_control.h"
#include "http/error_response.h"
#include "sidecar/invalidation.h"
#include "sidecar/messages.h"
#include "sidecar/purge.h"

namespace ringside::sidecar {
namespace {

using Forward = http::CacheStatus::Forward;

std::int64_t age_s(const http::ResponseHead& head) noexcept {
  const std::string_view digits = http::fields_of(head).first("age").value_or("0");
  std::int64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, value);
  return parsed.ec == std::errc{} && parsed.ptr == end && value > 0 ? value : 0;
}

// Whether a replica would have looked for this in its store and fetched it for everybody: what the
// hit rate counts. Requires that the request's content was not pulled.
bool is_for_the_store(const http::RequestHead& request, std::string_view method) {
  return method == "GET" && request.framing.kind == http::Framing::Kind::none &&
         !request.fields.has("range") && !http::parse_request_directives(request.fields).no_store;
}

Task<void> nothing_to_wait_for() { co_return; }

}  // namespace

Handler::Handler(CoreState& core) : core_(core), nearby_(core.near) {
  core_.sheet.connection_opened();
}

Handler::~Handler() { core_.sheet.connection_closed(); }

bool Handler::expects_proxy_header(const IpAddress& from) const {
  return any_contains(core_.snapshot->settings->proxied_from, from);
}

void Handler::begin(const IpAddress& from) {
  snapshot_ = core_.snapshot;
  decision_.method.clear();
  decision_.country = {};
  decision_.client = from;
  decision_.peer_is_trusted = false;
  answered_by_.reset();
  shard_ = 0;
  outcome_ = metrics::Outcome::error;
  is_from_exchange_ = false;
}

std::uint32_t Handler::requests_per_connection() const {
  return snapshot_->settings->requests_per_connection;
}

// The life of a request; the numbers are those of docs/ARCHITECTURE.md.
Task<void> Handler::answer(http::RequestHead& request, http::Caller& caller,
                           http::Response& response) {
  if (const auto looked = look(request, caller); !looked) {  // 4 to 8
    refuse(looked.error(), response);
  } else if (decision_.hop.answer_here) {
    // RFC 9110 §9.3.7, §7.6.2: asked of us, not of what is behind us.
    outcome_ = metrics::Outcome::bypass;
    http::make_options_response(response, core_.core.now());
  } else if (decision_.method == "PURGE") {
    return purge(response);
  } else if (const auto kept = nearby_.find(request, core_.core.steady_now())) {  // 9
    give_nearby(request, kept, core_.core.steady_now(), core_.core.now(), response);
    shard_ = kept->shard;
    outcome_ = metrics::Outcome::hit;
    core_.sheet.count("ringside_near_hits_total");
  } else {
    return answer_from_owners(request, caller, response);  // 10 to 12, 22, 23
  }
  return nothing_to_wait_for();
}

// Behind a trusted proxy that does not tell who asks there may be everybody.
bool Handler::may_be_rare() {
  const IpAddress client = told_client(decision_, *snapshot_->settings);
  return client == IpAddress{} || core_.rare_methods.take(client, core_.core.steady_now());
}

// Everything that can be known of the request without asking anybody.
Result<void> Handler::look(http::RequestHead& request, const http::Caller& caller) {
  auto decided = decide(request, caller.address(), *snapshot_->settings, snapshot_->identity.via,
                        core_.countries, decision_);
  if (decided && MethodAllowance::is_rare(decision_.method) && decision_.method != "PURGE" &&
      !may_be_rare()) {
    return Error{ErrorKind::overloaded, ErrorSource::client, Retry::no,
                 "too many requests by methods that are rarely used; wait a while"};
  }
  if (decided && !decision_.hop.answer_here) nearby_.begin(request, decision_);
  return decided;
}

// A member is a cache that handled the request (RFC 9211 §2). We are one for what we give
// ourselves: from near, of an origin that is asked in the place of a replica, or an error. What
// comes of a replica has that one's member, and `none` adds nothing to it.
http::CacheStatus Handler::own_status(Forward why) const noexcept {
  http::CacheStatus status;
  status.cache = snapshot_->identity.name;
  status.forward = why;
  return status;
}

Task<void> Handler::answer_from_owners(const http::RequestHead& request, http::Caller& caller,
                                       http::Response& response) {
  nearby_.ask();
  Owners owners(core_, *snapshot_, decision_, upstream_fields_);
  auto answered = co_await owners.ask(request, caller);
  if (!answered) co_return refuse(answered.error(), response);
  std::unique_ptr<hop::Exchange> exchange = std::move(answered->exchange);
  answered_by_ = answered->member;
  if (answered_by_) shard_ = snapshot_->shards[*answered_by_];
  is_from_exchange_ = true;
  const http::ResponseHead& head = exchange->head();
  if (head.status == 101) {
    // The connection becomes WebSocket's (RFC 9110 §7.8) and ends with it.
    outcome_ = metrics::Outcome::bypass;
    begin_response(head, answered_by_ ? Forward::none : Forward::bypass, response);
    const std::shared_ptr<hop::Exchange> owner = std::move(exchange);
    response.tunnel = {owner, &owner->stream()};
    co_return;
  }
  // RFC 9111 §4.4: whoever has seen this answer may not be given anything older.
  if (!http::is_safe(decision_.method)) {
    co_await invalidate_elsewhere(core_, *snapshot_, decision_, head, answered_by_);
  }
  if (!answered_by_) {  // Our internal fields are ignored when an origin sends them.
    const bool missed = is_for_the_store(request, decision_.method);
    outcome_ = missed ? metrics::Outcome::miss : metrics::Outcome::bypass;
    // No cache of the tier could be asked: the whole tier counts as one cache, hence one miss.
    co_return relay(std::move(exchange), missed ? Forward::miss : Forward::bypass, response);
  }
  outcome_ =
      metrics::outcome_from(read_notes(head.fields).outcome).value_or(metrics::Outcome::bypass);
  if (const auto terms = nearby_.terms(head, *snapshot_->settings, core_.core.steady_now())) {
    co_await keep_and_give(request, std::move(exchange), *terms, response);
  } else {
    nearby_.pass(request);
    relay(std::move(exchange), Forward::none, response);
  }
}

void Handler::begin_response(const http::ResponseHead& head, Forward why,
                             http::Response& response) const {
  response.begin(head.status, head.reason);
  response.length_is_known = http::length_is_known(head.framing);
  add_client_fields(response.fields, head, core_.core.now(), own_status(why),
                    snapshot_->identity.via_name, {}, decision_.peer_is_trusted);
}

void Handler::relay(std::unique_ptr<hop::Exchange> exchange, Forward why,
                    http::Response& response) {
  begin_response(exchange->head(), why, response);
  response.body = http::Body(std::move(exchange));
}

// The whole body comes first: a near cache keeps no half answers.
Task<void> Handler::keep_and_give(const http::RequestHead& request,
                                  std::unique_ptr<hop::Exchange> exchange,
                                  const NearCache::Terms& terms, http::Response& response) {
  const http::ResponseHead& head = exchange->head();
  auto kept = std::make_shared<NearCache::KeptResponse>();
  kept->status = head.status;
  kept->reason = head.reason;
  kept->shard = shard_;
  kept->age_s = age_s(head);
  kept->stored = core_.core.steady_now();
  auto nearby = own_status(Forward::none);
  nearby.hit = true;
  add_client_fields(kept->fields, head, core_.core.now(), nearby, snapshot_->identity.via_name,
                    "age");
  begin_response(head, Forward::none, response);
  for (bool last = false; !last;) {
    const auto pulled = co_await exchange->pull();
    if (!pulled) co_return refuse(pulled.error(), response);
    for (const std::string_view piece : pulled->pieces) kept->body += piece;
    last = pulled->last;
  }
  response.body = {kept, kept->body};
  nearby_.keep(request, std::move(kept), terms);
}

Task<void> Handler::purge(http::Response& response) {
  if (!any_contains(snapshot_->settings->purge_from, decision_.peer)) {
    co_return refuse({ErrorKind::forbidden, ErrorSource::client, Retry::no,
                      "PURGE is not allowed from " + decision_.peer.text() +
                          "; add it to --purge-from (in the file purge_from)"},
                     response);
  }
  const auto purged = http::PurgeTarget::of_request(decision_.host, decision_.target.text());
  const PurgeReport report = co_await purge_replicas(core_, *snapshot_, purged);
  outcome_ = metrics::Outcome::bypass;
  if (const auto left_out = core_.shared.purge_lines.next(core_.core.steady_now())) {
    log_purge(purged, report, "PURGE from " + decision_.peer.text(), *left_out);
  }
  make_purge_response(response, report, purged, core_.core.now());
}

// Errors that failover made good are counted in Owners.
void Handler::refuse(const Error& error, http::Response& response) {
  core_.sheet.count_error(error);
  if (error.source != ErrorSource::client) log::write(log::Level::debug, error.message);
  outcome_ = metrics::Outcome::error;
  is_from_exchange_ = false;
  std::string cache_status;
  http::append_cache_status(cache_status, own_status(Forward::bypass));
  http::make_error_response(
      response, error,
      {snapshot_->identity.name, cache_status, core_.core.now(), decision_.peer_is_trusted});
}

void Handler::sent(const hop::Sent& sent) {
  if (sent.failure && is_from_exchange_) core_.sheet.count_error(*sent.failure);
  core_.sheet.count_request(shard_, decision_.country.code(), outcome_, sent.took, sent.body_bytes);
}

hop::AccessNotes Handler::access_notes() const {
  hop::AccessNotes notes{decision_.client, metrics::name(outcome_), decision_.country.code(), {}};
  if (answered_by_) {
    notes.replica = snapshot_->settings->membership->name(*answered_by_);
  }
  return notes;
}

}  // namespace ringside::sidecar
