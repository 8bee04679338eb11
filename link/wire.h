#pragma once

#include "hop/wire.h"

namespace ringside::link {

// HTTP/1.1, and links between the members of a tier.
[[nodiscard]] const hop::Wire& wire() noexcept;

}  // namespace ringside::link
