#pragma once

#include <cstddef>
#include <string>

#include "base/error.h"

namespace ringside {

// A whole small file. Error: what the system says of it (not_found where there is none), or that it
// is larger than the limit; without a remedy, which is for the reader of the option to name.
[[nodiscard]] Result<std::string> read_file(const std::string& path, std::size_t most_bytes);

}  // namespace ringside
