#pragma once

#include <chrono>
#include <ctime>

#include "base/time.h"

namespace ringside {

// Where the time is read. Effects hold a Clock; pure code is given points. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual TimePoint now() const noexcept = 0;
  [[nodiscard]] virtual SteadyPoint steady_now() const noexcept = 0;
  // Like now(), but nobody sets it, and it goes on while the machine sleeps: for how long something
  // has been kept.
  [[nodiscard]] virtual TimePoint resident_now() const noexcept { return now(); }
  // Who waits for a point of this clock by real time looks again after so long at the latest; 0:
  // who moves it runs the cores, too.
  [[nodiscard]] virtual Milliseconds longest_sleep() const noexcept {
    return std::chrono::hours{1};
  }
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
  [[nodiscard]] TimePoint resident_now() const noexcept override {
    return began_ + (since_boot() - booted_);
  }

 private:
  [[nodiscard]] static Milliseconds since_boot() noexcept {
    timespec time{};
    ::clock_gettime(CLOCK_BOOTTIME, &time);
    return std::chrono::duration_cast<Milliseconds>(Seconds{time.tv_sec} +
                                                    std::chrono::nanoseconds{time.tv_nsec});
  }

  TimePoint began_ = now();
  Milliseconds booted_ = since_boot();
};

}  // namespace ringside
