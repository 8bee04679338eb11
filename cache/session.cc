#include "cache/session.h"

#include "base/limits.h"
#include "cache/flight_answer.h"
#include "cache/forwarded_answer.h"
#include "cache/invalidation.h"
#include "cache/refresh.h"
#include "cache/selection.h"
#include "cache/serving.h"
#include "cache/shared_fetch.h"
#include "cache/sliced_answer.h"
#include "cache/sliced_object.h"
#include "cache/stored_answer.h"
#include "http/hop.h"
#include "http1/error_response.h"
#include "http1/turn.h"

namespace ringside::cache {
namespace {

using Forward = http::CacheStatus::Forward;

// Why a request had to go forward (RFC 9211 §2.2).
Forward forward_reason(const RequestState& state) {
  const Inquiry& inquiry = state.inquiry;
  const Store::Found& found = state.found;
  if (inquiry.method != "GET" && inquiry.method != "HEAD") return Forward::method;
  if (!inquiry.may_use_store) return Forward::bypass;
  if (!found.response) {
    if (!inquiry.may_fill_store) return Forward::bypass;
    return found.vary.empty() ? Forward::uri_miss : Forward::vary_miss;
  }
  if (inquiry.directives.no_cache) return Forward::request;
  const bool enough =
      is_enough(*found.response, inquiry, state.request.fields, state.core.core.now());
  return enough ? Forward::stale : Forward::partial;
}

// RFC 9111 §5.2.1.7
Error nothing_usable() {
  return {ErrorKind::timeout, ErrorSource::ourselves, Retry::no,
          "only-if-cached, and nothing usable is stored"};
}

}  // namespace

Session::Session(CoreState& core, http::Connection& client) : state_(core, client) {
  core.sheet.connection_opened();
}

Session::~Session() { state_.core.sheet.connection_closed(); }

// The replica's half of the life of a request; the letters are those of docs/ARCHITECTURE.md.
Task<void> Session::run() {
  const Inquiry& inquiry = state_.inquiry;
  while (state_.keep_alive) {
    const auto next = co_await http::next_request(state_.client, state_.request);  // a
    if (next && !*next) co_return;
    const SteadyPoint began = state_.core.core.steady_now();
    state_.begin(next.has_value());
    const auto looked = next ? look() : Result<void>(next.error());  // b
    if (!looked) {
      co_await state_.refuse(looked.error());
    } else if (inquiry.hop.answer_here) {
      co_await answer_options();
    } else if (inquiry.method == "PURGE") {
      co_await purge();
    } else if (auto stored = find_usable()) {  // c, d
      co_await answer_stored(state_, std::move(stored));
    } else if (inquiry.may_use_store && inquiry.directives.only_if_cached &&
               !are_slices_stored(state_)) {
      const Error nothing = nothing_usable();
      co_await state_.refuse(nothing);
    } else if (inquiry.may_fill_store) {
      bool is_answered = false;
      if (inquiry.rules().slice_size_bytes > 0) is_answered = co_await answer_sliced(state_);
      if (!is_answered) co_await answer_shared();  // e to g
    } else {
      co_await pass_on(state_);
    }
    count(began);
    state_.keep_alive = state_.keep_alive && state_.client.body_done();
  }
  co_await http::end_connection(state_.client);
}

Result<void> Session::look() {
  state_.settings = state_.core.settings;
  const Settings& settings = *state_.settings;
  state_.keep_alive = state_.request.keep_alive && ++requests_ < settings.requests_per_connection;
  state_.inquiry.method = state_.request.method;
  if (auto admitted = http::admit(state_.core.core, state_.request); !admitted) return admitted;
  auto understood =
      inquire(state_.request, settings, state_.core.shared.identity.via, state_.inquiry);
  if (!understood) return understood;
  state_.status.forward = forward_reason(state_);
  if (state_.inquiry.route != nullptr && state_.rules().status_key) {
    state_.shown_key = readable(state_.inquiry.key);
    state_.status.key = state_.shown_key;
  }
  return understood;
}

// A stored response that may be given without asking anybody first.
StoredPointer Session::find_usable() {
  const Inquiry& inquiry = state_.inquiry;
  if (!inquiry.may_use_store) return nullptr;
  state_.found = state_.core.shared.store.find(inquiry.key, state_.request.fields);
  const StoredPointer& stored = state_.found.response;
  state_.status.forward = forward_reason(state_);
  if (!stored) return nullptr;
  const TimePoint now = state_.core.core.now();
  const Freshness& freshness = stored->head->freshness();
  const Verdict verdict = judge(&freshness, inquiry.directives, now);
  if (verdict == Verdict::must_validate) return nullptr;
  if (!is_enough(*stored, inquiry, state_.request.fields, now)) return nullptr;
  if (is_refresh_due(state_, freshness, verdict)) refresh_in_background(state_);
  state_.status.hit = true;
  state_.status.forward = Forward::none;
  state_.outcome = verdict == Verdict::fresh ? metrics::Outcome::hit : metrics::Outcome::stale;
  return stored;
}

Task<void> Session::answer_shared() {
  SharedFetch fetch(state_.core, *state_.settings, state_.request, state_.inquiry, state_.found,
                    state_.request.minor_version >= 1 ? &state_.client : nullptr);
  const auto way = co_await fetch.run(state_.head);
  state_.status.collapsed = !fetch.led();
  state_.status.forward_status = fetch.origin_status();
  state_.own_lines = fetch.own_lines();
  state_.is_what_is_stored =
      state_.own_lines.empty() && fetch.storability() == Storability::storable;
  switch (way) {
    case SharedFetch::Way::stream:
      state_.status.stored = fetch.flight().answer().is_kept;
      state_.outcome = fetch.led() ? metrics::Outcome::miss : metrics::Outcome::collapsed;
      co_await answer_from_flight(state_, fetch);
      break;
    case SharedFetch::Way::stored:
      state_.status.stored =
          fetch.led() && !fetch.is_stale() && fetch.storability() == Storability::storable;
      state_.outcome = fetch.led() ? metrics::Outcome::revalidated : metrics::Outcome::collapsed;
      if (fetch.is_stale()) state_.outcome = metrics::Outcome::stale;
      co_await answer_stored(state_, fetch.response());
      break;
    case SharedFetch::Way::relay:
      state_.outcome = metrics::Outcome::miss;
      state_.status.detail = name(fetch.storability());
      co_await answer_from_exchange(state_, fetch.exchange());
      break;
    case SharedFetch::Way::alone:
    case SharedFetch::Way::nobody:
      co_await pass_on(state_);
      break;
    case SharedFetch::Way::failed:
      co_await state_.refuse(fetch.error());
      break;
  }
}

// RFC 9110 §9.3.7, §7.6.2: asked of us, not of the origin. A sidecar's probe, for one; or what it
// has learnt that is not valid any more.
Task<void> Session::answer_options() {
  state_.keep_alive =
      state_.keep_alive && state_.client.body_done() && !state_.core.core.draining();
  state_.outcome = metrics::Outcome::bypass;
  std::optional<std::size_t> removed;
  if (state_.inquiry.from_sidecar) {
    removed = invalidate_told(state_.core.shared, *state_.core.settings, state_.request);
  }
  state_.head = removed ? purge_response(*removed, state_.keep_alive, state_.core.core.now())
                        : http::options_response(state_.core.core.now(), !state_.keep_alive);
  co_await state_.write_head();
}

Task<void> Session::purge() {
  const Inquiry& inquiry = state_.inquiry;
  const IpAddress& from = state_.client.remote();
  if (!any_contains(state_.settings->purge_from, from)) {
    const Error forbidden{
        ErrorKind::forbidden, ErrorSource::client, Retry::no,
        "PURGE is not allowed from " + from.text() + "; see `purge_from` in the configuration"};
    co_await state_.refuse(forbidden);
    co_return;
  }
  const auto target = inquiry.target.text();
  const std::size_t removed = purge_shared(
      state_.core.shared, target == "*" ? std::string{} : uri_prefix(inquiry.host, target));
  state_.outcome = metrics::Outcome::bypass;
  state_.keep_alive =
      state_.keep_alive && state_.client.body_done() && !state_.core.core.draining();
  state_.head = purge_response(removed, state_.keep_alive, state_.core.core.now());
  co_await state_.write_head();
}

void Session::count(SteadyPoint began) noexcept {
  CoreState& core = state_.core;
  const auto duration = core.core.steady_now() - began;
  core.sheet.count_request(0, state_.inquiry.country, state_.outcome, duration, state_.body_bytes);
  if (core.access_log == nullptr) return;
  state_.record.end(metrics::name(state_.outcome), state_.inquiry.country, duration,
                    state_.body_bytes);
  core.access_log->write(state_.record);
}

}  // namespace ringside::cache
