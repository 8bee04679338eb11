#pragma once

#include "cache/transaction.h"
#include "hop/upstream.h"

namespace ringside::cache {

// Passes the request on as it is and its response back. What the response says of stored ones is
// heeded: of a successful unsafe method that they are invalid (RFC 9111 §4.4), of HEAD that they
// are or are not what the origin has (§4.3.5).
Task<void> pass_on(Transaction& transaction, http::Response& response);

// What the bucket's holder has stored, where that is another replica and nothing else will do
// (only-if-cached). False: it has nothing usable either.
Task<bool> give_of_holder(Transaction& transaction, http::Response& response);

// The response that an exchange has brought for this request alone, as it comes.
void give_exchange(Transaction& transaction, std::unique_ptr<hop::Exchange> exchange,
                   http::Response& response);

}  // namespace ringside::cache
