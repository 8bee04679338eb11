#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "http/head.h"

namespace ringside::http {

struct HeadLimits {
  std::size_t head_size_bytes;
  std::size_t line_size_bytes;  // the request line
  std::size_t fields;
  static HeadLimits defaults() noexcept;
  static HeadLimits between_hops() noexcept;  // of our own
};

// Looks for the end of a head in `bytes`, of which the first `searched` were looked at before.
// Returns the head's length including the empty line, nullopt while it is incomplete; an Error as
// soon as the bytes can't become a head that we accept (a bare LF or NUL, too long). `source` is
// client for requests, whatever the client is: only they have a limit on their first line and may
// have one empty line before it (RFC 9112 §2.2), which belongs to the head and is counted and
// skipped here and in parse_request_head, so that callers need not know of it.
[[nodiscard]] Result<std::optional<std::size_t>> find_head_end(std::string_view bytes,
                                                               std::size_t searched,
                                                               const HeadLimits& limits,
                                                               ErrorSource source);

// Parse a complete head (`bytes` ends with its empty line), strictly (RFC 9112 §2–§6): whatever two
// readers might read in two ways is refused. `head` is reused so that a connection's field vector
// keeps its capacity; after an Error its content is unspecified. Errors: malformed,
// target_too_long, head_too_large, unsupported (CONNECT, codings but chunked), unsupported_version.
[[nodiscard]] Result<void> parse_request_head(std::string_view bytes, const HeadLimits& limits,
                                              RequestHead& head);
// `request_method` decides the framing of the answer (HEAD has none). keep_alive is false, too,
// where the body ends with the connection, and for a 204 that says it has a body.
[[nodiscard]] Result<void> parse_response_head(std::string_view bytes, const HeadLimits& limits,
                                               std::string_view request_method, ErrorSource source,
                                               ResponseHead& head);

}  // namespace ringside::http
