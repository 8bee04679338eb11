#pragma once

#include <string_view>

namespace ringside::http {

// What a URI is for: a part of it, and of what is stored for it.
enum class Scheme { http, https };

[[nodiscard]] constexpr std::string_view name(Scheme scheme) noexcept {
  return scheme == Scheme::https ? "https" : "http";
}

}  // namespace ringside::http
