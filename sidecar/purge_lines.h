#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "base/limits.h"
#include "base/time.h"

namespace ringside::sidecar {

// Which PURGE requests are a line of the log: one in limits::purge_line_interval, since whoever may
// purge may do so a thousand times a second. Thread-safe.
class PurgeLines {
 public:
  // How many were left out since the last line; nullopt: so is this one.
  [[nodiscard]] std::optional<std::uint64_t> next(SteadyPoint now) {
    const std::lock_guard lock(mutex_);
    if (now < not_before_) {
      ++left_out_;
      return std::nullopt;
    }
    not_before_ = now + limits::purge_line_interval;
    return std::exchange(left_out_, 0);
  }

 private:
  std::mutex mutex_;
  SteadyPoint not_before_{};
  std::uint64_t left_out_ = 0;
};

}  // namespace ringside::sidecar
