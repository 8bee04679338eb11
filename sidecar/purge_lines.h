#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "base/limits.h"
#include "base/seldom.h"

namespace ringside::sidecar {

// Which PURGE requests are a line of the log: one in limits::purge_line_interval, since whoever may
// purge may do so a thousand times a second. Thread-safe.
class PurgeLines {
 public:
  // How many were left out since the last line; nullopt: so is this one.
  [[nodiscard]] std::optional<std::uint64_t> next(SteadyPoint now) {
    const std::lock_guard lock(mutex_);
    return seldom_.next(now);
  }

 private:
  std::mutex mutex_;
  log::Seldom seldom_{limits::purge_line_interval};
};

}  // namespace ringside::sidecar
