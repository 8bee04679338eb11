#pragma once

#include <string>
#include <vector>

#include "program/configuration.h"

namespace ringside::program {

// What operators should know of a configuration that is valid, a line each: a real start logs them,
// and so does `--validate`.
[[nodiscard]] std::vector<std::string> start_warnings(Command command,
                                                      const Configuration& configuration);

}  // namespace ringside::program
