#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/task.h"
#include "http/purge_target.h"
#include "http/response.h"
#include "sidecar/core_state.h"
#include "sidecar/purge_report.h"

namespace ringside::sidecar {

// Asks every replica to purge it: each shard and country may lie on another one. All replicas at
// once, within the request deadline.
Task<PurgeReport> purge_replicas(CoreState& state, const Snapshot& snapshot,
                                 const http::PurgeTarget& purged);

// 200 where every replica confirmed, else 502 with who did not. Where nothing was removed of the
// target, it says what may be wrong with it.
void make_purge_response(http::Response& out, const PurgeReport& report,
                         const http::PurgeTarget& purged, TimePoint now);

// A line of the log: what was purged, how much of it there was, `by` what it was asked for, who did
// not confirm it, and how many purges before it have no line.
void log_purge(const http::PurgeTarget& purged, const PurgeReport& report, std::string_view by,
               std::uint64_t left_out = 0);

// What is most often wrong with a target of which nothing is stored.
[[nodiscard]] std::string_view why_nothing_was_purged(const http::PurgeTarget& purged) noexcept;

}  // namespace ringside::sidecar
