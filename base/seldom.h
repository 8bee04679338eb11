#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace ringside::log {

// Lets through one of many like lines in a while, so that who causes them can't flood the log.
class Seldom {
 public:
  explicit Seldom(Milliseconds interval) noexcept : interval_(interval) {}

  // How many were held back since the last one that was let through; nullopt: this one is held back
  // as well.
  std::optional<std::uint64_t> next(SteadyPoint now) noexcept {
    if (last_ && now - *last_ < interval_) {
      ++held_back_;
      return std::nullopt;
    }
    last_ = now;
    const std::uint64_t held_back = held_back_;
    held_back_ = 0;
    return held_back;
  }

 private:
  const Milliseconds interval_;
  std::optional<SteadyPoint> last_;
  std::uint64_t held_back_ = 0;
};

}  // namespace ringside::log
