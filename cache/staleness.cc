#include "cache/staleness.h"

#include <algorithm>

#include "base/limits.h"

namespace ringside::cache {
namespace {

// What came more than a day stale, or was never meant to be fresh (max-age=0), would in the store
// only take the place of others.
Seconds longest_window(const Freshness& stored) noexcept {
  const bool was_fresh = stored.lifetime > Seconds{0};
  return std::max({stored.stale_while_revalidate.value_or(Seconds{0}),
                   stored.stale_if_error.value_or(Seconds{0}),
                   was_fresh ? limits::stale_unreachable_most : Seconds{0}});
}

Seconds window(const Freshness& stored, Occasion occasion) noexcept {
  switch (occasion) {
    case Occasion::at_once:
      return stored.stale_while_revalidate.value_or(Seconds{0});
    case Occasion::unreachable:
      return stored.stale_if_error.value_or(limits::stale_unreachable_most);
    case Occasion::error:
      return stored.stale_if_error.value_or(Seconds{0});
    case Occasion::ever:
      return longest_window(stored);
  }
  return Seconds{0};
}

// Ages are rounded down, so what is as stale as the window is long may be a little staler.
bool is_within(Seconds staleness, Seconds window) noexcept { return staleness < window; }

}  // namespace

bool is_never_stale(const http::ResponseDirectives& directives) noexcept {
  return directives.must_revalidate || directives.proxy_revalidate || directives.s_maxage;
}

// The RFC words a request's directives as preferences and forbids only what the response's forbid,
// so the rest is our choice. A client that says what it takes knows why: where the origin fails it
// is told of the failure, and may ask again without. So no-cache excludes everything unvalidated
// (§5.2.1.4). max-stale is how stale at most (§5.2.1.2): what is staler is not given for the
// origin's or the route's sake, nor is our own limit one to what is not. Its own stale-if-error is
// just for failures, and counts "regardless of other freshness information" (RFC 5861 §4).
bool may_be_stale(const Freshness& stored, const http::RequestDirectives& request,
                  Occasion occasion, Seconds staleness) noexcept {
  if (stored.no_cache || stored.must_revalidate) return false;
  const bool failed = occasion == Occasion::unreachable || occasion == Occasion::error;
  if (failed && request.stale_if_error) return is_within(staleness, *request.stale_if_error);
  if (request.no_cache) return false;
  if (request.max_stale) return staleness <= *request.max_stale;
  return is_in_window(stored, request, occasion, staleness);
}

// max-age and min-fresh exclude what is stale, "unless the max-stale request directive is also
// present" (§5.2.1.1).
bool is_in_window(const Freshness& stored, const http::RequestDirectives& request,
                  Occasion occasion, Seconds staleness) noexcept {
  return !request.max_age && !request.min_fresh && is_within(staleness, window(stored, occasion));
}

}  // namespace ringside::cache
