#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace ringside::http {

// A request target in the one form in which it is matched, hashed, stored and sent to the origin.
struct Target {
  std::string path;        // normalised, starts with '/'; "*" for OPTIONS *
  std::string query;       // without '?'; percent-encodings in upper case, otherwise as received
  bool has_query = false;  // `/a?` and `/a` are different targets

  // path and query as they stand on a request line.
  [[nodiscard]] std::string text() const;
};

// Parses origin-form, absolute-form or `*` and normalises (RFC 3986 §6.2.2). In the path unreserved
// characters are decoded and dot segments removed, after decoding, so that `%2e%2e` is a dot
// segment; `%2F` stays as it is: it is data, no separator. In both parts percent-encodings get
// upper case, and visible bytes outside RFC 3986's grammar, which browsers do send (`"<>[]\^`{|}`,
// UTF-8), are percent-encoded. Malformed (400): control bytes, spaces, `#`, and in the path `%00`
// and broken percent-encodings. The last two stay as they are in a query, where real links
// have them (`width=100%`). The result is a fixed point: a replica normalises what a sidecar sent
// to the same bytes; and since it is also what the origin is sent, equal keys always are equal
// requests. An empty path of an absolute-form is "/". `target` is reused so that a connection's
// strings keep their capacity; after an Error its content is unspecified.
[[nodiscard]] Result<void> normalise_target(std::string_view request_target, Target& target);

// An absolute-form target (RFC 9112 §3.2.2) in its parts; views into it. Scheme http or https,
// which does not matter any further: what counts is the client's connection (see told_client).
struct AbsoluteTarget {
  std::string_view authority;
  std::string_view rest;  // path and query; may be empty, or start with '?'
};
[[nodiscard]] std::optional<AbsoluteTarget> split_absolute(
    std::string_view request_target) noexcept;

// A Host field or an authority in its parts (RFC 9110 §7.2); views into it.
struct HostParts {
  std::string_view name;   // without a trailing dot; an IPv6 address with its brackets
  std::uint16_t port = 0;  // 0 where there is none or an empty one
};
// nullopt for invalid ones: anything but letters, digits, "-", "_", "~" and single dots in a name,
// an empty name, a bracketed literal that is no IPv6 address, user information, a port that is no
// number from 1 to 65535. Narrower than RFC 3986's reg-name, which no DNS name needs.
[[nodiscard]] std::optional<HostParts> split_host(std::string_view host);

// The host in the form in which it is matched and hashed: lower case, without the scheme's default
// port (80) and without a trailing dot. Invalid hosts are malformed.
[[nodiscard]] Result<void> normalise_host(std::string_view host, std::string& out);

}  // namespace ringside::http
