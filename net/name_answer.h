#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "net/stack.h"

namespace ringside::net {

// What the name servers (or /etc/hosts) said of a name.
struct NameAnswer {
  enum class Outcome {
    found,
    absent,  // it has no address: they who must know say so
    failed,  // nobody who knows could be asked
  };
  Outcome outcome = Outcome::failed;
  std::vector<SocketAddress>
      addresses;       // without ports; at least one where found, the best first (RFC 6724)
  Seconds ttl{0};      // the smallest of the records, as they say
  std::string reason;  // why not found
};

}  // namespace ringside::net
