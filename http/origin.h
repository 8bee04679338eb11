#pragma once

#include <compare>
#include <cstdint>

#include "http/upstream_address.h"

namespace ringside::http {

// One of the servers whose answers a route gives. Of several each gets its weight's share.
struct Origin {
  UpstreamAddress address;
  std::uint32_t weight = 1;  // 1 … limits::origin_weight

  [[nodiscard]] friend auto operator<=>(const Origin&, const Origin&) = default;
};

}  // namespace ringside::http
