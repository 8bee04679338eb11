#pragma once

#include <compare>
#include <cstdint>
#include <set>

#include "base/upstream_address.h"

namespace ringside::net {

// One of the servers whose answers a route gives. Of several each gets its weight's share.
struct Origin {
  UpstreamAddress address;
  std::uint32_t weight = 1;  // 1 … limits::origin_weight

  [[nodiscard]] friend auto operator<=>(const Origin&, const Origin&) = default;
};

// The addresses of all origins of some routes (of a sidecar's or a replica's Route).
template <class Routes>
[[nodiscard]] std::set<UpstreamAddress> origin_addresses(const Routes& routes) {
  std::set<UpstreamAddress> addresses;
  for (const auto& route : routes) {
    for (const Origin& origin : route.origins) addresses.insert(origin.address);
  }
  return addresses;
}

}  // namespace ringside::net
