#include "cache/transaction.h"

#include <algorithm>
#include <string>

#include "base/log.h"
#include "cache/detail.h"
#include "cache/selection.h"
#include "http/error_response.h"
#include "http/internal_fields.h"

namespace ringside::cache {
namespace {

// As a field's value.
std::string printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

}  // namespace

void Transaction::begin(std::shared_ptr<const Settings> the_settings) {
  settings = std::move(the_settings);
  context.method.clear();
  context.country.clear();
  context.from_sidecar = false;
  context.fills_peer = false;
  status = {};
  status.cache = core.shared.name;  // settings, and with them the identity, may change meanwhile
  status.forward = http::CacheStatus::Forward::bypass;
  outcome = metrics::Outcome::error;
  is_what_is_stored = true;
  is_from_impostor = false;
  is_from_exchange = false;
  is_explained = false;
  look = Store::Look::use;
  found = {};
  given = nullptr;
  own_lines.clear();
  purges_done.clear();
  is_asker_unknown = false;
  context.topology_is_other = false;
}

http::CacheStatus::Forward Transaction::forward_reason() const {
  using Forward = http::CacheStatus::Forward;
  if (context.method != "GET" && context.method != "HEAD") return Forward::method;
  if (!context.may_use_store) return Forward::bypass;
  if (!found.response) {
    if (!context.may_fill_store) return Forward::bypass;
    return found.vary.empty() ? Forward::uri_miss : Forward::vary_miss;
  }
  if (context.directives.no_cache) return Forward::request;
  const bool enough = is_enough(*found.response, context, request->fields, resident_now());
  return enough ? Forward::stale : Forward::partial;
}

void Transaction::note_stale() noexcept {
  outcome = metrics::Outcome::stale;
  status.detail = detail::origin_failed;
}

ResponseNotes Transaction::notes() const noexcept {
  ResponseNotes notes;
  notes.status = status;
  notes.outcome = outcome;
  notes.to_sidecar = context.from_sidecar;
  notes.to_peer = context.fills_peer;
  notes.purges_done = purges_done;
  notes.is_asker_unknown = is_asker_unknown;
  notes.to_impostor = is_from_impostor;
  notes.topology = told_topology();
  notes.own_lines = own_lines;
  return notes;
}

const Rules& Transaction::response_rules() const noexcept {
  static const Rules none;
  return context.fills_peer ? none : rules();
}

std::string_view Transaction::told_topology() const noexcept {
  return context.topology_is_other ? std::string_view(settings->membership->topology_id)
                                   : std::string_view{};
}

void Transaction::tell_topology(http::Response& response) const {
  const std::string_view own = told_topology();
  if (!own.empty()) response.fields.add(http::internal::topology, own);
}

http::Caller* Transaction::interim_to() const noexcept {
  return request->minor_version >= 1 ? caller : nullptr;
}

void Transaction::refuse(const Error& error, http::Response& response) {
  outcome = metrics::Outcome::error;
  if (error.source != ErrorSource::client) log::write(log::Level::debug, error.message);
  std::string text;
  http::append_cache_status(text, status);
  http::make_error_response(response, error, {core.identity.name, text, now()});
  if (is_from_impostor) response.fields.add(http::internal::unproven, "1");
  tell_topology(response);
  if (context.from_sidecar) {
    response.fields.add(http::internal::outcome, metrics::name(outcome));
    if (error.source != ErrorSource::client) {
      response.fields.add(http::internal::detail, printable(error.message));
    }
  }
}

}  // namespace ringside::cache
