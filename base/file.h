#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"

namespace ringside {

// A whole small file. Error: what the system says of it (not_found where there is none), or that it
// is larger than the limit; without a remedy, which is for the reader of the option to name.
[[nodiscard]] Result<std::string> read_file(const std::string& path, std::size_t most_bytes);

// Puts `text` in the place of the file, whole or not at all: who reads it meanwhile, or after a
// crash, finds the old one or the new one. The file is on its disk when this returns. Needs a
// folder in which a file may be made; the Error is what the system says.
[[nodiscard]] Result<void> replace_file(const std::string& path, std::string_view text);

}  // namespace ringside
