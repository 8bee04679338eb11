#pragma once

#include <string>
#include <string_view>

#include "program/configuration.h"

namespace ringside::program {

// The admin server's `GET /`: what this process is and where its pages are.
[[nodiscard]] std::string front_page(std::string_view title, Command command);

}  // namespace ringside::program
