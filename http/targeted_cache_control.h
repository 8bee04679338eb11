#pragma once

#include <optional>
#include <string_view>

#include "http/cache_control.h"
#include "http/fields.h"

namespace ringside::http {

// What we call ourselves in Surrogate-Capability, and are called in Surrogate-Control. The value
// that says it to an origin: `ringside="Surrogate/1.0"`.
inline constexpr std::string_view kSurrogateDevice = "ringside";

// The directives of a field that speaks to some caches only (RFC 9213), such as CDN-Cache-Control.
// nullopt: the field does not count, and what comes after it in the order of preference does:
// further such fields, at last Cache-Control with Expires. Where it counts, those count for nothing
// (§2.2).
//
// A Dictionary (RFC 9651), of which none counts where it is malformed or empty (§2.1). Names are in
// lower case, of duplicates the last counts, parameters are ignored: all of this differs from
// Cache-Control. Seconds are Integers, negative ones count as 0; no-cache and private may have a
// String or a Token with field names. A value of another type is not made sense of (§2.1), to the
// safe side: seconds then count as 0 (RFC 9111 §4.2.1), no-store, no-cache and private as if they
// had no value, and any other directive is ignored. A Boolean false is a directive not given.
//
// Surrogate-Control has a syntax of its own (W3C note "Edge Architecture Specification" §2.2): that
// of Cache-Control, whose directives may have parameters that name the devices that they are for.
// Those for other devices are ignored; seconds for us stand before those for all. The second number
// of `max-age=600+30` is for how long the response may be used stale. no-store-remote counts as
// no-store: who is remote is not known here. The field counts where it says whether or for how long
// to store: `content="ESI/1.0"` alone says nothing of that.
[[nodiscard]] std::optional<ResponseDirectives> parse_targeted_directives(const Fields& fields,
                                                                          std::string_view name);

}  // namespace ringside::http
