#pragma once

#include "cache/core_state.h"
#include "cache/inquiry.h"
#include "http1/exchange.h"

namespace ringside::cache {

// Asks one of the route's origins, on failure the next where that is allowed, and counts it all. On
// success the exchange's head is read. An Error of our own says that no origin was asked: they are
// given no more requests at the moment (see http::OriginGate). `time_allowed`: to the answer's
// head.
Task<Result<void>> ask_origin(CoreState& state, const Settings& settings, const Inquiry& inquiry,
                              Milliseconds time_allowed, http::Exchange& exchange,
                              const http::OutgoingRequest& outgoing);

}  // namespace ringside::cache
