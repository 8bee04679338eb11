#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "base/time.h"

namespace ringside::cache {

// How fast stored responses move into this replica: as fast as is allowed, while nobody waits for
// it. That others wait shows in how long a batch takes (as in LEDBAT, RFC 6817): who gives and who
// takes serve their clients on the same cores. After a batch that comes late the next one waits for
// limits::move_yield times its delay, so that what the clients have asked for is done first. A move
// that waits for its turn already keeps it. Where clients and moving fill the cores, moving takes
// what is left. It begins with a part of the rate: what a batch takes at its fastest is to be
// learnt first. A value; time is given.
class MovePace {
 public:
  // A batch of so many bytes has come at `now`, `took` after it was asked for. `allowed_bytes_s`:
  // the rate at most. `is_urgent`: its giver is about to end, and is not waited for.
  void came(std::size_t size_bytes, std::chrono::microseconds took, std::size_t allowed_bytes_s,
            bool is_urgent, SteadyPoint now) noexcept;
  // Likewise, of one that waited here: `took` is since its turn began. Some of it had come before,
  // so it does not tell how fast a batch can be.
  void came_after_waiting(std::size_t size_bytes, std::chrono::microseconds took,
                          std::size_t allowed_bytes_s, bool is_urgent, SteadyPoint now) noexcept;
  // When the next batch may be asked for. `is_urgent`: of a giver that is about to end.
  [[nodiscard]] SteadyPoint next_batch(bool is_urgent) const noexcept {
    return is_urgent ? next_batch_ : std::max(next_batch_, paused_until_);
  }
  [[nodiscard]] std::size_t rate_bytes_s(std::size_t allowed_bytes_s) const noexcept;

 private:
  [[nodiscard]] std::chrono::microseconds usual(std::size_t size_bytes) const noexcept;
  [[nodiscard]] bool is_late(std::size_t size_bytes, std::chrono::microseconds took,
                             std::size_t allowed_bytes_s) const noexcept;
  void pay(std::size_t size_bytes, std::size_t allowed_bytes_s, bool is_urgent,
           SteadyPoint now) noexcept;
  void pause(std::chrono::microseconds delay, SteadyPoint now) noexcept;
  void note(std::chrono::microseconds took, SteadyPoint now) noexcept;

  // The least that a batch takes, since one or two of limits::move_memory ago.
  std::chrono::microseconds least_{0};
  std::chrono::microseconds least_since_{0};  // this one began
  SteadyPoint memory_ends_{};
  double share_ = 0;  // of what is allowed
  SteadyPoint last_came_{};
  SteadyPoint next_batch_{};    // what has come is paid for
  SteadyPoint paused_until_{};  // clients go first
};

}  // namespace ringside::cache
