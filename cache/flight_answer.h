#pragma once

#include "cache/request_state.h"
#include "cache/shared_fetch.h"

namespace ringside::cache {

// Answers from a flight that streams: the head, then its bytes as they come, or those of them that
// the request wants.
Task<void> answer_from_flight(RequestState& state, SharedFetch& fetch);

}  // namespace ringside::cache
