#pragma once

#include "base/error.h"
#include "program/configuration.h"

namespace ringside::program {

// Reads the file of `--state`, where there is one, into Configuration::state. An Error names the
// file, the place in it and the remedy. A reload reads it again.
[[nodiscard]] Result<void> read_state_file(Configuration& configuration);

}  // namespace ringside::program
