#pragma once

#include "base/clock.h"
#include "base/task.h"
#include "net/core.h"

namespace ringside::net {

// Waits until then, to the precision of the kernel's timers rather than that of deadlines, or until
// the core stops. By the time that passes outside, whatever the core's clock says.
Task<void> nap(Core& core, SteadyPoint::duration how_long);

}  // namespace ringside::net
