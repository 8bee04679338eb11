#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "metrics/outcome.h"

namespace ringside::replay {

// The first member of Cache-Status (RFC 9211 §2), which is the replica's, the cache nearest to the
// origin; and how the request was answered, by it or by a cache before it.
struct ServedBy {
  std::string cache;
  metrics::Outcome outcome = metrics::Outcome::miss;
};

// Nullopt where there is no Cache-Status, or none that follows the grammar.
[[nodiscard]] std::optional<ServedBy> parse_served_by(std::string_view cache_status);

// True where the answer is the tier's own making: Proxy-Status (RFC 9209) names an error, because
// an origin or replica could not answer, or the sidecar refused the request.
[[nodiscard]] bool is_tier_error(int status, const std::optional<ServedBy>& served,
                                 std::string_view proxy_status);

// What such an answer says of itself: `502 connection_refused (cache-3 …)`, by its status, and by
// Proxy-Status its error and the details, where it tells them.
[[nodiscard]] std::string tier_error_text(int status, std::string_view proxy_status);

// How one request went. A run keeps one for each request.
struct Reply {
  static constexpr std::uint16_t no_cache = 0xffff;

  std::uint64_t body_bytes = 0;
  std::uint32_t latency_us = 0;             // from sending to the last byte
  std::uint16_t status = 0;                 // 0: no answer
  std::uint16_t cache = no_cache;           // who served it: an index of Journal::caches
  std::optional<metrics::Outcome> outcome;  // none: Cache-Status was absent
  std::optional<ErrorKind> failure;         // why there was no whole answer
  bool tier_error = false;                  // the answer was an error of the tier's own

  [[nodiscard]] bool is_error() const noexcept { return failure.has_value() || tier_error; }
  [[nodiscard]] bool is_hit() const noexcept {
    return !is_error() && outcome && metrics::is_hit(*outcome);
  }
};

// How a run went. replies[i] belongs to the i-th request.
struct Journal {
  std::vector<Reply> replies;
  std::vector<std::string> caches;              // names that served, in order of appearance
  std::map<std::string, std::uint64_t> errors;  // by status and reason, or why there was no answer

  // Bounded: what comes after limits::replay_caches different ones is counted as others.
  void count_error(const std::string& text);
};

}  // namespace ringside::replay
