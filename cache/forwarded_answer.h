#pragma once

#include "cache/request_state.h"
#include "http1/exchange.h"

namespace ringside::cache {

// Passes the request on as it is and its answer back. What the answer says of stored responses is
// heeded: of a successful unsafe method that they are invalid (RFC 9111 §4.4), of HEAD that they
// are or are not what the origin has (§4.3.5).
Task<void> pass_on(RequestState& state);

// The answer of an exchange that is for this request alone, as it comes.
Task<void> answer_from_exchange(RequestState& state, http::Exchange& exchange);

}  // namespace ringside::cache
