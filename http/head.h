#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "http/fields.h"

namespace ringside::http {

// How the end of a message's body is found (RFC 9112 §6).
struct Framing {
  enum class Kind { none, length, chunked, until_close };
  Kind kind = Kind::none;
  std::uint64_t length_bytes = 0;  // for Kind::length
};

// What an HTTP/1.0 request is for that does not say it (RFC 9112 §3.3 leaves it to us): the same
// for every sidecar, so that all of them find what is stored.
inline constexpr std::string_view default_host = "localhost";

// All views point into the bytes that were parsed.
struct RequestHead {
  std::string_view method;
  std::string_view target;
  // The authority of an absolute-form target, else the Host field (RFC 9112 §3.2.2); valid as
  // split_host has it; default_host in HTTP/1.0 without either. Fields keep the Host line as
  // received.
  std::string_view host;
  int minor_version = 1;  // HTTP/1.x
  Fields fields;
  Framing framing;
  bool keep_alive = true;
  bool expects_continue = false;
};

struct ResponseHead {
  int status = 0;
  std::string_view reason;
  int minor_version = 1;
  Fields fields;
  Framing framing;
  bool keep_alive = true;
};

struct HeadLimits {
  std::size_t head_size_bytes;
  std::size_t line_size_bytes;  // the request line
  std::size_t fields;
  static HeadLimits defaults() noexcept;
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

// Methods by property (RFC 9110 §9.2).
[[nodiscard]] bool is_safe(std::string_view method) noexcept;
[[nodiscard]] bool is_idempotent(std::string_view method) noexcept;

}  // namespace ringside::http
