#pragma once

#include <optional>

#include "base/clock.h"
#include "cache/rules.h"
#include "http/cache_control.h"
#include "http/fields.h"

namespace ringside::cache {

// Who said how long a response is fresh.
enum class LifetimeSource {
  none,       // nobody: its lifetime is 0
  origin,     // the response: s-maxage, max-age or Expires, what RFC 9111 calls explicit
  rule,       // the route: `ttl_by_status` or `default_ttl`
  heuristic,  // we, from its Last-Modified (§4.2.2)
};

// What is known of a stored response's age and lifetime (RFC 9111 §4.2), and of what may be done
// with it once it is stale (§4.2.4).
struct Freshness {
  Seconds lifetime{0};
  Seconds initial_age{0};  // corrected_initial_age, §4.2.3
  TimePoint received;      // response_time, by Clock::resident_now
  LifetimeSource source = LifetimeSource::none;
  bool no_cache = false;         // §5.2.2.4: never without validation
  bool must_revalidate = false;  // is_never_stale of cache/staleness.h
  bool immutable = false;        // RFC 8246: does not change as long as it is fresh
  std::optional<Seconds> stale_while_revalidate;  // RFC 5861 §3; absent: nobody said
  std::optional<Seconds> stale_if_error;          // §4
  bool operator==(const Freshness&) const = default;
};

// When a request went out and its answer's head came.
struct ExchangeTimes {
  TimePoint requested;
  TimePoint received;
  // The latter by Clock::resident_now, for how long the answer has been kept; absent: the same.
  std::optional<TimePoint> resident = std::nullopt;

  [[nodiscard]] TimePoint resident_at() const noexcept { return resident.value_or(received); }
};

// The same exchange, if the answer is by so much older than its Age says.
[[nodiscard]] inline ExchangeTimes earlier(const ExchangeTimes& times, Milliseconds by) noexcept {
  return {times.requested - by, times.received - by, times.resident_at() - by};
}

// What a response says to us: the first of `rules.targeted` that is there, valid and not empty (RFC
// 9213 §2.2), else Cache-Control. Where the route does not heed the origin, only what protects
// somebody is left of it. no-cache and private with names count as without where we could not do
// without one of those fields. The names are views into `fields`.
[[nodiscard]] http::ResponseDirectives effective_directives(const http::Fields& fields,
                                                            const Rules& rules);

// RFC 9110 §15.1: the statuses whose responses may be stored and given without that anybody said
// how long they are fresh.
[[nodiscard]] bool is_heuristically_cacheable(int status) noexcept;

struct FreshnessInput {
  int status = 0;
  const http::Fields& fields;                  // of the response
  const http::ResponseDirectives& directives;  // its effective_directives
  ExchangeTimes times;
  const Rules& rules;
};
// As a shared cache reads it: s-maxage before max-age before Expires (RFC 9111 §4.2.1), then what
// the rules say, then a heuristic.
[[nodiscard]] Freshness freshness_of(const FreshnessInput& input);

// Which directive, field or rule gave a lifetime.
enum class LifetimeBy { nobody, s_maxage, max_age, expires, ttl_by_status, default_ttl, heuristic };
[[nodiscard]] LifetimeSource source_of(LifetimeBy by) noexcept;
// The one by which freshness_of() gives that answer its lifetime.
[[nodiscard]] LifetimeBy lifetime_by(const FreshnessInput& input);

// current_age of §4.2.3. `now`, here as in all that asks for how long something has been kept, is
// Clock::resident_now: a wall clock that is set back would make what is stored fresh again.
[[nodiscard]] Seconds age(const Freshness& freshness, TimePoint now) noexcept;
// What age() leaves out: less than a second.
[[nodiscard]] Milliseconds age_beyond(const Freshness& freshness, TimePoint now) noexcept;
// What is left of the lifetime; negative once stale.
[[nodiscard]] Seconds time_to_live(const Freshness& freshness, TimePoint now) noexcept;

}  // namespace ringside::cache
