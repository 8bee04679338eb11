#pragma once

#include <memory>
#include <optional>

#include "cache/core_state.h"
#include "cache/messages.h"
#include "cache/request_context.h"
#include "hop/upstream.h"
#include "metrics/outcome.h"

namespace ringside::cache {

// What the bucket's holder has said of its answer.
struct FillNotes {
  std::optional<metrics::Outcome> outcome{};  // how it came by it; nullopt: an origin was asked
  Milliseconds age_beyond{0};                 // see http::internal::age_beyond
};

// The chain of sources behind the store: the bucket's holder, where that is another replica, else
// one of the route's origins (cache/origin.h, which has the parameters). The holder joins it to its
// own flight, so that a key costs one fetch whoever is asked; what it answers is as it was stored
// there. A holder that refuses, or is not there, is asked once: where it leads nowhere, the origin
// is next. `notes` is set where the holder has answered.
Task<Result<std::unique_ptr<hop::Exchange>>> ask_holder_or_origin(
    CoreState& core, const Settings& settings, const http::RequestHead& request,
    const RequestContext& context, const Asking& asking, Milliseconds time_allowed,
    hop::UpstreamRequest outgoing, FillNotes& notes);

}  // namespace ringside::cache
