#pragma once

#include "cache/transaction.h"

namespace ringside::cache {

// Makes the response to a GET on a route with `slice`: the origin is asked for parts of that size,
// each is stored by itself, and only those are fetched that the request wants, so that a seek does
// not pull the whole file.
//
// The first slice stands under the request's own key and is a part like others: it tells the length
// and the entity tag, how long all is fresh, and is what is validated. The others stand under keys
// that name that tag (see slice_key) and are good for as long as it is.
//
// False: slices are of no use here, and the response is to be made as on other routes. So it is
// where the origin gives no strong tag, or parts that may not be stored; both are remembered, so
// that not each request asks for a slice in vain.
Task<bool> give_slices(Transaction& transaction, http::Response& response);

// What becomes of a request of such a route for which no first slice is asked, as far as is known
// beforehand: it is fetched as on other routes, or passed on. `no`: one is.
enum class WithoutSlices { no, whole, passed_on };
[[nodiscard]] WithoutSlices without_slices(const Transaction& transaction);

}  // namespace ringside::cache
