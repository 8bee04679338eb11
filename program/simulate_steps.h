#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "simulate/simulation.h"

namespace ringside::program {

// `10,11,11-cache-3`: each step is a number N of replicas, cache-0 to cache-(N-1), and the names of
// those of them that are missing. `weights` are lists `cache-0=2,cache-3=0`: none, one for all
// steps, or one for each, `-` for none. An Error names the option.
[[nodiscard]] Result<std::vector<simulate::Step>> parse_steps(
    std::string_view replicas, const std::vector<std::string>& weights);

// `ring,vbucket`; empty: all there are.
[[nodiscard]] Result<std::vector<std::string>> parse_schemes(std::string_view text);

}  // namespace ringside::program
