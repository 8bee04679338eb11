#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cache/decision.h"
#include "cache/fetch_plan.h"
#include "cache/request_context.h"
#include "cache/settings.h"
#include "cache/sliced_object.h"
#include "cache/slices.h"
#include "cache/store.h"
#include "cache/uncacheable_keys.h"
#include "http/cache_status.h"
#include "http/head.h"
#include "metrics/outcome.h"

namespace ringside::cache {

// What a replica would do with a request now, as far as it can tell without asking anybody.
struct Explanation {
  std::string route{};
  std::string key{};  // readable()
  metrics::Outcome outcome = metrics::Outcome::error;
  std::string cache_status{};  // our member of Cache-Status, as far as it is known beforehand
  std::string because{};       // which directive, rule or fact decided: one line
  bool is_refreshed = false;   // it is fetched anew meanwhile
  // Whether the answer that is fetched may be stored by what the request and the route say, and
  // what forbids it. The rest is the origin's to say.
  bool may_be_stored = false;
  std::string not_stored_because{};

  struct Stored {
    int status = 0;
    Seconds age{0};
    Seconds left{0};            // of its lifetime; not above 0: it is stale
    std::string lifetime_by{};  // who gave it its lifetime
    bool is_whole = true;       // else a part
  };
  std::optional<Stored> stored{};  // the response for this request; absent: none

  // What would be asked of somebody else.
  struct Question {
    bool goes_to_holder = false;         // of the bucket first, which is another replica
    std::vector<std::string> origins{};  // of which one is chosen
    std::string method{};
    std::string target{};
    std::string host{};
    std::vector<std::string> fields{};  // lines
  };
  std::optional<Question> asks{};  // absent: nobody is asked
};

// What an explanation is made of.
struct Explained {
  const http::RequestHead& request;  // by the route's rules (read_context)
  const RequestContext& context;
  const http::RequestDirectives& asked;  // by the request; the context has those that are heeded
  const Settings& settings;
  std::string_view own_via;  // see http::HopIdentity
  const Store::Found& found;
  Decision decision;
  SlicesStored slices{};
  WithoutSlices without_slices = WithoutSlices::whole;  // of a step that fetches in slices
  http::CacheStatus status{};                           // as far as it is known
  TimePoint now{};                                      // Clock::resident_now
  bool is_emptied_first = false;  // the store is, because of a purge that was missed
  bool is_held_elsewhere = false;
  bool is_fetched_already = false;  // by another request, which this one would wait for
  std::optional<UncacheableKeys::Kept> uncacheable{};
};

// How a step that fetches would ask for it.
[[nodiscard]] FetchPlan plan_explained(const RequestContext& context, const StoredPointer& stored,
                                       WithoutSlices without_slices);

// Of a GET or a HEAD. A pure function.
[[nodiscard]] Explanation explain(const Explained& explained);

// The JSON object of it.
[[nodiscard]] std::string to_json(const Explanation& explanation, const std::string& replica);

}  // namespace ringside::cache
