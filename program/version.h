#pragma once

#include <string>

namespace ringside::program {

// What `ringside version` prints.
[[nodiscard]] std::string version_text();

}  // namespace ringside::program
