#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/simulation/less.h"

namespace ringside::simulation {

// The seeds that a test is played with: 1 to `count`, unless it is told otherwise.
//
//   RINGSIDE_SIMULATION_SEED   this one alone
//   RINGSIDE_SIMULATION_SEEDS  so many
//   RINGSIDE_SIMULATION_FIRST  the first of them, instead of 1: a long run can be played in parts
//   RINGSIDE_SIMULATION_LESS   what worlds have less of than their seeds give them (less.h)
//   RINGSIDE_SIMULATION_TRACE  a file for the trace (of the last world, where there are several)
inline std::vector<std::uint64_t> seeds(std::uint64_t count) {
  if (const char* const one = std::getenv("RINGSIDE_SIMULATION_SEED")) return {std::stoull(one)};
  if (const char* const many = std::getenv("RINGSIDE_SIMULATION_SEEDS")) count = std::stoull(many);
  const char* const from = std::getenv("RINGSIDE_SIMULATION_FIRST");
  const std::uint64_t first = from != nullptr ? std::stoull(from) : 1;
  std::vector<std::uint64_t> all;
  for (std::uint64_t seed = first; seed < first + count; ++seed) all.push_back(seed);
  return all;
}

// A fifth of `count` under AddressSanitizer, where a world takes some twelve times as long: for
// those tests whose worlds are long.
inline std::uint64_t fewer_where_slow(std::uint64_t count) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  return (count + 4) / 5;
#endif
#endif
  return count;
}

// For SCOPED_TRACE.
inline std::string shown(std::uint64_t seed) {
  const std::string with = text_of(less());
  return fmt::format("again: RINGSIDE_SIMULATION_SEED={}{}{}", seed,
                     with.empty() ? "" : " RINGSIDE_SIMULATION_LESS=", with);
}

}  // namespace ringside::simulation
