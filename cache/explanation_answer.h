#pragma once

#include "base/error.h"
#include "cache/decision.h"
#include "cache/transaction.h"
#include "http/cache_control.h"
#include "http/response.h"

namespace ringside::cache {

// Where a member asks what would be done with a request (internal::explain), makes that request of
// the one that asks. An Error: it is none that can be explained.
[[nodiscard]] Result<void> begin_explaining(Transaction& transaction);

// The answer: the JSON of the Explanation. `asked`: the request's directives before any of them was
// left unheeded.
void answer_explanation(Transaction& transaction, const Decision& decision,
                        const http::RequestDirectives& asked, http::Response& response);

}  // namespace ringside::cache
