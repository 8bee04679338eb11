#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "program/configuration.h"
#include "program/file_watch.h"
#include "program/options.h"

namespace ringside::program {

// How a configured command was called; kept, so that a reload reads the same file again under the
// same flags.
struct Invocation {
  Command command = Command::up;
  std::string config_file;  // empty: none
  std::vector<std::pair<const Option*, std::string>> flags;
  bool validate = false;
  bool show = false;  // `ringside config`: prints the configuration and ends
};

// The defaults, overlaid by the file, overlaid by the flags, checked. `files`, where given, watches
// the files that are read here, from before they are read.
[[nodiscard]] Result<Configuration> load(const Invocation& invocation, FileWatch* files = nullptr);

// Watches besides what a start and each reload read after load(), and no state file that this
// process writes. Call it before they do. `in_use`: what was loaded, as keep_fixed() leaves it.
void watch_named(FileWatch& files, Command command, const Configuration& in_use);

// The keys that were given but that the command has no use for.
[[nodiscard]] std::vector<std::string> unused_keys(Command command,
                                                   const Configuration& configuration);

}  // namespace ringside::program
