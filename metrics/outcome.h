#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace ringside::metrics {

// How a request was answered; the label `result`. One value is counted for a request, by each
// component that answered it: the sidecar counts what its replica reported.
//
//   hit          from the store, fresh
//   miss         the origin was asked for this request and sent the answer's body, whether or
//                not it could be stored; also a validation that the origin answered with a
//                new body
//   stale        from the store, not fresh and not validated (RFC 5861, RFC 9111 §4.2.4)
//   revalidated  from the store, after the origin had answered 304 (RFC 9111 §4.3)
//   peer_fill    from the store or the flight of the bucket's holder, without a fetch from the
//                origin of its own. Where the holder had to fetch it, the request is a
//                miss
//   collapsed    from a fetch that an earlier request had begun
//   bypass       passed on without asking the store: an unsafe method, or a rule that says so
//   error        answered by ourselves, because nobody else could
enum class Outcome { hit, miss, stale, revalidated, peer_fill, collapsed, bypass, error };
inline constexpr std::size_t outcome_count = 8;

[[nodiscard]] std::string_view name(Outcome outcome) noexcept;
[[nodiscard]] std::optional<Outcome> outcome_from(std::string_view text) noexcept;

// The hit rate, here and in docs/metrics.md, the replay tool and the README, is
//   requests with is_hit / requests with counts_for_hit_rate.
// A hit is an answer whose body the origin did not send for this request. With room for everything
// and no failures it equals the share of cacheable requests whose key had been asked for before.
[[nodiscard]] constexpr bool is_hit(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::hit:
    case Outcome::stale:
    case Outcome::revalidated:
    case Outcome::peer_fill:
    case Outcome::collapsed:
      return true;
    case Outcome::miss:
    case Outcome::bypass:
    case Outcome::error:
      return false;
  }
  return false;
}

// Whether the cache had a say: neither what was never asked of it nor what nobody could answer.
[[nodiscard]] constexpr bool counts_for_hit_rate(Outcome outcome) noexcept {
  return is_hit(outcome) || outcome == Outcome::miss;
}

}  // namespace ringside::metrics
