#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

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

// How a machine's clock differs from the simulation's time.
struct ClockTraits {
  Milliseconds wall_offset{0};
  Seconds uptime{0};
  std::int64_t drift_ppm = 0;  // so much faster; negative: slower
  Milliseconds wall_step{1};   // in which the hour moves on
};

// That time as one process sees it: no two machines agree about the hour, about when they were
// started, or about how long a second is.
class SimulatedClock final : public Clock {
 public:
  SimulatedClock(const SimulatedTime& time, const ClockTraits& traits) noexcept
      : time_(time), traits_(traits) {}

  [[nodiscard]] TimePoint now() const noexcept override {
    const auto passed =
        traits_.wall_offset + std::chrono::duration_cast<Milliseconds>(passed_here());
    return start + passed / traits_.wall_step * traits_.wall_step;
  }
  [[nodiscard]] SteadyPoint steady_now() const noexcept override {
    return SteadyPoint{traits_.uptime + passed_here()};
  }
  [[nodiscard]] Milliseconds longest_sleep() const noexcept override { return Milliseconds{0}; }

 private:
  // Sun, 06 Nov 1994 08:49:37 GMT
  static constexpr TimePoint start{Milliseconds{784'111'777'000}};

  [[nodiscard]] Instant passed_here() const noexcept {
    return time_.now() + time_.now() * traits_.drift_ppm / 1'000'000;
  }

  const SimulatedTime& time_;
  const ClockTraits traits_;
};

}  // namespace ringside::simulation
