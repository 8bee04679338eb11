#pragma once

#include <string>
#include <string_view>

namespace ringside {

// Untrusted text for a message: in double quotes, at most 64 bytes of it, and `?` for every byte
// that is not printable ASCII, so that a message stays one short line.
[[nodiscard]] std::string quotation(std::string_view text);

}  // namespace ringside
