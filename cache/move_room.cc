#include "cache/move_room.h"

#include <algorithm>

#include "base/limits.h"

namespace ringside::cache {

// What a store could keep may come.
static_assert(limits::moving_share_divisor <= limits::object_share_divisor);

MoveRoom::MoveRoom(std::size_t store_limit_bytes) noexcept
    : share_bytes_(store_limit_bytes / limits::moved_share_divisor),
      may_evict_bytes_(share_bytes_),
      may_arrive_bytes_(store_limit_bytes / limits::moving_share_divisor) {}

std::size_t MoveRoom::response_bytes_most() const noexcept {
  return std::min(may_arrive_bytes_, limits::moved_response_size_bytes);
}

bool MoveRoom::Arrival::may_begin() const noexcept {
  if (size_bytes_ <= limits::moving_usual_size_bytes) return true;
  const std::size_t coming = room_.arriving_bytes_, most = room_.may_arrive_bytes_;
  const bool has_room = coming == 0 || (coming <= most && size_bytes_ <= most - coming);
  return has_room && room_.waiting_.front() == this;
}

void MoveRoom::Arrival::begin() noexcept {
  room_.waiting_.erase(place_);
  room_.arriving_bytes_ += size_bytes_;
  has_begun_ = true;
}

MoveRoom::Arrival::~Arrival() {
  if (has_begun_) {
    room_.arriving_bytes_ -= size_bytes_;
  } else {
    room_.waiting_.erase(place_);
  }
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
