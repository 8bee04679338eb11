#pragma once

#include <cstddef>
#include <optional>

#include "base/time.h"

namespace ringside::cache {

// How much room there is for stored responses that move here. A value; time is given.
//
// In a full store it is a share of what the store has, and the same again after each
// limits::move_room_interval. When that is used up, moving waits. Until then the holder keeps what
// has not moved, and answers for it. So a store takes what is warm elsewhere without losing all at
// once what is warm here, and moving ends.
//
// What is on its way is no more than a share of the store either (limits::moving_share_divisor).
class MoveRoom {
 public:
  explicit MoveRoom(std::size_t store_limit_bytes) noexcept;

  // Nullopt: another batch may be asked for. Else it may at this time, or when so much is free.
  [[nodiscard]] std::optional<SteadyPoint> full_until(std::size_t free_bytes,
                                                      SteadyPoint now) noexcept;
  // What may go now. Store::restore lessens it.
  [[nodiscard]] std::size_t& may_evict_bytes() noexcept { return may_evict_bytes_; }

  // The largest body of a stored response that may move here.
  [[nodiscard]] std::size_t response_bytes_most() const noexcept;
  // Whether a batch of that size may come beside what is on its way. One alone always may.
  [[nodiscard]] bool may_arrive(std::size_t size_bytes) const noexcept;
  // A batch on its way here, until what it had is stored. The room must outlive it.
  class Arrival {
   public:
    Arrival(MoveRoom& room, std::size_t size_bytes) noexcept
        : room_(room), size_bytes_(size_bytes) {
      room_.arriving_bytes_ += size_bytes_;
    }
    ~Arrival() { room_.arriving_bytes_ -= size_bytes_; }
    Arrival(const Arrival&) = delete;
    Arrival& operator=(const Arrival&) = delete;

   private:
    MoveRoom& room_;
    const std::size_t size_bytes_;
  };

 private:
  std::size_t share_bytes_;
  std::size_t may_evict_bytes_;
  std::size_t may_arrive_bytes_;  // at once
  std::size_t arriving_bytes_ = 0;
  SteadyPoint renewed_{};
};

}  // namespace ringside::cache
