#pragma once

#include <chrono>
#include <cstddef>

#include "base/time.h"

namespace ringside::cache {

// How fast stored responses move into this replica: as fast as is allowed, while nobody waits for
// it. That others wait shows in how long a batch takes (as in LEDBAT, RFC 6817): who gives and who
// takes serve their clients on the same cores. A batch that comes late halves the rate, one in time
// raises it by a part of what is allowed. A value; time is given.
class MovePace {
 public:
  // A batch of so many bytes has come at `now`, `took` after it was asked for. `allowed_bytes_s`:
  // the rate at most. `is_urgent`: its giver is about to end, and is not waited for.
  void came(std::size_t size_bytes, std::chrono::microseconds took, std::size_t allowed_bytes_s,
            bool is_urgent, SteadyPoint now) noexcept;
  // When the next batch of anybody may be asked for.
  [[nodiscard]] SteadyPoint next_batch() const noexcept { return next_batch_; }
  [[nodiscard]] std::size_t rate_bytes_s(std::size_t allowed_bytes_s) const noexcept;

 private:
  std::chrono::microseconds least_{0};  // that a batch takes, as far as is known; 0: not at all
  double share_ = 1;                    // of what is allowed
  SteadyPoint next_batch_{};
};

}  // namespace ringside::cache
