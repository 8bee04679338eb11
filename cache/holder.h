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
  // What it gives is not to be stored: the bucket is not to come here, or the holder does not know
  // of us, and so no purge would reach us by it.
  bool is_passing = false;
  bool was_looked_for = false;  // at others, which takes a while
  bool was_let_down = false;    // a holder failed, had missed a purge, or was not found
};

// The source between the store and the origins (cache/origin.h, which has the parameters): the
// bucket's holder, where that is another replica. It joins the request to its own flight, so that a
// key costs one fetch whoever is asked; what it answers is as it was stored there. A holder that
// refuses, or is not there, is asked once; if others have yet to hear who has the bucket, again,
// for `holdings_patience` at most. Null: the origin is to be asked. `notes` tells what was done.
Task<Result<std::unique_ptr<hop::Exchange>>> ask_holder(
    CoreState& core, const Settings& settings, const http::RequestHead& request,
    const RequestContext& context, const Asking& asking, Milliseconds time_allowed,
    hop::UpstreamRequest outgoing, FillNotes& notes);

}  // namespace ringside::cache
