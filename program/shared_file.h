#pragma once

#include <string>
#include <string_view>

namespace ringside::program {

// A file that comes with the program: `share/ringside/NAME` beside its folder or one above (an
// installed tree). Empty: there is none.
[[nodiscard]] std::string shared_file(std::string_view name);

}  // namespace ringside::program
