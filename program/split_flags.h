#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/error.h"
#include "program/split.h"

namespace ringside::program {

// The flags of `ringside split`; `admins` is read afterwards.
void add_split_flags(CLI::App& app, std::string& admins, SplitOptions& out);
[[nodiscard]] Result<void> read_split_flags(const std::string& admins, SplitOptions& out);

}  // namespace ringside::program
