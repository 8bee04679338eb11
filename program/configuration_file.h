#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "program/configuration.h"

namespace ringside::program {

// Overlays what the YAML text says. Keys are the flags' names with '_' for '-', `routes` and
// `cache`; those that the command has no use for are taken too, so that a tier can share one file.
// Unknown keys, wrong types and bad values are Errors `FILE:LINE: …; remedy`; `file` is only its
// name.
[[nodiscard]] Result<void> overlay_yaml(Configuration& configuration, std::string_view text,
                                        const std::string& file);

// The same for a file's content, at most limits::configuration_size_bytes.
[[nodiscard]] Result<void> overlay_file(Configuration& configuration, const std::string& path);

// The keys of a route, but for `cache`.
[[nodiscard]] std::vector<std::string_view> route_key_names();

}  // namespace ringside::program
