#pragma once

#include "hop/wire.h"

namespace ringside::http {

// HTTP/1.1 on connections of the core's stack.
[[nodiscard]] const hop::Wire& wire() noexcept;

}  // namespace ringside::http
