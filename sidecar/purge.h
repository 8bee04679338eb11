#pragma once

#include <string>
#include <string_view>

#include "base/task.h"
#include "sidecar/core_state.h"
#include "sidecar/purge_report.h"

namespace ringside::sidecar {

// Asks every replica to purge the URI: each shard and country of it may lie on another one. Target
// "*" purges everything of any host. All replicas at once, within the request deadline.
Task<PurgeReport> purge_replicas(CoreState& state, const Snapshot& snapshot,
                                 const std::string& host, const std::string& target);

// 200 where every replica confirmed, else 502 with who did not.
[[nodiscard]] std::string purge_response(const PurgeReport& report, bool keep_alive);

}  // namespace ringside::sidecar
