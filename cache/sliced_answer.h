#pragma once

#include "cache/request_state.h"

namespace ringside::cache {

// Answers a GET on a route with `slice`: the origin is asked for parts of that size, each is stored
// by itself, and only those are fetched that the request wants, so that a seek does not pull the
// whole file.
//
// The first slice stands under the request's own key and is a part like others: it tells the length
// and the entity tag, how long all is fresh, and is what is validated. The others stand under keys
// that name that tag (see slice_key) and are good for as long as it is. Where the origin gives the
// whole instead, or no strong tag, the answer is made as on other routes.
http::Task<void> answer_sliced(RequestState& state);

}  // namespace ringside::cache
