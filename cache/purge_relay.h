#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/limits.h"
#include "base/task.h"
#include "cache/purge_report.h"
#include "cache/transaction.h"
#include "http/purge_target.h"

namespace ringside::cache {

// A purge, or what an unsafe method has made invalid, goes on to those that the sidecar may not
// know: the replicas that were members and may hold something still, and all where it follows
// another topology than we do. Who takes buckets takes nothing of one that has not heard of it
// (tier/purges.h). To be called when it is applied here: who asks waits, and others wait for no
// more than that. Returns when they have confirmed it, or after a few tries, or when `patience` is
// over: then the names of those who have not, who are asked soon whether they are still there.
// Nothing is done where the request is no such, or was relayed itself.
Task<std::vector<std::string>> relay(const Transaction& transaction, Milliseconds patience);
// As long as all tries may take.
inline constexpr Milliseconds patience_of_all_tries =
    limits::relay_tries * (limits::invalidation_timeout + limits::relay_pause);

// What a PURGE means.
[[nodiscard]] http::PurgeTarget purged_by(const Transaction& transaction);

// A purge that is asked of this replica alone, by a client or its admin page. It goes on to all
// peers, under a number of our own, so that what it removes does not come back from them. Those
// whom the report names as missing empty their stores when they hear of us (OwnPurges).
Task<PurgeReport> purge_everywhere(CoreState& core, http::PurgeTarget purged);

// Whether who asks tells other members what its request makes invalid, and they pass it on. A
// sidecar that follows another topology may know of no other replica, and then tells nobody. To be
// asked before the request's content is pulled.
[[nodiscard]] bool is_told_by_sidecar(const Transaction& transaction);

// Where it is not: what an origin's answer to us has made invalid here goes on likewise.
Task<void> tell_peers(CoreState& core, const std::string& host,
                      const std::vector<std::string>& targets);

// Whether the sidecar that asks knows of no other replica, as we don't: then it tells no number.
[[nodiscard]] bool is_asked_as_only_member(const Transaction& transaction);

}  // namespace ringside::cache
