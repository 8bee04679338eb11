#pragma once

#include "base/error.h"
#include "base/limits.h"
#include "base/task.h"
#include "http/head.h"
#include "http1/connection.h"

namespace ringside::http {

// What every server does around a request, whatever it means.

// Whether a request is let in: its body is not known to be too large, and there is memory for it.
[[nodiscard]] Result<void> admit(net::Core& core, const RequestHead& head);

// How long a server waits for its clients.
struct TurnTerms {
  Milliseconds idle = limits::client_idle_timeout;  // until a request begins
  Milliseconds head = limits::client_head_timeout;  // from its first byte
  Milliseconds io = limits::client_io_timeout;      // for a piece of a body, either way
  Milliseconds linger = limits::linger_timeout;     // for what comes after the last answer
  std::size_t linger_size_bytes = limits::linger_size_bytes;
};
inline constexpr TurnTerms client_terms{};

// What is to become of a request whose head was read so. False: the client has gone. An Error: the
// client is to be told, and the connection to end.
[[nodiscard]] Result<bool> goes_on_after(const Result<void>& head);

// What a load balancer says of the client before HTTP begins (PROXY protocol); client.remote() is
// then who it says. After an Error the connection is to be closed without a word.
Task<Result<void>> read_proxy_header(Connection& client);

// After the last answer: reads and drops for a moment what a refused client still sends, so that a
// reset does not take the answer from it (RFC 9112 §9.6).
Task<void> end_connection(Connection& client, const TurnTerms& terms = client_terms);

}  // namespace ringside::http
