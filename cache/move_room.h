#pragma once

#include <cstddef>
#include <optional>

#include "base/time.h"

namespace ringside::cache {

// How much of what a full store has may go for stored responses that move here: a share of it, and
// the same again after each limits::move_room_interval. When that is used up, moving waits. Until
// then the holder keeps what has not moved, and answers for it. So a store takes what is warm
// elsewhere without losing all at once what is warm here, and moving ends. A value; time is given.
class MoveRoom {
 public:
  explicit MoveRoom(std::size_t store_limit_bytes) noexcept;

  // Nullopt: another batch may be asked for. Else it may at this time, or when so much is free.
  [[nodiscard]] std::optional<SteadyPoint> full_until(std::size_t free_bytes,
                                                      SteadyPoint now) noexcept;
  // What may go now. Store::restore lessens it.
  [[nodiscard]] std::size_t& may_evict_bytes() noexcept { return may_evict_bytes_; }

 private:
  std::size_t share_bytes_;
  std::size_t may_evict_bytes_;
  SteadyPoint renewed_{};
};

}  // namespace ringside::cache
