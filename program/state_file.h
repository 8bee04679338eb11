#pragma once

#include "base/error.h"
#include "program/configuration.h"

namespace ringside::program {

// Reads the file of `--state`, where there is one, into Configuration::state. An Error names the
// file, the place in it and the remedy. A reload reads it again.
// Where this process writes the state, the file may have yet to be made.
[[nodiscard]] Result<void> read_state_file(Configuration& configuration);

// What a reload goes by: where this process writes the state, the one in use counts and not what
// was read of the file, which may be gone, or from before the last cut.
[[nodiscard]] Configuration with_kept_state(const Configuration& running, Configuration loaded);

// Keeps the state of a topology in the file, where this process writes it, and as the configured
// one, so that a reload finds nothing new. An Error: it could not be written, and nothing changed.
[[nodiscard]] Result<void> keep_state(Configuration& configuration,
                                      const shard::Topology& topology);

}  // namespace ringside::program
