#pragma once

#include "cache/request_state.h"
#include "cache/serving.h"

namespace ringside::cache {

// Whether what is given to the request is to be fetched anew meanwhile. `verdict`: judge() of it.
[[nodiscard]] bool is_refresh_due(const RequestState& state, const Freshness& freshness,
                                  Verdict verdict);

// Fetches anew what the request was answered with, while nobody waits for it: stale within
// stale-while-revalidate (RFC 5861 §3), or soon to be. Done by one request of a key at a time, and
// for at most limits::background_refreshes keys of a core; beyond that it is left to a later
// request. Of what stands in slices, the first: that one tells how long all is fresh.
void refresh_in_background(const RequestState& state);

}  // namespace ringside::cache
