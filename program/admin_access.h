#pragma once

#include <string>

#include "base/error.h"
#include "http1/admin_access.h"
#include "program/configuration.h"

namespace ringside::program {

// The token in such a file: its one line. An Error names the file and the remedy.
[[nodiscard]] Result<std::string> read_admin_token(const std::string& file);

// Whom the admin address obeys, as configured; reads the token's file.
[[nodiscard]] Result<http::AdminAccess> load_admin_access(const Configuration& configuration);

}  // namespace ringside::program
