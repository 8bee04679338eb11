#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "http/fields.h"

namespace ringside::http {

// How the end of a message's body is found (RFC 9112 §6).
struct Framing {
  enum class Kind { none, length, chunked, until_close };
  Kind kind = Kind::none;
  std::uint64_t length_bytes = 0;  // for Kind::length
};

// Whether a response of that status may say a Content-Length (RFC 9110 §8.6).
[[nodiscard]] constexpr bool may_have_length(int status) noexcept {
  return status >= 200 && status != 204;
}

// Whether a body so framed has a length that a head can tell.
[[nodiscard]] constexpr bool length_is_known(const Framing& framing) noexcept {
  return framing.kind == Framing::Kind::none || framing.kind == Framing::Kind::length;
}

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
  // Lines that go on to the client as they are; a hop of ours has said so. `fields` has the others.
  std::string_view ready_lines;
  Fields fields;
  Framing framing;
  bool keep_alive = true;
};

// All of the head's fields, those that are ready among them.
[[nodiscard]] Fields fields_of(const ResponseHead& head);

// Methods by property (RFC 9110 §9.2).
[[nodiscard]] bool is_safe(std::string_view method) noexcept;
[[nodiscard]] bool is_idempotent(std::string_view method) noexcept;

}  // namespace ringside::http
