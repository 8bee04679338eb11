#pragma once

#include "base/error.h"

namespace ringside::program {

// Tells the service manager that the process has started, and listens. `socket` is what
// NOTIFY_SOCKET names, as systemd's sd_notify(3) has it: a path, or with '@' before it an abstract
// name; null, or empty: nobody waits to be told.
[[nodiscard]] Result<void> tell_ready(const char* socket);

}  // namespace ringside::program
