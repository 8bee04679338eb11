#pragma once

#include <string_view>

namespace ringside::simulate {

// page.html, with marks such as {{title}} in it; CMake makes a source of the file.
extern const std::string_view page_template;

}  // namespace ringside::simulate
