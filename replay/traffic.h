#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "replay/access_log.h"

namespace ringside::replay {

// Traffic that looks like a small site with readers all over the world: GETs, the k-th most popular
// page asked for in proportion to 1/k (Zipf with s = 1), from IPv4 and IPv6 addresses of three
// dozen countries, some much more present than others.
struct TrafficPlan {
  std::uint64_t seed = 1;
  std::size_t requests = 80'000;
  std::size_t paths = 400;  // 1 … 100'000
};

// Depends on the plan alone, the same on every machine: no distribution of the standard library
// (each library has its own) and no floating point. Lines are numbered from 1.
[[nodiscard]] std::vector<LogRequest> generate_traffic(const TrafficPlan& plan);

}  // namespace ringside::replay
