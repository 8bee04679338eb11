#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "http/head.h"
#include "http/hop.h"
#include "http/target.h"

namespace ringside::http {

// The pieces of which both hops write the heads that they send. Each appends to `out`.

// `name: value`
void append_field(std::string& out, std::string_view name, std::string_view value);
// `name: before, value`; without `before`, or where it is empty, just the value.
void append_joined(std::string& out, std::string_view name,
                   const std::optional<std::string>& before, std::string_view value);
// `METHOD target HTTP/1.1` and Host, in their normal forms.
void append_request_start(std::string& out, std::string_view method, const Target& target,
                          std::string_view host);
// What tells the end of a request's body (RFC 9112 §6).
void append_framing(std::string& out, const Framing& framing);
// `Date` where `fields` has none: whoever forwards a response that lacks it adds it (RFC 9110
// §6.6.1).
void append_date_if_absent(std::string& out, const Fields& fields, TimePoint now);
// `Expect: 100-continue`, for a body that is held back until it is wanted (RFC 9110 §10.1.1).
void append_expectation(std::string& out, const RequestHead& request);
// The end of a head that asks for, or agrees to, a switch to WebSocket (RFC 9110 §7.8).
void append_upgrade(std::string& out);
// Max-Forwards, where this hop has counted (see Hop).
void append_max_forwards(std::string& out, const Hop& hop);
// Our member of a forwarded request's Via, after those of the hops before. `own_via`: see
// HopIdentity.
void append_via(std::string& out, const RequestHead& request, std::string_view own_via);

}  // namespace ringside::http
