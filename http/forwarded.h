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

// Forwarded (RFC 7239) where the message has it, else X-Forwarded-For: a proxy that is trusted must
// set or remove Forwarded even where it writes X-Forwarded-For itself. At most
// limits::forwarded_hops elements, the last ones. Malformed elements are hops without address, so
// that a walk from the right stops at them.
[[nodiscard]] std::vector<ForwardedHop> forwarded_hops(const Fields& fields);

// Who asks, as those tell who are trusted.
struct ToldClient {
  IpAddress address;
  std::optional<Scheme> scheme;  // of its own connection; absent: nobody says
};

// `peer` (the socket's) unless it is trusted; then the hops from the right through trusted ones;
// the first untrusted, or the last readable one where the walk can't go on. The scheme is what the
// last of them says that was read: Forwarded's proto=. Without Forwarded it is X-Forwarded-Proto's
// value in the same place from the right, or its first where it has fewer: most proxies write just
// one.
[[nodiscard]] ToldClient told_client(const IpAddress& peer, const Fields& fields,
                                     const std::vector<Network>& trusted);
[[nodiscard]] inline IpAddress client_address(const IpAddress& peer, const Fields& fields,
                                              const std::vector<Network>& trusted) {
  return told_client(peer, fields, trusted).address;
}

// One element of Forwarded for a client: `for=192.0.2.1;proto=http`, `for="[2001:db8::1]"`.
void append_forwarded(std::string& out, const IpAddress& client, std::string_view proto);

}  // namespace ringside::http
