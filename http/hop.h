#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
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

// This process in a Via field: its name, and a comment that tells it from others of the same name.
// `ringside (5d1f09ab)`. The comment is random for each process.
[[nodiscard]] std::string via_name(std::string_view name);

// The answer to an OPTIONS that goes no further than here: the head is all of it.
[[nodiscard]] std::string options_response(TimePoint now, bool close);

// Errors: loop where the request has passed `own_via` before (or more than limits::via_elements
// proxies), method_not_allowed for TRACE, which would show a client what others have added to its
// request (RFC 9110 §9.3.8).
[[nodiscard]] Result<Hop> look_at_hop(const RequestHead& request, std::string_view own_via);

}  // namespace ringside::http
