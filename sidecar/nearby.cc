#include "sidecar/nearby.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "base/limits.h"
#include "http/cache_control.h"
#include "http/conditional.h"
#include "http/error_response.h"
#include "http/vary.h"
#include "sidecar/canonical_request.h"
#include "sidecar/messages.h"

namespace ringside::sidecar {
namespace {

template <std::size_t N>
bool has_any(const http::Fields& fields, const std::array<std::string_view, N>& names) noexcept {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return fields.has(name); });
}

// Whether the answer to it, which the replica gave anybody, is of use to others as well.
bool may_be_kept_nearby(const http::RequestHead& request) noexcept {
  constexpr std::array<std::string_view, 6> telling = {
      "authorization", "range", "if-match", "if-unmodified-since", "if-range", "upgrade"};
  return request.method == "GET" && request.framing.kind == http::Framing::Kind::none &&
         !has_any(request.fields, telling);
}

Milliseconds told_ttl(const http::ResponseHead& head) noexcept {
  const std::string_view digits = read_notes(head.fields).near_ttl_ms;
  std::int64_t told = 0;
  const char* const end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, told);
  return Milliseconds{parsed.ec == std::errc{} && parsed.ptr == end ? told : 0};
}

// We write these for each client, beside what is in the key: by what the client sent in them
// nobody can tell what the answer varies on.
bool varies_on_ours(const std::vector<std::string>& vary, const Settings& settings) {
  return std::any_of(vary.begin(), vary.end(), [&](const std::string& name) {
    return is_written_anew(name) || tells_address(name) || is_of_proxies(name) ||
           http::same_token(name, settings.country_header) ||
           http::same_token(name, settings.client_address_from);
  });
}

}  // namespace

bool may_be_answered_nearby(const http::RequestHead& request) noexcept {
  constexpr std::array<std::string_view, 2> telling = {"cache-control", "pragma"};
  return may_be_kept_nearby(request) && !has_any(request.fields, telling);
}

void Nearby::begin(const http::RequestHead& request, const Decision& decision) {
  const bool concerns = decision.route->near_ttl.count() > 0 && !decision.hop.upgrades &&
                        may_be_kept_nearby(request) &&
                        !http::parse_request_directives(request.fields).no_store;
  route_ = concerns ? decision.route : nullptr;
  may_be_given_ = concerns && may_be_answered_nearby(request);
  if (!concerns) return;
  key_.text.assign(name(decision.scheme)).append("\n").append(decision.host);
  key_.text.append("\n").append(decision.target.path);
  key_.text.append(decision.target.has_query ? "?" : "").append(decision.target.query);
  key_.text.append("\n").append(decision.extra_key);
  const auto route = http::name_in_key(decision.route->match, decision.route->name);
  if (!route.empty()) key_.text.append("\n").append(route);
  key_.hash = hash64(key_.text);
  key_.uri = forgotten_uri(decision.host, decision.target.path);
}

NearCache::KeptPointer Nearby::find(const http::RequestHead& request, SteadyPoint now) {
  return may_be_given_ ? cache_.find(key_, request.fields, now) : nullptr;
}

void Nearby::ask() noexcept {
  if (route_ != nullptr) asked_ = cache_.moment(key_);
}

std::optional<NearCache::Terms> Nearby::terms(const http::ResponseHead& head,
                                              const Settings& settings, SteadyPoint now) const {
  if (route_ == nullptr) return std::nullopt;
  const Milliseconds ttl = std::min(route_->near_ttl, told_ttl(head));
  const http::Framing& framing = head.framing;
  const bool is_small = framing.kind == http::Framing::Kind::length &&
                        framing.length_bytes <= limits::near_object_size_bytes;
  if (ttl.count() <= 0 || !is_small || !cache_.admits(key_, framing.length_bytes, now)) {
    return std::nullopt;
  }
  // The replica doesn't say so of answers that have something of one client's; but a mistake
  // here would reach every client.
  const http::Fields fields = http::fields_of(head);
  const auto said = http::parse_response_directives(fields);
  if (said.is_private || said.no_store || said.no_cache || fields.has("set-cookie")) {
    return std::nullopt;
  }
  NearCache::Terms terms{http::vary_names(fields), now + ttl, asked_};
  if (http::varies_on_anything(terms.vary) || varies_on_ours(terms.vary, settings)) {
    return std::nullopt;
  }
  return terms;
}

void Nearby::keep(const http::RequestHead& request, NearCache::KeptPointer response,
                  const NearCache::Terms& terms) {
  cache_.store(key_, request.fields, std::move(response), terms);
}

void Nearby::pass(const http::RequestHead& request) {
  if (route_ != nullptr) cache_.drop_older(key_, request.fields, asked_);
}

void give_nearby(const http::RequestHead& request, const NearCache::KeptPointer& kept,
                 SteadyPoint steady_now, TimePoint now, http::Response& response) {
  const auto stayed = std::chrono::duration_cast<Seconds>(steady_now - kept->stored).count();
  constexpr std::array<std::string_view, 2> conditions = {"if-none-match", "if-modified-since"};
  // RFC 9110 §13.2.1: only what would be answered 200 is asked for conditionally.
  if (kept->status == 200 && has_any(request.fields, conditions) &&
      http::is_not_modified(request.fields, http::fields_of(kept->fields.text()), now)) {
    response.begin(304, http::reason_of(304));
    for (const http::Field& field : http::fields_of(kept->fields.text())) {
      if (http::belongs_in_not_modified(field.name)) response.fields.add(field.name, field.value);
    }
  } else {
    response.begin(kept->status, kept->reason);
    response.owner = kept;
    response.shared_lines = kept->fields.text();
    response.body = {kept, kept->body};
  }
  response.fields.add("Age", fmt::format_int(kept->age_s + stayed).c_str());
}

}  // namespace ringside::sidecar
