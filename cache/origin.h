#pragma once

#include <memory>

#include "cache/core_state.h"
#include "cache/messages.h"
#include "cache/request_context.h"
#include "hop/upstream.h"

namespace ringside::cache {

// The last source of the chain: asks one of the route's origins, on failure the next where that is
// allowed, and counts it all. `asking` says with which fields; of `outgoing` what is about the
// content, the caller and the method stands already. An Error of our own says that no origin was
// asked: they are given no more requests at the moment (see net::OriginGate). `time_allowed`: to
// the head of the response.
Task<Result<std::unique_ptr<hop::Exchange>>> ask_origin(CoreState& core, const Settings& settings,
                                                        const http::RequestHead& request,
                                                        const RequestContext& context,
                                                        const Asking& asking,
                                                        Milliseconds time_allowed,
                                                        hop::UpstreamRequest outgoing);

// Those bytes of the whole of which `head` tells the entity tag, by a fetch for this request alone,
// where the origin has the same entity still (RFC 9110 §13.1.5). Null: it has not.
struct Transaction;
Task<std::unique_ptr<hop::Exchange>> ask_for_span(Transaction& transaction, const StoredHead& head,
                                                  http::ByteSpan span);

}  // namespace ringside::cache
