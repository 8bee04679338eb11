#include "cache/move_room.h"

#include <algorithm>

#include "base/limits.h"

namespace ringside::cache {

MoveRoom::MoveRoom(std::size_t store_limit_bytes) noexcept
    : share_bytes_(store_limit_bytes / limits::moved_share_divisor),
      may_evict_bytes_(share_bytes_),
      may_arrive_bytes_(store_limit_bytes / limits::moving_share_divisor) {}

std::size_t MoveRoom::response_bytes_most() const noexcept {
  return std::min(may_arrive_bytes_, limits::moved_response_size_bytes);
}

bool MoveRoom::may_arrive(std::size_t size_bytes) const noexcept {
  return arriving_bytes_ == 0 || arriving_bytes_ + size_bytes <= may_arrive_bytes_;
}

std::optional<SteadyPoint> MoveRoom::full_until(std::size_t free_bytes, SteadyPoint now) noexcept {
  if (now >= renewed_ + limits::move_room_interval) {
    may_evict_bytes_ = share_bytes_;
    renewed_ = now;
  }
  // A store whose share is less than a batch takes one batch each time.
  const std::size_t needed_bytes = std::min(limits::move_batch_size_bytes, share_bytes_);
  if (free_bytes >= limits::move_batch_size_bytes || may_evict_bytes_ >= needed_bytes) {
    return std::nullopt;
  }
  return renewed_ + limits::move_room_interval;
}

}  // namespace ringside::cache
