#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/task.h"
#include "hop/upstream.h"
#include "shard/topology.h"
#include "sidecar/core_state.h"

namespace ringside::sidecar {

// Sends the same request, one without a body that makes it forget something, to every replica but
// `but_not`. In the order of the members: how many stored responses each has removed (0 for
// `but_not`), or why it has not confirmed that with 200 and internal::purged. Waits until the
// deadline at most: all are asked at once, so one that is silent costs it once, and those behind it
// nothing. Replicas that are ejected are asked, too: they may have come back.
Task<std::vector<Result<std::size_t>>> ask_every_replica(
    CoreState& state, const Settings& settings, const hop::UpstreamRequest& request,
    SteadyPoint deadline, std::optional<shard::MemberIndex> but_not = std::nullopt);

}  // namespace ringside::sidecar
