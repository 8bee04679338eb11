#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace ringside {

// XXH3 with the fixed seed 0: the same bytes give the same hash in every process and every release.
// Pinned by tests/golden/.
[[nodiscard]] std::uint64_t hash64(std::string_view bytes) noexcept;

// A 128-bit identity, written as 32 lower-case hexadecimal digits, high half first.
struct Hash128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  auto operator<=>(const Hash128&) const = default;
  [[nodiscard]] std::string hex() const;
};
[[nodiscard]] Hash128 hash128(std::string_view bytes) noexcept;

}  // namespace ringside
