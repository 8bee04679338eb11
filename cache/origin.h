#pragma once

#include "cache/core_state.h"
#include "cache/inquiry.h"
#include "http/exchange.h"

namespace ringside::cache {

// Asks the route's origin and counts it. On success the exchange's head is read.
http::Task<Result<void>> ask_origin(CoreState& state, const Settings& settings,
                                    const Inquiry& inquiry, http::Exchange& exchange,
                                    const http::OutgoingRequest& outgoing);

}  // namespace ringside::cache
