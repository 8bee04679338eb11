#pragma once

#include <cstddef>
#include <list>
#include <optional>

#include "base/time.h"

namespace ringside::cache {

// How much room there is for stored responses that move here. Time is given. Not thread-safe.
//
// In a full store it is a share of what the store has, and the same again after each
// limits::move_room_interval. When that is used up, moving waits. Until then the holder keeps what
// has not moved, and answers for it. So a store takes what is warm elsewhere without losing all at
// once what is warm here, and moving ends.
//
// What is on its way is no more than a share of the store either (limits::moving_share_divisor).
// Three do not wait for that: a batch that is larger by itself, when nothing else comes; one whose
// giver drains; and one that is no larger than usual, since it would wait for a large one that
// comes slowly.
class MoveRoom {
 public:
  explicit MoveRoom(std::size_t store_limit_bytes) noexcept;
  MoveRoom(const MoveRoom&) = delete;
  MoveRoom& operator=(const MoveRoom&) = delete;

  // Nullopt: another batch may be asked for. Else it may at this time, or when so much is free.
  [[nodiscard]] std::optional<SteadyPoint> full_until(std::size_t free_bytes,
                                                      SteadyPoint now) noexcept;
  // What may go now. Store::restore lessens it.
  [[nodiscard]] std::size_t& may_evict_bytes() noexcept { return may_evict_bytes_; }

  // The largest body of a stored response that may move here.
  [[nodiscard]] std::size_t response_bytes_most() const noexcept;

  // A batch that is to come here, until what it had is stored. Those that wait begin in the order
  // in which they were made. The room must outlive it.
  class Arrival {
   public:
    Arrival(MoveRoom& room, std::size_t size_bytes)
        : room_(room),
          size_bytes_(size_bytes),
          place_(room.waiting_.insert(room.waiting_.end(), this)) {}
    ~Arrival();
    Arrival(const Arrival&) = delete;
    Arrival& operator=(const Arrival&) = delete;
    // Before begin(): whether it may come beside what is on its way.
    [[nodiscard]] bool may_begin() const noexcept;
    void begin() noexcept;

   private:
    MoveRoom& room_;
    const std::size_t size_bytes_;
    const std::list<const Arrival*>::iterator place_;
    bool has_begun_ = false;
  };

 private:
  std::size_t share_bytes_;
  std::size_t may_evict_bytes_;
  std::size_t may_arrive_bytes_;  // at once
  std::size_t arriving_bytes_ = 0;
  std::list<const Arrival*> waiting_;
  SteadyPoint renewed_{};
};

}  // namespace ringside::cache
