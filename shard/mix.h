#pragma once

#include <cstdint>

#include "shard/topology.h"

namespace ringside::shard {

// Spreads a number over all 64 bits, one to one: the last step of SplitMix64 (Steele, Lea and
// Flood, OOPSLA 2014). Fixed for ever: tests/golden/schemes.csv.
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t number) noexcept {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

// A random number for each bucket: the outputs of SplitMix64 in turn. Buckets that are neighbours
// have nothing in common in it.
[[nodiscard]] constexpr std::uint64_t hash_of(Bucket bucket) noexcept {
  return mix64((std::uint64_t{bucket} + 1) * 0x9e3779b97f4a7c15);
}

}  // namespace ringside::shard
