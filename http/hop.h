#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "http/field_lines.h"
#include "http/head.h"

namespace ringside::http {

// What a proxy has to decide of a request because it is one hop of several.
struct Hop {
  // RFC 9110 §7.6.2: an OPTIONS that is to go no further is answered here.
  bool answer_here = false;
  // What Max-Forwards is to say on the way on; nullopt: as it was.
  std::optional<std::uint64_t> max_forwards;
  // RFC 9110 §7.8: WebSocket is the protocol that we let connections switch to. Not h2c, by which
  // requests could be smuggled past us (RFC 9113 §3.1 has given it up).
  bool upgrades = false;
};

// What tells a hop from others of the same name: random, made once for each sidecar and replica.
[[nodiscard]] std::string random_mark();

// What a hop is called: one value of each sidecar and of each replica.
struct HopIdentity {
  HopIdentity() = default;
  // `pseudonym` is what Via says instead of the name; empty: the name.
  HopIdentity(std::string name_of_hop, std::string pseudonym, std::string_view mark);

  std::string name;      // in Cache-Status and Proxy-Status: `ringside`, `cache-3`
  std::string via_name;  // in a response's Via (RFC 9110 §7.6.3)
  // In a request's Via: the same, and the mark as a comment, `ringside (5d1f09ab)`. By it a hop
  // knows a request that has been here before.
  std::string via;
};

// A member of Via (RFC 9110 §7.6.3): the version of the message as it was received, HTTP/1.x, and
// who has received it.
[[nodiscard]] std::string via_member(int minor_version, std::string_view received_by);
void append_via_member(std::string& out, int minor_version, std::string_view received_by);

// Errors: loop where the request has passed `own_via` before (or more than limits::via_elements
// proxies), method_not_allowed for TRACE, which would show a client what others have added to its
// request (RFC 9110 §9.3.8).
[[nodiscard]] Result<Hop> look_at_hop(const RequestHead& request, std::string_view own_via);

// What a hop says in the requests that it sends on: Max-Forwards, where it has counted, and its
// member of Via after those of the hops before. `own_via`: see HopIdentity.
void add_hop_fields(FieldLines& out, const RequestHead& request, const Hop& hop,
                    std::string_view own_via);

}  // namespace ringside::http
