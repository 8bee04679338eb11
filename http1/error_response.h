#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"

namespace ringside::http {

// What a client is told of an Error: the one place that decides.
struct ErrorAnswer {
  int status;
  std::string_view reason;
  std::string_view proxy_error;  // RFC 9209 §2.3; empty where the client itself was wrong
};
[[nodiscard]] ErrorAnswer answer_for(const Error& error) noexcept;

// A whole response for an Error: its message as text, Proxy-Status where it was not the client's
// doing, `cache_status` as the value of Cache-Status. `close` says that the connection ends.
struct ErrorResponse {
  std::string_view proxy;         // who we are: "ringside" or the replica's name
  std::string_view cache_status;  // empty: none
  std::string_view more_lines;    // further field lines, each with its CRLF
  TimePoint now{};                // Date
  bool close = true;
  bool head_only = false;  // the answer to a HEAD request: no body
};
[[nodiscard]] std::string error_response(const Error& error, const ErrorResponse& how);

// What we let through, as Allow has it (RFC 9110 §10.2.1); what an origin allows is its own affair.
inline constexpr std::string_view allowed_methods = "GET, HEAD, POST, PUT, DELETE, OPTIONS, PATCH";

// The answer to an OPTIONS that goes no further than here: the head is all of it.
[[nodiscard]] std::string options_response(TimePoint now, bool close);

// The reason phrase of a status code; empty where we know none.
[[nodiscard]] std::string_view reason_of(int status) noexcept;

}  // namespace ringside::http
