#pragma once

#include <chrono>

namespace ringside {

using Milliseconds = std::chrono::milliseconds;
using Seconds = std::chrono::seconds;

// Wall-clock time, for what HTTP says with dates: Date, Age, Expires. Decisions take it as `now`.
using TimePoint = std::chrono::sys_time<Milliseconds>;

// Time that never jumps, for deadlines and durations.
using SteadyPoint = std::chrono::time_point<std::chrono::steady_clock, std::chrono::microseconds>;

// Where the time is read. Effects hold a Clock; pure code is given points. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual TimePoint now() const noexcept = 0;
  [[nodiscard]] virtual SteadyPoint steady_now() const noexcept = 0;
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] TimePoint now() const noexcept override {
    return std::chrono::time_point_cast<Milliseconds>(std::chrono::system_clock::now());
  }
  [[nodiscard]] SteadyPoint steady_now() const noexcept override {
    return std::chrono::time_point_cast<std::chrono::microseconds>(
        std::chrono::steady_clock::now());
  }
};

}  // namespace ringside
