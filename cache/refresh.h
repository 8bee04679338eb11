#pragma once

#include "cache/transaction.h"

namespace ringside::cache {

// Fetches anew what the request was answered with, while nobody waits for it: stale within
// stale-while-revalidate (RFC 5861 §3), or soon to be. Done by one request of a key at a time, and
// for at most limits::background_refreshes keys of a core; beyond that it is left to a later
// request. Of what stands in slices, the first: that one tells how long all is fresh.
void refresh_in_background(const Transaction& transaction);

}  // namespace ringside::cache
