#pragma once

#include <string>
#include <vector>

#include "base/task.h"
#include "cache/transaction.h"

namespace ringside::cache {

// A purge, or what an unsafe method has made invalid, goes on to those that the sidecar may not
// know: the replicas that were members and may hold something still, and all where it follows
// another topology than we do. Who takes buckets takes nothing of one that has not heard of it
// (tier/purges.h). Returns when they have confirmed it, or after a few tries: then the names of
// those who have not. Nothing is done where the request is no such, or was relayed itself.
Task<std::vector<std::string>> relay(const Transaction& transaction);

// Likewise what an origin's answer to us has made invalid here, to those that were members, under a
// number of our own: a sidecar that knows of no other replica tells nobody.
Task<void> tell_leavers(CoreState& core, const std::string& host,
                        const std::vector<std::string>& targets);

}  // namespace ringside::cache
