#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/address.h"
#include "http/fields.h"
#include "http/scheme.h"

namespace ringside::http {

// One hop as the header tells it, in the order of the header (client first, nearest proxy last).
struct ForwardedHop {
  std::optional<IpAddress> address;  // absent: `unknown`, an obfuscated `_name`, or unreadable
  std::string proto;                 // Forwarded's proto=, lower case; empty where absent
};

// The field in which most proxies tell of the hops.
inline constexpr std::string_view x_forwarded_for = "x-forwarded-for";

// The hops that the field `from` tells of: Forwarded (RFC 7239), X-Forwarded-For, or another one
// that is written as the latter or has one address. Just this one: proxies that write the one field
// pass on the other as their client has written it. At most limits::forwarded_hops elements, the
// last ones. Malformed elements are hops without address, so that a walk from the right stops at
// them.
[[nodiscard]] std::vector<ForwardedHop> forwarded_hops(const Fields& fields,
                                                       std::string_view from = x_forwarded_for);

// Who asks, as those tell who are trusted.
struct ToldClient {
  IpAddress address;
  std::optional<Scheme> scheme;  // of its own connection; absent: nobody says
};

// `peer` (the socket's) unless it is trusted; then the hops from the right through trusted ones;
// the first untrusted, or the last readable one where the walk can't go on. The scheme is what the
// last of them says that was read: Forwarded's proto=. Where another field tells the hops it is
// X-Forwarded-Proto's value in the same place from the right, or its first where it has fewer: most
// proxies write just one.
[[nodiscard]] ToldClient told_client(const IpAddress& peer, const Fields& fields,
                                     const std::vector<Network>& trusted,
                                     std::string_view from = x_forwarded_for);
[[nodiscard]] inline IpAddress client_address(const IpAddress& peer, const Fields& fields,
                                              const std::vector<Network>& trusted,
                                              std::string_view from = x_forwarded_for) {
  return told_client(peer, fields, trusted, from).address;
}

// One element of Forwarded for a client: `for=192.0.2.1;proto=http`, `for="[2001:db8::1]"`.
void append_forwarded(std::string& out, const IpAddress& client, std::string_view proto);

}  // namespace ringside::http
