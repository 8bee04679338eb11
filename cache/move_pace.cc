#include "cache/move_pace.h"

#include <algorithm>

#include "base/limits.h"

namespace ringside::cache {

using std::chrono::microseconds;

std::size_t MovePace::rate_bytes_s(std::size_t allowed_bytes_s) const noexcept {
  return static_cast<std::size_t>(static_cast<double>(allowed_bytes_s) * share_);
}

void MovePace::came(std::size_t size_bytes, microseconds took, std::size_t allowed_bytes_s,
                    bool is_urgent, SteadyPoint now) noexcept {
  const auto time_at = [size_bytes](std::size_t rate_bytes_s) {
    return microseconds(size_bytes * 1'000'000 / rate_bytes_s);
  };
  // The least is forgotten little by little: the way may be another one by now.
  least_ = least_ == microseconds{0} ? took : std::min(took, least_ + least_ / 64);
  const microseconds in_time =
      least_ + limits::move_delay + time_at(allowed_bytes_s * limits::move_speed);
  constexpr double least_share = 1.0 / limits::move_slowest_divisor;
  share_ = took > in_time ? share_ / 2 : share_ + least_share;
  share_ = is_urgent ? 1 : std::clamp(share_, least_share, 1.0);
  // Waits are a few milliseconds long at least: who was late catches up.
  const SteadyPoint earliest = now - 5 * limits::deadline_tick;
  next_batch_ = std::max(next_batch_, earliest) + time_at(rate_bytes_s(allowed_bytes_s));
}

}  // namespace ringside::cache
