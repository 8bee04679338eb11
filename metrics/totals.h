#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "metrics/outcome.h"

namespace ringside::metrics {

enum class Role { sidecar, cache };

// How a request to an origin ended: an HTTP status class, or no answer.
enum class OriginAnswer { status_2xx, status_3xx, status_4xx, status_5xx, failed };
inline constexpr std::size_t origin_answer_count = 5;
// Of a final status.
[[nodiscard]] constexpr OriginAnswer origin_answer(int status) noexcept {
  if (status < 300) return OriginAnswer::status_2xx;
  if (status < 400) return OriginAnswer::status_3xx;
  return status < 500 ? OriginAnswer::status_4xx : OriginAnswer::status_5xx;
}

// How a sidecar's probe of a replica ended.
enum class ProbeAnswer { answered, failed };
inline constexpr std::size_t probe_answer_count = 2;

inline constexpr std::size_t error_source_count = 4;
inline constexpr std::size_t error_kind_count = static_cast<std::size_t>(ErrorKind::internal) + 1;
inline constexpr std::size_t country_count = 26 * 26;  // AA … ZZ

// Upper bounds of the duration histogram's buckets, 50 µs … 10 s; one more bucket has none.
inline constexpr std::array<std::uint64_t, 17> duration_bounds_us = {
    50,     100,     250,     500,     1'000,     2'500,     5'000,     10'000,    25'000,
    50'000, 100'000, 250'000, 500'000, 1'000'000, 2'500'000, 5'000'000, 10'000'000};
inline constexpr std::size_t duration_bucket_count = duration_bounds_us.size() + 1;

// The figures of a replica's store at the time of a scrape.
struct StoreFigures {
  std::uint64_t entries = 0;
  std::uint64_t used_bytes = 0;
  std::uint64_t limit_bytes = 0;
  std::uint64_t evictions = 0;  // counter
  std::uint64_t flights = 0;    // in progress
};

// How a component spares its origins, all of them together, at the time of a scrape. What is not
// said to be of now counts since the start.
struct OriginFigures {
  std::uint64_t queued = 0;  // requests that wait now
  std::uint64_t in_use = 0;  // requests that origins work on now
  std::uint64_t refused_queue_full = 0;
  std::uint64_t refused_queue_timeout = 0;
  std::uint64_t refused_circuit_open = 0;
  std::uint64_t circuits_opened = 0;
  std::uint64_t circuits_open = 0;  // origins that are not asked now, or only by a probe
};

// The topology that a component follows.
struct TopologyFigures {
  std::uint64_t version = 0;
  std::size_t replicas = 0;
  std::string id;  // 32 hexadecimal digits
};

using OutcomeSums = std::array<std::uint64_t, outcome_count>;       // indexed by Outcome
using ErrorKindSums = std::array<std::uint64_t, error_kind_count>;  // indexed by ErrorKind

// All that one component had counted at some moment, summed over its cores. Each figure is exact
// and never goes back between two readings; figures that belong together may be a few requests
// apart, because the cores go on counting while they are read.
struct Totals {
  struct Shard {
    std::string name;
    OutcomeSums requests{};
    std::uint64_t ejections = 0;
    std::uint64_t cores_without = 0;  // that have it ejected now
    std::uint64_t invalidations_failed = 0;
  };
  struct Durations {
    std::array<std::uint64_t, duration_bucket_count> buckets{};  // each its own, not cumulative
    std::uint64_t sum_us = 0;
  };

  Role role = Role::sidecar;
  std::string name;           // the replica's; empty for a sidecar
  std::vector<Shard> shards;  // the first is `name`
  std::vector<OutcomeSums> countries = std::vector<OutcomeSums>(country_count);
  std::array<Durations, outcome_count> durations{};
  OutcomeSums response_bytes{};
  std::array<std::uint64_t, origin_answer_count> origin_requests{};
  // By source, of whatever kind; and the same by source and kind, but for those of origins that
  // were followed by another try: why they failed is not kept.
  std::array<std::uint64_t, error_source_count> errors{};
  std::array<ErrorKindSums, error_source_count> errors_by_kind{};
  std::uint64_t errors_failed_over = 0;
  std::array<std::uint64_t, probe_answer_count> probes{};
  std::uint64_t retries = 0;
  std::uint64_t connections = 0;
  std::uint64_t connections_open = 0;
  std::optional<TopologyFigures> topology;
  std::optional<StoreFigures> store;
  std::optional<OriginFigures> origins;
};

}  // namespace ringside::metrics
