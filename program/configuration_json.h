#pragma once

#include <string>

#include "program/configuration.h"

namespace ringside::program {

// The body of `GET /config`: the effective configuration of a command, as JSON whose keys and
// values are those of the file, so that what it says can be put back into one.
[[nodiscard]] std::string to_json(Command command, const Configuration& configuration);

// What `ringside options` prints, for scripts/option-texts: the table of options, and the names of
// the caching rules.
[[nodiscard]] std::string options_json();

}  // namespace ringside::program
