#pragma once

#include "cache/request_context.h"
#include "cache/storability.h"
#include "cache/stored_response.h"

namespace ringside::cache {

// What an answer without content makes of a stored response: a 304 that confirms it, a HEAD's 200,
// or the rest of a part (RFC 9111 §3.2, §4.3.4, §4.3.5).
struct Update {
  std::shared_ptr<const StoredHead> head;
  // Whether it may stand in the place of what was stored. Where it is for this request alone
  // (authorization) what was stored stays; for any other reason it may be stored no longer.
  Storability storability = Storability::storable;
};
[[nodiscard]] Update update_of(const StoredHead& stored, const http::Fields& answer,
                               const http::Fields& request, const ExchangeTimes& times,
                               const RequestContext& context);

}  // namespace ringside::cache
