#pragma once

#include <vector>

#include "base/address.h"
#include "base/clock.h"
#include "k8s/failure.h"
#include "k8s/halt.h"

namespace ringside::k8s {

// Where the server is: at least one address, the best first. A host name is looked up (/etc/hosts,
// then name servers); that ends by itself after `timeout`, and at once when the halt is ordered,
// which getaddrinfo(3) can't be made to.
[[nodiscard]] Outcome<std::vector<IpAddress>> addresses_of(const Endpoint& server,
                                                           Milliseconds timeout, const Halt& halt);

}  // namespace ringside::k8s
