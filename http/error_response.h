#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "http/response.h"

namespace ringside::http {

// What a client is told of an Error: the one place that decides.
struct ErrorAnswer {
  int status;
  std::string_view reason;
  std::string_view proxy_error;  // RFC 9209 §2.3; empty where the client itself was wrong
};
[[nodiscard]] ErrorAnswer answer_for(const Error& error) noexcept;

// What is said of an Error beside its message.
struct ErrorTerms {
  std::string_view proxy;              // who we are: "ringside" or the replica's name
  std::string_view cache_status = {};  // the value of Cache-Status; empty: none
  TimePoint now{};                     // Date
  bool tells_all = false;              // who asks may know what is behind us
};
// The response for an Error, and Proxy-Status where it was not the client's doing. A client that
// was wrong is told why and sent away. Of other errors the message has addresses of machines that
// strangers need not know: it is told where the terms say so; who answers logs it.
void make_error_response(Response& out, const Error& error, const ErrorTerms& terms);

// What we let through, as Allow has it (RFC 9110 §10.2.1); what an origin allows is its own affair.
inline constexpr std::string_view allowed_methods = "GET, HEAD, POST, PUT, DELETE, OPTIONS, PATCH";

// The answer to an OPTIONS that goes no further than here, without content.
void make_options_response(Response& out, TimePoint now);

// The reason phrase of a status code; empty where we know none.
[[nodiscard]] std::string_view reason_of(int status) noexcept;

}  // namespace ringside::http
