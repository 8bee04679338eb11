#pragma once

#include <optional>

#include "base/clock.h"
#include "http/cache_control.h"
#include "http/fields.h"

namespace ringside::cache {

// What is known of a stored response's age and lifetime (RFC 9111 §4.2).
struct Freshness {
  Seconds lifetime{0};
  Seconds initial_age{0};  // corrected_initial_age, §4.2.3
  TimePoint received;      // response_time
  bool has_explicit_lifetime = false;
  bool no_cache = false;         // §5.2.2.4: never without validation
  bool must_revalidate = false;  // §5.2.2.2, §5.2.2.8, and s-maxage (§5.2.2.10): never stale
};

// When a request went out and its answer's head came.
struct ExchangeTimes {
  TimePoint requested;
  TimePoint received;
};

// From a response's fields, as a shared cache reads them: s-maxage before max-age before Expires
// (§4.2.1). Without any of them the lifetime is 0.
[[nodiscard]] Freshness freshness_of(const http::Fields& fields,
                                     const http::ResponseDirectives& directives,
                                     const ExchangeTimes& times);

// current_age of §4.2.3.
[[nodiscard]] Seconds age(const Freshness& freshness, TimePoint now) noexcept;
// What is left of the lifetime; negative once stale.
[[nodiscard]] Seconds time_to_live(const Freshness& freshness, TimePoint now) noexcept;

// What may be done with a stored response for a request (§4).
enum class Verdict {
  absent,         // nothing is stored
  fresh,          // may be given as it is
  stale,          // is stale and may be given, since the request allows it (max-stale)
  must_validate,  // only after the origin has confirmed it
};
[[nodiscard]] Verdict judge(const Freshness* stored, const http::RequestDirectives& request,
                            TimePoint now) noexcept;

}  // namespace ringside::cache
