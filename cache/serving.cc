#include "cache/serving.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string_view>

#include "base/hash.h"
#include "base/limits.h"

namespace ringside::cache {
namespace {

// Ages are rounded down, so what is as stale as the window is long may be a little staler.
bool is_within(Seconds staleness, Seconds window) noexcept { return staleness < window; }

// RFC 9111 §5.2.1.1, §5.2.1.3: what the client does not want, fresh or not.
bool is_unwanted(const http::RequestDirectives& request, Seconds current_age,
                 Seconds left) noexcept {
  return (request.max_age && current_age > *request.max_age) ||
         (request.min_fresh && left < *request.min_fresh);
}

// Where the origin failed. The RFC words a request's directives as preferences and forbids only
// what the response's forbid (§4.2.4), so this is our choice. A client that says what it takes
// knows why: it is told of the failure, and may ask again without. So no-cache excludes everything
// unvalidated (§5.2.1.4). max-age and min-fresh exclude what they exclude at other times, and what
// is stale, "unless the max-stale request directive is also present" (§5.2.1.1). max-stale is how
// stale at most (§5.2.1.2), whatever our own limit. Its own stale-if-error is just for this, and
// counts "regardless of other freshness information" (RFC 5861 §4).
bool may_be_given_after_failure(const Freshness& stored, const http::RequestDirectives& request,
                                Seconds window, TimePoint now) noexcept {
  if (stored.no_cache) return false;
  const Seconds current_age = age(stored, now);
  const Seconds left = stored.lifetime - current_age;
  const bool may_be_stale = !stored.must_revalidate;
  if (request.stale_if_error) {
    return left > Seconds{0} || (may_be_stale && is_within(-left, *request.stale_if_error));
  }
  if (request.no_cache || is_unwanted(request, current_age, left)) return false;
  if (left > Seconds{0}) return true;
  if (request.max_stale) return may_be_stale && -left <= *request.max_stale;
  return may_be_stale && !request.max_age && !request.min_fresh && is_within(-left, window);
}

std::uint64_t mixed(std::uint64_t key_hash, TimePoint received) noexcept {
  const std::array<std::uint64_t, 2> parts = {
      key_hash, static_cast<std::uint64_t>(received.time_since_epoch().count())};
  const auto bytes = std::bit_cast<std::array<char, sizeof(parts)>>(parts);
  return hash64({bytes.data(), bytes.size()});
}

}  // namespace

Verdict judge(const Freshness* stored, const http::RequestDirectives& request,
              TimePoint now) noexcept {
  if (stored == nullptr) return Verdict::absent;
  if (request.no_cache || stored->no_cache) return Verdict::must_validate;
  const Seconds current_age = age(*stored, now);
  const Seconds left = stored->lifetime - current_age;
  if (is_unwanted(request, current_age, left)) return Verdict::must_validate;
  if (left > Seconds{0}) return Verdict::fresh;
  if (stored->must_revalidate) return Verdict::must_validate;
  // What is staler than the client takes is not given for the origin's or the route's sake.
  if (request.max_stale && -left > *request.max_stale) return Verdict::must_validate;
  const bool window_counts = !request.max_age && !request.min_fresh;
  if (window_counts && is_within(-left, stored->stale_while_revalidate.value_or(Seconds{0}))) {
    return Verdict::stale_while_revalidating;
  }
  return request.max_stale ? Verdict::stale : Verdict::must_validate;
}

bool may_be_given_unreachable(const Freshness& stored, const http::RequestDirectives& request,
                              TimePoint now) noexcept {
  return may_be_given_after_failure(
      stored, request, stored.stale_if_error.value_or(limits::stale_unreachable_most), now);
}

bool may_be_given_on_error(const Freshness& stored, const http::RequestDirectives& request,
                           TimePoint now) noexcept {
  const bool is_said = stored.stale_if_error || request.stale_if_error;
  return is_said && may_be_given_after_failure(stored, request,
                                               stored.stale_if_error.value_or(Seconds{0}), now);
}

bool is_error_of_rfc5861(int status) noexcept {
  return status == 500 || status == 502 || status == 503 || status == 504;
}

// Of the life that was left when it came: else what comes old, from another cache in between, would
// be refreshed as soon as it is there, and come old again.
bool refreshes_early(const Freshness& stored, std::uint64_t key_hash, unsigned percent,
                     TimePoint now) noexcept {
  if (stored.no_cache || stored.immutable || time_to_live(stored, now) <= Seconds{0}) return false;
  const Milliseconds life = stored.lifetime - stored.initial_age;
  const Milliseconds window = life * std::min(percent, 100U) / 100;
  if (window <= Milliseconds{0}) return false;
  const auto jitter = mixed(key_hash, stored.received) % static_cast<std::uint64_t>(window.count());
  const Milliseconds begin = life - window + Milliseconds{jitter};
  return now - stored.received >= begin;
}

}  // namespace ringside::cache
