#pragma once

#include <string>
#include <string_view>

#include "http/cache_status.h"
#include "http/head.h"
#include "http1/turn.h"
#include "sidecar/decision.h"
#include "sidecar/settings.h"

namespace ringside::sidecar {

enum class Upstream { replica, origin };

// Writes the head of the request for a replica (or, without one, for the origin) into `out`: the
// normalised target, the client's fields without those it may not say, Via, Forwarded, the country
// where the route's key holds it, and for a replica the internal fields. `own_via`: see
// http::HopIdentity.
void write_upstream_head(std::string& out, const http::RequestHead& request,
                         const Decision& decision, const Settings& settings,
                         std::string_view own_via, Upstream upstream);

// What a replica's answer says to the sidecar alone.
struct ReplicaNotes {
  std::string_view outcome;
  std::string_view near_ttl_ms;
};
[[nodiscard]] ReplicaNotes read_notes(const http::Fields& fields) noexcept;

// Begins the head of the answer for the client in `out`: status line, end-to-end fields but for
// `left_out`, Date, Cache-Status with our own member, Via with the name that it has.
void begin_client_head(std::string& out, const http::ResponseHead& response, TimePoint now,
                       const http::CacheStatus& own, std::string_view left_out = {});
// Ends it: framing, what becomes of the connection, the empty line.
void end_client_head(std::string& out, int client_minor_version, const http::Delivery& delivery);

}  // namespace ringside::sidecar
