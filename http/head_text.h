#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/head.h"
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
// Our element of a forwarded request's Via, after those of the hops before (RFC 9110 §7.6.3).
void append_via(std::string& out, const RequestHead& request, std::string_view own_name);

}  // namespace ringside::http
