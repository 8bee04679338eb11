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

// Adds the files that a start or a reload reads after load(), and drops the state file if this
// process writes it. Call it before those files are read. `in_use`: as keep_fixed() leaves it.
void watch_named(FileWatch& files, Command command, const Configuration& in_use);

// The configuration of a running process, loaded again.
struct Reloaded {
  Configuration configuration;
  std::vector<std::string> kept;  // names of options that differ, and can't be changed
  FileWatch files;                // all that the reload reads, from before it is read
};
[[nodiscard]] Result<Reloaded> load_again(const Invocation& invocation,
                                          const Configuration& running);

// The keys that were given but that the command has no use for.
[[nodiscard]] std::vector<std::string> unused_keys(Command command,
                                                   const Configuration& configuration);

}  // namespace ringside::program
