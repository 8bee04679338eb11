#pragma once

#include <string_view>

#include "http/cache_status.h"
#include "http/field_lines.h"
#include "http/head.h"
#include "sidecar/decision.h"
#include "sidecar/settings.h"

namespace ringside::sidecar {

enum class Upstream { replica, origin };

// The client's address where it is one client's: not that of a trusted proxy, which did not tell
// who is behind it. Else `::`.
[[nodiscard]] IpAddress told_client(const Decision& decision, const Settings& settings);

// The fields of the request for a replica (or, without one, for the origin), in place of what `out`
// had: those of the canonical request, Via, Forwarded, the country where the
// route's key holds it, and for a replica the internal fields. `own_via`: see http::HopIdentity.
void write_upstream_fields(http::FieldLines& out, const http::RequestHead& request,
                           const Decision& decision, const Settings& settings,
                           std::string_view own_via, Upstream upstream);

// What a replica's answer says to the sidecar alone.
struct ReplicaNotes {
  std::string_view outcome;
  std::string_view near_ttl_ms;
};
[[nodiscard]] ReplicaNotes read_notes(const http::Fields& fields) noexcept;

// Adds to `out` the fields of the answer for the client: those of the upstream's that go end to
// end, but for `left_out`, with what a replica says of its error where `tells_all`, Date,
// Cache-Status with our own member where it says something, Via with our `via_name`.
void add_client_fields(http::FieldLines& out, const http::ResponseHead& head, TimePoint now,
                       const http::CacheStatus& own, std::string_view via_name,
                       std::string_view left_out = {}, bool tells_all = false);

}  // namespace ringside::sidecar
