#pragma once

#include "base/task.h"
#include "cache/core_state.h"

namespace ringside::cache {

// The taker's half of buckets that move: asks each peer that has something for us for one batch
// after the other (cache/bucket_source.h), stores what comes, and takes the buckets over that were
// given with it; until the core stops. On one core of a replica. What moves is as old as it was,
// and what a purge may have meant is not stored.
Task<void> move_buckets(CoreState& core);

}  // namespace ringside::cache
