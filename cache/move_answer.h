#pragma once

#include "cache/core_state.h"
#include "http/fields.h"
#include "http/response.h"

namespace ringside::cache {

// The giver's answer to who asks for a batch (cache/bucket_source.h). `asked`: the fields of the
// question, internal::move among them. Afterwards what has moved is removed in steps.
void answer_move(CoreState& core, const http::Fields& asked, http::Response& response);

}  // namespace ringside::cache
