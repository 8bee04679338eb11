#pragma once

#include "base/clock.h"
#include "cache/freshness.h"
#include "http/cache_control.h"

namespace ringside::cache {

// When something stale might be given.
enum class Occasion {
  at_once,      // before anybody is asked
  unreachable,  // no origin answered: we are disconnected (RFC 9111 §4.2.4)
  error,        // an origin answered with an error of RFC 5861 §4
  ever,         // any of these, by what the response says
};

// What says that it is never given stale (RFC 9111 §5.2.2.2, §5.2.2.8, §5.2.2.10).
[[nodiscard]] bool is_never_stale(const http::ResponseDirectives& directives) noexcept;

// Whether a response may be given so long past its lifetime: all that RFC 9111 §4.2.4 and RFC 5861
// say of it is decided here. `staleness` is not negative.
[[nodiscard]] bool may_be_stale(const Freshness& stored, const http::RequestDirectives& request,
                                Occasion occasion, Seconds staleness) noexcept;

// Whether it is the response or the route that lets it be, not a wish of the request's alone.
[[nodiscard]] bool is_in_window(const Freshness& stored, const http::RequestDirectives& request,
                                Occasion occasion, Seconds staleness) noexcept;

}  // namespace ringside::cache
