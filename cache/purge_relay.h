#pragma once

#include <string>
#include <vector>

#include "cache/transaction.h"

namespace ringside::cache {

// A purge, or what an unsafe method has made invalid, goes on to the replicas that were members and
// may hold something still: sidecars do not know them any more, and who takes buckets from them
// takes nothing of one that has not heard of it (tier/purges.h). In the background; a few times
// where they do not confirm it. Nothing, where the request is no such, or was relayed itself.
void relay_to_leavers(const Transaction& transaction);

// Likewise what an origin's answer to us has made invalid here, under a number of our own: a
// sidecar that knows of no other replica tells nobody.
void tell_leavers(CoreState& core, const std::string& host,
                  const std::vector<std::string>& targets);

}  // namespace ringside::cache
