#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ringside::shard {

// For the schemes that others defined with them. Nothing here is for security.
[[nodiscard]] std::array<std::uint8_t, 16> md5_of(std::string_view bytes) noexcept;   // RFC 1321
[[nodiscard]] std::array<std::uint8_t, 20> sha1_of(std::string_view bytes) noexcept;  // RFC 3174

}  // namespace ringside::shard
