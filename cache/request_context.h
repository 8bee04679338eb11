#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cache/cache_key.h"
#include "cache/settings.h"
#include "http/byte_range.h"
#include "http/cache_control.h"
#include "http/head.h"
#include "http/hop.h"
#include "http/target.h"
#include "tier/purges.h"

namespace ringside::cache {

// Why the store has no say in a request, or nothing is stored of its answer: the first that holds.
enum class StoreObjection {
  none,
  method,         // neither GET nor HEAD; of an answer to HEAD nothing is stored
  content,        // the request has content
  upgrade,        // it asks for another protocol
  bypass_rule,    // the route's `bypass`
  condition,      // If-Match and the like, which are the origin's to judge
  no_store,       // the request's no-store
  no_store_rule,  // the route's `no_store`
  ranges,         // more than one
  if_range,
};

// What a replica has understood of a request before it asks anybody. Reused from request to request
// of a connection.
struct RequestContext {
  http::Hop hop;
  std::string method;  // kept: the request's own views end when its body is read
  http::Target target;
  std::string host;
  std::string country;  // as the sidecar said it; empty where it didn't
  bool from_sidecar = false;
  bool topology_is_other = false;  // than that which is followed here, where any is
  bool fills_peer = false;         // another replica asks, which has nothing stored for it
  // Whose share of an origin's places it takes: the client that the sidecar told of, or else who
  // asks; nobody's where a sidecar tells of none.
  IpAddress client;
  std::optional<tier::PurgeNumber> purge;  // the number of what it removes
  const Route* route = nullptr;            // into the Settings; null only where PURGE has none
  // What it is answered may be what a GET is given: the same rules, and the same shard key.
  bool is_route_of_get = true;
  // For all of it, from its arrival on: our own limit, or less where the sidecar waits no longer.
  Milliseconds time_allowed{0};
  CacheKey key;
  http::RequestDirectives directives;
  std::optional<http::RangeSet> ranges;  // that a GET asks for
  // Where not empty, nothing but the entity with this tag will do, however old (see slice_key).
  std::string entity_tag;
  bool may_use_store = false;                       // a stored response may answer it
  bool may_fill_store = false;                      // and its own answer may be stored and shared
  StoreObjection objection = StoreObjection::none;  // why one of them is not so
  bool authorized = false;       // the client sent Authorization, whatever the rules make of it
  bool may_keep_answer = false;  // nobody says that its answer may not be stored

  [[nodiscard]] const Rules& rules() const noexcept { return route->rules; }
};

// http::name_in_key of a route; null: none matched.
[[nodiscard]] std::string_view name_in_key(const Route* route);

// Fails for targets and hosts that are malformed, and where no route matches; for TRACE, and for
// requests that have been at `own_via` before. With hop.answer_here nothing else is decided. A pure
// function of the request, the settings and the name.
//
// `from`: who asks.
// The route's rules are applied: the request's fields and the target's query are from then on what
// the origin would be asked with (views into the settings, which must outlive them).
[[nodiscard]] Result<void> read_context(http::RequestHead& request, const Settings& settings,
                                        std::string_view own_via, const IpAddress& from,
                                        RequestContext& context,
                                        Keyspace keyspace = Keyspace::members);

// The value of a field of ours, as far as it is one.
[[nodiscard]] Milliseconds milliseconds_in(std::string_view digits,
                                           Milliseconds otherwise) noexcept;

// What a stranger may not say: takes the internal fields away. True where it spoke like a sidecar.
bool strip_internal(http::Fields& fields);

}  // namespace ringside::cache
