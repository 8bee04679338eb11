#pragma once

#include <algorithm>
#include <chrono>

#include "base/clock.h"

namespace ringside::simulation {

// Since the simulation began.
using Instant = std::chrono::microseconds;

// The one time of a simulation; it moves only when it is told to.
class SimulatedTime {
 public:
  [[nodiscard]] Instant now() const noexcept { return now_; }
  void move_to(Instant at) noexcept { now_ = std::max(now_, at); }

 private:
  Instant now_{0};
};

// That time as one process sees it: no two machines agree about the hour, or about when they were
// started.
class SimulatedClock final : public Clock {
 public:
  SimulatedClock(const SimulatedTime& time, Milliseconds wall_offset, Seconds uptime) noexcept
      : time_(time), wall_offset_(wall_offset), uptime_(uptime) {}

  [[nodiscard]] TimePoint now() const noexcept override {
    return start + wall_offset_ + std::chrono::duration_cast<Milliseconds>(time_.now());
  }
  [[nodiscard]] SteadyPoint steady_now() const noexcept override {
    return SteadyPoint{uptime_ + time_.now()};
  }

 private:
  // Sun, 06 Nov 1994 08:49:37 GMT
  static constexpr TimePoint start{Milliseconds{784'111'777'000}};

  const SimulatedTime& time_;
  const Milliseconds wall_offset_;
  const Seconds uptime_;
};

}  // namespace ringside::simulation
