#include "cache/freshness.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "cache/staleness.h"
#include "http/date.h"
#include "http/targeted_cache_control.h"

namespace ringside::cache {
namespace {

Seconds whole_seconds(Milliseconds duration) noexcept {
  return std::chrono::duration_cast<Seconds>(duration);
}

std::optional<TimePoint> date_of(const http::Fields& fields, std::string_view name,
                                 TimePoint now) noexcept {
  const auto value = fields.first(name);
  return value ? http::parse_date(*value, now) : std::nullopt;
}

// What a stored response can't do without: it tells how to read the stored bytes, for whom they
// are, and for how long.
bool is_indispensable(std::string_view field_name) noexcept {
  constexpr std::array<std::string_view, 9> names = {
      "cache-control",  "content-encoding", "content-language",
      "content-length", "content-range",    "content-type",
      "date",           "expires",          "vary"};
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return http::same_token(name, field_name); });
}

// RFC 9111 §5.2.2.4 and §5.2.2.7 let a cache take the qualified form for the unqualified one, which
// needs no names beside it: what is validated each time has its fields confirmed.
void unqualify_indispensable(std::vector<std::string_view>& names, bool& unqualified) {
  unqualified = unqualified || std::any_of(names.begin(), names.end(), is_indispensable);
  if (unqualified) names.clear();
}

// What is left where a route does not heed the origin. That is about how long a response is kept,
// against origins that send `no-cache` or `max-age=0` with everything. private and no-store are
// about who may see it: one user's page that all others get is worse than one that is not stored.
// nginx's `proxy_ignore_headers Cache-Control` stores it; httpd and Squid have a switch of its own
// for each. must-understand goes along, since no-store means something else beside it (§5.2.2.3).
http::ResponseDirectives what_protects(http::ResponseDirectives said) {
  http::ResponseDirectives out;
  out.no_store = said.no_store;
  out.must_understand = said.must_understand;
  out.is_private = said.is_private;
  out.private_fields = std::move(said.private_fields);
  out.no_cache_fields = std::move(said.no_cache_fields);
  out.no_transform = said.no_transform;
  out.is_targeted = said.is_targeted;
  return out;
}

// What InvalidAge::stale doubts of: all but one value, or one line of different values, which is
// the list whose first member §5.1 tells to use. Equal values, or several lines, are a message that
// was put together twice, and nobody knows by whom.
bool is_doubtful_age(const http::Fields& fields, std::string_view line) noexcept {
  if (fields.count("age") != 1) return true;
  std::size_t members = 0;
  std::optional<Seconds> first;
  bool doubtful = false;
  http::for_each_member(line, [&](std::string_view member) {
    const auto value = http::delta_seconds(member);
    doubtful = doubtful || !value || (first && *first == *value);
    if (!first) first = value;
    ++members;
  });
  return doubtful || members == 0;
}

// §5.1: the first value of several; what is no number is ignored. Under InvalidAge::stale such a
// response has the greatest age there is, so that whoever gets it from us does not reuse it either.
Seconds age_value(const http::Fields& fields, InvalidAge invalid) noexcept {
  const auto line = fields.first("age");
  if (!line) return Seconds{0};
  if (invalid == InvalidAge::stale && is_doubtful_age(fields, *line)) {
    return limits::delta_seconds_most;
  }
  const auto first = http::trimmed(line->substr(0, line->find(',')));
  return http::delta_seconds(first).value_or(Seconds{0});
}

// §5.3: what is no date, "0" above all, is one in the past. So are several that differ (§4.2.1).
Seconds expires_lifetime(const http::Fields& fields, TimePoint date, TimePoint received) noexcept {
  std::optional<std::string_view> value;
  for (const http::Field& field : fields) {
    if (!http::same_token(field.name, "expires")) continue;
    if (value && *value != field.value) return Seconds{0};
    value = field.value;
  }
  const auto expires = http::parse_date(value.value_or(std::string_view{}), received);
  if (!expires) return Seconds{0};
  return std::clamp(whole_seconds(*expires - date), Seconds{0}, limits::delta_seconds_most);
}

// §4.2.2. Query strings are no exception any more: that was HTTP/1.0's.
std::optional<Seconds> heuristic_lifetime(const http::Fields& fields, TimePoint date,
                                          TimePoint received) noexcept {
  const auto modified = date_of(fields, "last-modified", received);
  if (!modified || *modified > date) return std::nullopt;
  return std::min(whole_seconds(date - *modified) * limits::heuristic_percent / 100,
                  limits::heuristic_most);
}

struct Lifetime {
  Seconds value{0};
  LifetimeBy by = LifetimeBy::nobody;
};

