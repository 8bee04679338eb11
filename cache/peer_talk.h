#pragma once

#include "base/task.h"
#include "cache/core_state.h"
#include "http/head.h"
#include "http/response.h"

namespace ringside::cache {

// Peers are asked what they hold, and told that we hold something else than before: whenever
// tier::Authority has somebody to be asked, until the core stops. On one core of a replica.
//
//   1. We send our version, the version of theirs that we know, and since when our gifts count.
//   2. The peer notes the last, and then answers with its version, and with its holdings where we
//      do not know them.
//   3. It sees that our version is new to it, and asks us likewise.
Task<void> talk_to_peers(CoreState& core);

// Step 2. `asked`: of the question, internal::holdings among them.
void answer_holdings(CoreState& core, const http::Fields& asked, http::Response& response);

}  // namespace ringside::cache
