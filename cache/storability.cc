#include "cache/storability.h"

#include <algorithm>
#include <array>

#include "cache/staleness.h"
#include "http/vary.h"

namespace ringside::cache {
namespace {

// The final status codes of RFC 9110 §15 whose rules for caches we know and keep.
bool is_understood(const StorabilityInput& input) noexcept {
  constexpr std::array<int, 16> known = {200, 203, 204, 300, 301, 302, 303, 307,
                                         308, 404, 405, 410, 414, 421, 451, 501};
  return (input.status == 206 && input.is_understood_part) ||
         std::find(known.begin(), known.end(), input.status) != known.end();
}

// Codes beyond 599 are none (RFC 9110 §15). Unknown ones within are like any other (RFC 9111 §3).
bool is_status_stored(const StorabilityInput& input) noexcept {
  if (input.status < 200 || input.status > 599 || input.status == 304) return false;
  return input.status != 206 || input.is_understood_part;
}

// RFC 9110 §9.3.3. Only what a GET would be answered with: a 201 or 204 tells of the POST itself,
// and elsewhere Content-Location says nothing of the target (§8.7).
bool is_post_stored(const StorabilityInput& input) noexcept {
  return input.method == "POST" && input.status == 200 && input.content_location_is_target &&
         input.freshness.source == LifetimeSource::origin;
}

bool is_named(const std::vector<std::string_view>& names, std::string_view field_name) noexcept {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return http::same_token(name, field_name); });
}

// Stored without, since the response says that the rest is for everybody.
bool is_named_away(const http::ResponseDirectives& directives, std::string_view field) noexcept {
  return is_named(directives.private_fields, field) || is_named(directives.no_cache_fields, field);
}

// RFC 9111 §3, its last condition: somebody has to say that the response may be kept.
bool is_said_to_be_cacheable(const StorabilityInput& input) noexcept {
  const LifetimeSource source = input.freshness.source;
  return source == LifetimeSource::origin || source == LifetimeSource::rule ||
         input.directives.is_public || is_heuristically_cacheable(input.status);
}

// Only a 2xx is validated: an origin ignores conditions where it would answer with another status
// (RFC 9110 §13.2.1).
bool can_be_validated(const StorabilityInput& input) noexcept {
  if (input.status / 100 != 2) return false;
  constexpr std::array<std::string_view, 2> validators = {"etag", "last-modified"};
  return std::any_of(validators.begin(), validators.end(), [&](std::string_view validator) {
    return input.fields.has(validator) && !is_named_away(input.directives, validator);
  });
}

// Whether it could be given without the origin: fresh; or stale, by its own word, for a client with
// max-stale or for want of an origin (RFC 9111 §4.2.4).
bool can_be_given(const Freshness& freshness) noexcept {
  if (freshness.no_cache) return false;
  const Seconds staleness = freshness.initial_age - freshness.lifetime;
  return staleness < Seconds{0} || may_be_stale(freshness, {}, Occasion::ever, staleness);
}

}  // namespace

std::string_view name(Storability storability) noexcept {
  switch (storability) {
    case Storability::storable:
      return "storable";
    case Storability::method:
      return "method";
    case Storability::request_said:
      return "request-no-store";
    case Storability::no_store:
      return "no-store";
    case Storability::is_private:
      return "private";
    case Storability::authorization:
      return "authorization";
    case Storability::status:
      return "status";
    case Storability::vary_any:
      return "vary-any";
    case Storability::set_cookie:
      return "set-cookie";
    case Storability::no_lifetime:
      return "no-lifetime";
  }
  return "no-lifetime";
}

Storability storability(const StorabilityInput& input) noexcept {
  const http::ResponseDirectives& directives = input.directives;
  if (input.method != "GET" && !is_post_stored(input)) return Storability::method;
  if (input.asked.no_store) return Storability::request_said;
  // RFC 9111 §5.2.2.3: must-understand stands before no-store, which is for those who don't.
  const bool understood = directives.must_understand && is_understood(input);
  if (directives.must_understand && !understood) return Storability::status;
  if (directives.no_store && !understood) return Storability::no_store;
  if (directives.is_private) return Storability::is_private;
  if (!is_status_stored(input)) return Storability::status;
  const bool shared_allowed =
      directives.is_public || directives.must_revalidate || directives.s_maxage.has_value();
  if (input.authorized && !shared_allowed) return Storability::authorization;
  if (http::varies_on_anything(http::vary_names(input.fields))) return Storability::vary_any;
  if (input.rules.set_cookie == SetCookie::pass && input.fields.has("set-cookie") &&
      !is_named_away(directives, "set-cookie")) {
    return Storability::set_cookie;
  }
  if (!is_said_to_be_cacheable(input)) return Storability::no_lifetime;
  if (!can_be_given(input.freshness) && !can_be_validated(input)) return Storability::no_lifetime;
  return Storability::storable;
}

std::vector<std::string> fields_not_stored(const http::ResponseDirectives& directives,
                                           const Rules& rules) {
  std::vector<std::string> names;
  names.insert(names.end(), directives.private_fields.begin(), directives.private_fields.end());
  names.insert(names.end(), directives.no_cache_fields.begin(), directives.no_cache_fields.end());
  // Under `pass` no response with one is stored, but a 304 may bring one for what is.
  if (rules.set_cookie != SetCookie::store) names.emplace_back("Set-Cookie");
  return names;
}

}  // namespace ringside::cache
