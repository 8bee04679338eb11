#pragma once

#include <chrono>

namespace ringside {

using Milliseconds = std::chrono::milliseconds;
using Seconds = std::chrono::seconds;

// Wall-clock time, for what HTTP says with dates: Date, Age, Expires. Decisions take it as `now`.
using TimePoint = std::chrono::sys_time<Milliseconds>;

// Time that never jumps, for deadlines and durations.
using SteadyPoint = std::chrono::time_point<std::chrono::steady_clock, std::chrono::microseconds>;

}  // namespace ringside
