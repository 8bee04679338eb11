#pragma once

#include <string>

#include "base/task.h"
#include "http/response.h"
#include "sidecar/core_state.h"
#include "sidecar/purge_report.h"

namespace ringside::sidecar {

// Asks every replica to purge the URI: each shard and country of it may lie on another one. Target
// "*" purges everything of any host. All replicas at once, within the request deadline.
Task<PurgeReport> purge_replicas(CoreState& state, const Snapshot& snapshot,
                                 const std::string& host, const std::string& target);

// 200 where every replica confirmed, else 502 with who did not.
void make_purge_response(http::Response& out, const PurgeReport& report, TimePoint now);

}  // namespace ringside::sidecar
