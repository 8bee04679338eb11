#pragma once

#include <istream>
#include <string>

#include "base/error.h"
#include "program/simulate.h"
#include "replay/access_log.h"
#include "sidecar/settings.h"
#include "simulate/key_set.h"

namespace ringside::program {

struct SimulatedKeys {
  simulate::KeySet keys;
  std::string title;  // what they are, in words
};

// As the options say: generated, of a file, or of an access log.
[[nodiscard]] Result<SimulatedKeys> simulated_keys(const SimulateOptions& options);

// `KEY` or `KEY<tab>WEIGHT` a line; lines of the same key add up, empty ones are passed over. An
// Error names `name` and the line.
[[nodiscard]] Result<simulate::KeySet> read_keys(std::istream& in, const std::string& name);

// The shard keys that a sidecar with these settings makes of a log's GET and HEAD requests, each as
// often as it is asked for. Requests without a route are left out.
[[nodiscard]] simulate::KeySet keys_of_log(const replay::AccessLog& log,
                                           const sidecar::Settings& settings,
                                           const std::string& host);

}  // namespace ringside::program
