#pragma once

#include <string>

#include "program/configuration.h"

namespace ringside::program {

// The body of `GET /config`: the effective configuration of a command, as JSON whose keys and
// values are those of the file, so that what it says can be put back into one.
[[nodiscard]] std::string to_json(Command command, const Configuration& configuration);

}  // namespace ringside::program
