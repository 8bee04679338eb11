#pragma once

#include <cstddef>
#include <string_view>

namespace ringside {

// Whether both are the same, in a time that tells nothing of the secret but perhaps its length.
[[nodiscard]] inline bool same_secret(std::string_view given, std::string_view secret) noexcept {
  volatile unsigned char differs = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const char expected = secret.empty() ? '\0' : secret[i % secret.size()];
    differs = static_cast<unsigned char>(differs | (given[i] ^ expected));
  }
  return differs == 0;
}

}  // namespace ringside
