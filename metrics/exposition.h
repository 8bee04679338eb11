#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/process.h"
#include "metrics/totals.h"

namespace ringside::metrics {

class Sheet;

// What a process tells of itself beside its components.
struct OperationFigures {
  std::uint64_t reloads_applied = 0;
  std::uint64_t reloads_refused = 0;
  bool last_reload_successful = true;  // also where there was none
  std::uint64_t log_dropped = 0;       // lines
  struct AccessLog {
    std::uint64_t written = 0;   // lines
    std::uint64_t dropped = 0;   // requests without one
    std::uint64_t failures = 0;  // of writing or opening
  };
  std::optional<AccessLog> access_log;  // absent: none is written
  struct Discovery {
    bool in_touch = false;                     // with the source of the members
    double last_answer_timestamp_seconds = 0;  // of it, since the Unix epoch; 0: never yet
    std::uint64_t topologies = 0;              // made of what it told
    std::uint64_t read_again = 0;              // times, since a peer spoke of an unknown one
    std::uint64_t replicas_ready = 0;          // members that it calls ready
    std::vector<std::pair<std::string, std::uint64_t>> failures;  // by reason
  };
  std::optional<Discovery> discovery{};  // absent: the members are listed
};

// The Prometheus text exposition (version 0.0.4) of all sheets and of this process: each family
// once, counters summed over cores at the time of the call. The names are those of docs/metrics.md.
// Thread-safe.
[[nodiscard]] std::string expose(const std::vector<const Sheet*>& sheets);
// The same of what sheets told already.
[[nodiscard]] std::string expose(const std::vector<Totals>& totals,
                                 const OperationFigures& operation);

// The same as a function of values. Where series of several totals have equal labels they are one
// series, and its counts are added up: the replicas of one process give one row for role=cache in
// families without the label shard.
[[nodiscard]] std::string expose(const std::vector<Totals>& totals,
                                 const std::optional<ProcessFigures>& process,
                                 std::string_view version,
                                 const std::optional<OperationFigures>& operation = {});

inline constexpr std::string_view exposition_content_type =
    "text/plain; version=0.0.4; charset=utf-8";

}  // namespace ringside::metrics
