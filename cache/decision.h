#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "cache/fetch_plan.h"
#include "cache/fill.h"
#include "cache/flight.h"
#include "cache/request_context.h"
#include "cache/serving.h"
#include "cache/storability.h"
#include "http/head.h"

// What a replica does is decided here, by functions of values; cache/handler.cc and cache/fetch.cc
// do it.
namespace ringside::cache {

// What to do with a request, by what the store has for it.
enum class Step {
  pass_on,           // the request bypasses the store
  give,              // what is stored, as it is
  give_and_refresh,  // the same, while one request fetches it anew
  refuse,            // only what is stored will do (only-if-cached), and nothing usable is
  fetch,             // one request for all who want it now
  fetch_slices,      // likewise, in parts
};
struct Decision {
  Step step = Step::pass_on;
  Verdict verdict = Verdict::absent;  // of what is stored
};
// `stored`: null: nothing. `slices_are_stored`: all that is wanted stands in slices.
[[nodiscard]] Decision decide(const RequestContext& context, const http::Fields& request,
                              const StoredPointer& stored, bool slices_are_stored, TimePoint now);

// Whether what is given is to be fetched anew meanwhile: it is stale within stale-while-revalidate
// (RFC 5861 §3), or soon to be. `verdict`: judge() of it.
[[nodiscard]] bool is_refresh_due(const RequestContext& context, const Freshness& freshness,
                                  Verdict verdict, TimePoint now);

// What is known once the origin was asked for a flight.
struct Fetched {
  const RequestContext& context;
  const http::Fields& request;
  const FetchPlan& plan;  // how it was asked
  StoredPointer known;    // what the store had when the request came; null: nothing
  ExchangeTimes times;
  std::string_view own_name;           // for Via
  std::size_t object_limit_bytes = 0;  // what is larger is not stored
};

// What is made of it.
struct Action {
  enum class Kind {
    fail,            // all are told the error
    give_stale,      // `response`, to all who take it: see `completion`
    give_confirmed,  // `response` is kept, and given to all
    give_alone,      // `response`, to this request alone; the others ask for themselves
    ask_alone,       // what came is about something else: each request asks for itself
    publish,         // `answer`, whose body comes after that of `beginning`, to all
    relay,           // what came, to this request alone
  };
  Kind kind = Kind::fail;
  StoredPointer response{};
  Flight::Completion completion = Flight::Completion::confirmed;
  Flight::Answer answer{};
  StoredPointer beginning{};
  FillTerms terms{};
  StoredPointer outdated{};  // the store lets go of it
  // That answers for the key can't be stored is remembered, or forgotten.
  enum class Memory { as_it_is, uncacheable, cacheable };
  Memory memory = Memory::as_it_is;
  Storability storability = Storability::storable;
  std::string own_lines{};  // for this request alone and not stored (cookies, private fields)
};
// No origin has answered.
[[nodiscard]] Action decide(const Fetched& fetched, const Error& failure);
// One has, with this head. Asked with `validates(plan)`, it may have confirmed what is stored.
[[nodiscard]] Action decide(const Fetched& fetched, const http::ResponseHead& response);
// One has answered something else than was asked for, which is what a later GET would get.
[[nodiscard]] Action decide_new(const Fetched& fetched, const http::ResponseHead& response);

// RFC 9111 §4.2.4: what is stale is better than nothing, unless something forbids it. `why`:
// unreachable or failed.
[[nodiscard]] bool takes_stale(const StoredPointer& stored, const RequestContext& context,
                               const http::Fields& request, Flight::Completion why, TimePoint now);
// Of a whole of that length the request wants this part and nothing else.
[[nodiscard]] bool wants_just(const RequestContext& context, const http::ByteSpan& part,
                              std::uint64_t length_bytes);

}  // namespace ringside::cache
