#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "cache/freshness.h"
#include "http/cache_control.h"

namespace ringside::cache {

// What may be done with a stored response for a request (RFC 9111 §4).
enum class Verdict {
  absent,                    // nothing is stored
  fresh,                     // may be given as it is
  stale,                     // is stale and may be given, since the request allows it (max-stale)
  stale_while_revalidating,  // likewise, since it is not stale for long; somebody refreshes it now
  must_validate,             // only after the origin has confirmed it
};
[[nodiscard]] Verdict judge(const Freshness* stored, const http::RequestDirectives& request,
                            TimePoint now) noexcept;

// What a verdict is given by: the first that decides.
enum class Grounds {
  nothing,                 // is stored
  request_no_cache,        // the request's no-cache
  response_no_cache,       // the response's
  request_max_age,         // it is older than the request wants
  request_min_fresh,       // it is not fresh for as long as the request wants
  lifetime,                // something is left of it
  request_max_stale,       // nothing is left; so stale the request takes it
  stale_while_revalidate,  // nothing is left; the response or the route lets it be given
  never_stale,             // nothing is left; see is_never_stale of cache/staleness.h
  stale,                   // nothing is left, and nobody lets it be given
};
// The same, with what decided.
struct Judgement {
  Verdict verdict = Verdict::absent;
  Grounds grounds = Grounds::nothing;
};
[[nodiscard]] Judgement judgement(const Freshness* stored, const http::RequestDirectives& request,
                                  TimePoint now) noexcept;

// The directives of a request as far as the route heeds them (Rules::client_no_cache): what a
// client asks of the age of what is stored counts for nothing where the origin was asked not long
// ago.
[[nodiscard]] http::RequestDirectives heeded(http::RequestDirectives asked,
                                             std::optional<Seconds> client_no_cache,
                                             const Freshness& stored, TimePoint now) noexcept;

// The two below are for what must_validate was said of, once the origin was asked in vain. What
// says no-cache is never given then, and what says must-revalidate, proxy-revalidate or s-maxage
// never once it is stale (§4.2.4); neither is what the request's own directives exclude.

// No origin answered: we are disconnected (§4.2.4). For as long as stale-if-error says, else
// limits::stale_unreachable_most.
[[nodiscard]] bool may_be_given_unreachable(const Freshness& stored,
                                            const http::RequestDirectives& request,
                                            TimePoint now) noexcept;

// An origin answered with an error of RFC 5861 §4. That is an answer, and is passed on, unless
// stale-if-error, of the response, the route or the request, says otherwise.
[[nodiscard]] bool may_be_given_on_error(const Freshness& stored,
                                         const http::RequestDirectives& request,
                                         TimePoint now) noexcept;
// 500, 502, 503, 504.
[[nodiscard]] bool is_error_of_rfc5861(int status) noexcept;

// Whether a fresh response is refreshed beforehand, so that nobody has to wait once it is stale:
// within the last `percent` of the life that it had left when it came. Each response begins at its
// own point of that time, which follows from its key and from when it came: what was stored
// together is not refreshed together.
[[nodiscard]] bool refreshes_early(const Freshness& stored, std::uint64_t key_hash,
                                   unsigned percent, TimePoint now) noexcept;

}  // namespace ringside::cache
