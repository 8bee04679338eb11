#pragma once

#include "base/clock.h"

namespace ringside::support {

// For tests that take real time.
inline const SystemClock system_clock;

}  // namespace ringside::support
