#pragma once

#include <string>

#include "cache/messages.h"
#include "cache/request_context.h"
#include "cache/store.h"
#include "cache/stored_response.h"

namespace ringside::cache {

// How the origin is asked for what the store doesn't have, or not well enough.
struct FetchPlan {
  // The one range that is asked for, as Range says it; empty: the whole.
  std::string range;
  // What is stored and to be confirmed: its validators become conditions, if it is a 2xx. Given
  // where the origin fails, if that is allowed. Null: nothing.
  StoredPointer validated;
  // A stored part whose rest is asked for (`range`), if it is still the same (If-Range): the answer
  // is then the whole (RFC 9111 §3.4). Null: nothing.
  StoredPointer completed;
};

// `stored`: what the store has for the request, which may not be given as it is; null: nothing. A
// pure function.
//
//   a whole                          validate it, whatever part of it is wanted; on a route with
//                                    slices asking for what is wanted
//   a part that has what is wanted   validate it, asking for what is wanted
//   the beginning, the whole wanted  ask for the rest, where an entity tag tells that it fits
//   else                             ask for what is wanted
[[nodiscard]] FetchPlan plan_fetch(const RequestContext& context, const StoredPointer& stored);

// True where what is stored is asked for by condition. Conditions are about what a 200 would have
// (RFC 9110 §13.2.1): a stored 404 can't be confirmed.
[[nodiscard]] bool validates(const FetchPlan& plan) noexcept;

// How the origin is asked by it. Views into the plan.
[[nodiscard]] Asking asking_of(const FetchPlan& plan) noexcept;

// The variant that a request asks for, by what the store has for its key.
[[nodiscard]] std::string variant_asked(const Store::Found& found, const http::Fields& request);

// What tells a flight from others of its key. What brings the whole serves all; what brings a part
// serves those who want that part. Who wants one entity and no other takes no part in what brings
// the present one.
[[nodiscard]] std::string flight_name(std::string variant, const FetchPlan& plan,
                                      const std::string& entity_tag);

}  // namespace ringside::cache
