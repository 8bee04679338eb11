#pragma once

#include <string>
#include <string_view>

namespace ringside::program {

// What to do with a key of a configuration file that is one of another map: where it belongs. Empty
// where no map has it.
[[nodiscard]] std::string remedy_of_misplaced(std::string_view key);

}  // namespace ringside::program