Lifetime lifetime_of(const FreshnessInput& input, TimePoint date) {
  using enum LifetimeBy;
  const auto& [status, fields, directives, times, rules] = input;
  if (directives.s_maxage) return {*directives.s_maxage, s_maxage};
  if (directives.max_age) return {*directives.max_age, max_age};
  // RFC 9213 §2.1: a targeted field stands in for Cache-Control and Expires.
  if (rules.heed_origin && !directives.is_targeted && fields.has("expires")) {
    return {expires_lifetime(fields, date, times.received), expires};
  }
  for (const StatusTtl& row : rules.ttl_by_status) {
    if (row.first <= status && status <= row.last) return {row.ttl, ttl_by_status};
  }
  // `public` lets any response be stored (RFC 9111 §5.2.2.9, §4.2.2).
  if (!is_heuristically_cacheable(status) && !directives.is_public) return {};
  if (rules.default_ttl) return {*rules.default_ttl, default_ttl};
  if (!rules.heuristic) return {};
  const auto guess = heuristic_lifetime(fields, date, times.received);
  return guess ? Lifetime{*guess, heuristic} : Lifetime{};
}

// Without one the response counts as made when it came (RFC 9110 §6.6.1).
TimePoint date_or_arrival(const FreshnessInput& input) noexcept {
  const TimePoint received = input.times.received;
  return date_of(input.fields, "date", received).value_or(received);
}

}  // namespace

http::ResponseDirectives effective_directives(const http::Fields& fields, const Rules& rules) {
  std::optional<http::ResponseDirectives> said;
  for (auto name = rules.targeted.begin(); name != rules.targeted.end() && !said; ++name) {
    said = http::parse_targeted_directives(fields, *name);
  }
  if (!said) said = http::parse_response_directives(fields);
  unqualify_indispensable(said->private_fields, said->is_private);
  unqualify_indispensable(said->no_cache_fields, said->no_cache);
  return rules.heed_origin ? *std::move(said) : what_protects(*std::move(said));
}

bool is_heuristically_cacheable(int status) noexcept {
  constexpr std::array<int, 12> statuses = {200, 203, 204, 206, 300, 301,
                                            308, 404, 405, 410, 414, 501};
  return std::find(statuses.begin(), statuses.end(), status) != statuses.end();
}

Freshness freshness_of(const FreshnessInput& input) {
  const auto& directives = input.directives;
  const TimePoint received = input.times.received;
  const TimePoint date = date_or_arrival(input);

  Freshness out;
  out.received = input.times.resident_at();
  out.no_cache = directives.no_cache;
  out.must_revalidate = is_never_stale(directives);
  out.immutable = directives.immutable;

  // §4.2.3. Neither a Date ahead of our clock nor a clock that was set back makes anything younger.
  const Seconds apparent_age = std::max(Seconds{0}, whole_seconds(received - date));
  const Seconds delay = std::max(Seconds{0}, whole_seconds(received - input.times.requested));
  out.initial_age =
      std::max(apparent_age, age_value(input.fields, input.rules.invalid_age) + delay);

  const Lifetime lifetime = lifetime_of(input, date);
  out.lifetime = lifetime.value;
  out.source = source_of(lifetime.by);

  out.stale_while_revalidate = directives.stale_while_revalidate;
  out.stale_if_error = directives.stale_if_error;
  // The route's are about what once was fresh: where nobody said so, nothing may be stale of it.
  if (out.source != LifetimeSource::none) {
    const Rules& rules = input.rules;
    if (!out.stale_while_revalidate) out.stale_while_revalidate = rules.stale_while_revalidate;
    if (!out.stale_if_error) out.stale_if_error = rules.stale_if_error;
  }
  return out;
}

LifetimeSource source_of(LifetimeBy by) noexcept {
  switch (by) {
    case LifetimeBy::nobody:
      return LifetimeSource::none;
    case LifetimeBy::s_maxage:
    case LifetimeBy::max_age:
    case LifetimeBy::expires:
      return LifetimeSource::origin;
    case LifetimeBy::ttl_by_status:
    case LifetimeBy::default_ttl:
      return LifetimeSource::rule;
    case LifetimeBy::heuristic:
      return LifetimeSource::heuristic;
  }
  return LifetimeSource::none;
}

LifetimeBy lifetime_by(const FreshnessInput& input) {
  return lifetime_of(input, date_or_arrival(input)).by;
}

Seconds age(const Freshness& freshness, TimePoint now) noexcept {
  return freshness.initial_age + std::max(Seconds{0}, whole_seconds(now - freshness.received));
}

Milliseconds age_beyond(const Freshness& freshness, TimePoint now) noexcept {
  return std::max(Milliseconds{0}, now - freshness.received) % Seconds{1};
}

Seconds time_to_live(const Freshness& freshness, TimePoint now) noexcept {
  return freshness.lifetime - age(freshness, now);
}

}  // namespace ringside::cache
