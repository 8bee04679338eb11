#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/address.h"
#include "base/error.h"

namespace ringside::net {

// What a load balancer says before the first byte of HTTP on a connection that it made for somebody
// else: the PROXY protocol, versions 1 (a line) and 2 (binary), as HAProxy's proxy-protocol.txt has
// it. Whether to expect one is configured, never guessed (§5 there), and only trusted networks may
// send it.
struct ProxyHeader {
  struct Source {
    IpAddress address;
    std::uint16_t port = 0;
    bool operator==(const Source&) const = default;
  };
  std::size_t size_bytes = 0;    // HTTP begins behind them
  std::optional<Source> source;  // nullopt (LOCAL, UNKNOWN, not TCP over IP): it is the socket's
  bool operator==(const ProxyHeader&) const = default;
};

// Looks at all that came on a connection so far. nullopt: not all of the header is there. The Error
// (malformed, client) comes as soon as its fixed parts, its length or a byte show that it can't
// become one; addresses and TLVs are judged once it is complete. The addresses of the destination
// are checked and dropped. TLVs are skipped, their checksum too, but they must fill their space.
// A header takes limits::proxy_header_size_bytes at most (version 1: 107 bytes).
[[nodiscard]] Result<std::optional<ProxyHeader>> parse_proxy_header(std::string_view bytes);

}  // namespace ringside::net
