#pragma once

#include <algorithm>
#include <optional>

#include "base/clock.h"
#include "base/limits.h"

namespace ringside::k8s {

// How long is waited after failures in a row: doubling from `start` to `most`.
struct Backoff {
  Milliseconds start = limits::api_backoff_start;
  Milliseconds most = limits::api_backoff_most;

  // After `earlier` failures in a row before this one. `random` of [0, 1) spreads what many
  // processes do that all saw the same failure: half of the wait is fixed, half is drawn. What the
  // server asked for (Retry-After) is never undercut.
  [[nodiscard]] Milliseconds wait(unsigned earlier, double random,
                                  std::optional<Milliseconds> retry_after = {}) const noexcept {
    Milliseconds whole = start;
    for (unsigned i = 0; i < earlier && whole < most; ++i) whole *= 2;
    whole = std::min(whole, most);
    const Milliseconds fixed = whole / 2;
    const Milliseconds::rep drawn =
        static_cast<Milliseconds::rep>(static_cast<double>((whole - fixed).count()) * random);
    return std::max(fixed + Milliseconds{drawn}, retry_after.value_or(Milliseconds{0}));
  }
};

}  // namespace ringside::k8s
