#pragma once

#include <optional>

#include "base/task.h"
#include "http/head.h"
#include "shard/topology.h"
#include "sidecar/core_state.h"
#include "sidecar/decision.h"

namespace ringside::sidecar {

// What an unsafe method's answer makes invalid (http::invalidated_targets) is made to be forgotten
// wherever it may be stored: by every replica, as each shard key and country of a URI may lie on
// another one, but for `answered_by`, which has done so by itself, and by this sidecar's near
// caches. To be waited for before the client sees the answer. Takes limits::invalidation_timeout at
// most; replicas that have not confirmed by then are counted, and may give the old answers for as
// long as those are fresh.
Task<void> invalidate_elsewhere(CoreState& state, const Snapshot& snapshot,
                                const Decision& decision, const http::ResponseHead& answer,
                                std::optional<shard::MemberIndex> answered_by);

}  // namespace ringside::sidecar
