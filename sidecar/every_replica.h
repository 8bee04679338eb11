#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/task.h"
#include "hop/upstream.h"
#include "shard/topology.h"
#include "sidecar/core_state.h"

namespace ringside::sidecar {

// One of the replicas, which is told something else.
struct ToOne {
  shard::MemberIndex member;
  std::string_view fields;  // in place of the request's
};

struct Confirmation {
  std::size_t removed = 0;                 // stored responses
  std::vector<std::string> not_relayed{};  // whom it has told in vain: internal::not_relayed
};

// Sends the same request, with the number `purge`, one without a body that makes it forget
// something, to every replica. In the order of the members: what each has removed, or why it has
// not confirmed that with 200 and internal::purged. Who has not, but for those who answer that they
// will not, has missed it (see Missed) before this returns.
//
// Waits until the deadline at most. All are asked at once, and one that does not answer a probe
// either is given up. It is not waited for again: who is ejected, or has missed something and was
// not told so yet, is not asked at all, since it will forget everything.
Task<std::vector<Result<Confirmation>>> ask_every_replica(
    CoreState& state, const Snapshot& snapshot, const hop::UpstreamRequest& request,
    const tier::PurgeNumber& purge, SteadyPoint deadline,
    const std::optional<ToOne>& to_one = std::nullopt);

}  // namespace ringside::sidecar
