#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/core_state.h"
#include "cache/request_context.h"
#include "http/head.h"

namespace ringside::cache {

// The path and query under which answers for a URI are stored: with the query that its route's
// rules make of it. nullopt where no request can ask for it. `host` is in its normal form.
[[nodiscard]] std::optional<std::string> stored_path_and_query(const Settings& settings,
                                                               std::string_view host,
                                                               std::string_view path_and_query);

// Forgets what is stored for these paths and queries of a host, whatever the shard key. `host` is
// in its normal form. How many stored responses went.
std::size_t invalidate_uris(Shared& shared, const Settings& settings, std::string_view host,
                            const std::vector<std::string>& targets);

// Forgets here what an origin's answer has made invalid (RFC 9111 §4.4), whatever the shard key:
// see http::invalidated_targets, which it returns. The sidecar tells other replicas of what lies
// there, and us its number and what to pass on.
std::vector<std::string> invalidate_after(Shared& shared, const Settings& settings,
                                          const RequestContext& context,
                                          const http::ResponseHead& response, SteadyPoint now);

// Forgets what a sidecar says that is invalid (internal::invalidate), under the number `purge`; who
// has forgotten it by itself hears the number. nullopt: it is told neither; else how many
// stored responses went.
std::optional<std::size_t> invalidate_told(Shared& shared, const Settings& settings,
                                           const http::RequestHead& request,
                                           const std::optional<tier::PurgeNumber>& purge,
                                           SteadyPoint now);

}  // namespace ringside::cache
