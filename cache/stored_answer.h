#pragma once

#include "cache/request_state.h"

namespace ringside::cache {

// Answers from what is stored, which is enough for the request (see is_enough): the whole, parts of
// it, 304 or 416.
Task<void> answer_stored(RequestState& state, StoredPointer stored);

}  // namespace ringside::cache
