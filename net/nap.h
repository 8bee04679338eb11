#pragma once

#include "base/clock.h"
#include "base/task.h"
#include "net/core.h"

namespace ringside::net {

// Waits until then, to the precision of the kernel's timers rather than that of deadlines, or until
// the core stops. By the time that passes outside, whatever the core's clock says.
Task<void> nap(Core& core, SteadyPoint::duration how_long);

// Likewise, but until the core's clock says so. Where nothing may wait by real time
// (Clock::longest_sleep), to the precision of deadlines.
Task<void> nap_until(Core& core, SteadyPoint when);

}  // namespace ringside::net
