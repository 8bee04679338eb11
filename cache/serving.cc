#include "cache/serving.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/hash.h"
#include "cache/staleness.h"

namespace ringside::cache {
namespace {

// RFC 9111 §5.2.1.1, §5.2.1.3: what the client does not want, fresh or not.
std::optional<Grounds> unwanted_by(const http::RequestDirectives& request, Seconds current_age,
                                   Seconds left) noexcept {
  if (request.max_age && current_age > *request.max_age) return Grounds::request_max_age;
  if (request.min_fresh && left < *request.min_fresh) return Grounds::request_min_fresh;
  return std::nullopt;
}

// A request's stale-if-error stands before all else that it says.
bool may_be_given_after_failure(const Freshness& stored, const http::RequestDirectives& request,
                                Occasion occasion, TimePoint now) noexcept {
  if (stored.no_cache) return false;
  const Seconds current_age = age(stored, now);
  const Seconds left = stored.lifetime - current_age;
  const bool is_refused = request.no_cache || unwanted_by(request, current_age, left);
  if (is_refused && !request.stale_if_error) return false;
  return left > Seconds{0} || may_be_stale(stored, request, occasion, -left);
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
  return judgement(stored, request, now).verdict;
}

Judgement judgement(const Freshness* stored, const http::RequestDirectives& request,
                    TimePoint now) noexcept {
  using enum Verdict;
  if (stored == nullptr) return {absent, Grounds::nothing};
  if (request.no_cache) return {must_validate, Grounds::request_no_cache};
  if (stored->no_cache) return {must_validate, Grounds::response_no_cache};
  const Seconds current_age = age(*stored, now);
  const Seconds left = stored->lifetime - current_age;
  if (const auto grounds = unwanted_by(request, current_age, left)) {
    return {must_validate, *grounds};
  }
  if (left > Seconds{0}) return {fresh, Grounds::lifetime};
  if (!may_be_stale(*stored, request, Occasion::at_once, -left)) {
    return {must_validate, stored->must_revalidate ? Grounds::never_stale : Grounds::stale};
  }
  return is_in_window(*stored, request, Occasion::at_once, -left)
             ? Judgement{stale_while_revalidating, Grounds::stale_while_revalidate}
             : Judgement{stale, Grounds::request_max_stale};
}

http::RequestDirectives heeded(http::RequestDirectives asked,
                               std::optional<Seconds> client_no_cache, const Freshness& stored,
                               TimePoint now) noexcept {
  if (client_no_cache && now - stored.received >= *client_no_cache) return asked;
  asked.no_cache = false;
  asked.max_age.reset();
  asked.min_fresh.reset();
  return asked;
}

bool may_be_given_unreachable(const Freshness& stored, const http::RequestDirectives& request,
                              TimePoint now) noexcept {
  return may_be_given_after_failure(stored, request, Occasion::unreachable, now);
}

bool may_be_given_on_error(const Freshness& stored, const http::RequestDirectives& request,
                           TimePoint now) noexcept {
  return (stored.stale_if_error || request.stale_if_error) &&
         may_be_given_after_failure(stored, request, Occasion::error, now);
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
