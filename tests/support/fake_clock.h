#pragma once

#include <atomic>
#include <chrono>

#include "base/clock.h"
#include "base/limits.h"

namespace ringside::support {

// All times stand still until a test moves them. Thread-safe.
class FakeClock final : public Clock {
 public:
  // Sun, 06 Nov 1994 08:49:37 GMT
  static constexpr TimePoint start{Milliseconds{784'111'777'000}};

  [[nodiscard]] TimePoint now() const noexcept override {
    return start + Milliseconds{passed_ms_.load() - set_back_ms_.load()};
  }
  [[nodiscard]] SteadyPoint steady_now() const noexcept override {
    return SteadyPoint{Milliseconds{1'000'000 + passed_ms_.load()}};
  }
  [[nodiscard]] TimePoint resident_now() const noexcept override {
    return start + Milliseconds{passed_ms_.load()};
  }
  [[nodiscard]] Milliseconds longest_sleep() const noexcept override {
    return limits::deadline_tick;
  }
  // The wall clock, by somebody: time goes on from there.
  void set_back(Milliseconds by) noexcept { set_back_ms_.fetch_add(by.count()); }
  void advance(Milliseconds by) noexcept { passed_ms_.fetch_add(by.count()); }

 private:
  std::atomic<std::int64_t> passed_ms_{0};
  std::atomic<std::int64_t> set_back_ms_{0};
};

}  // namespace ringside::support
