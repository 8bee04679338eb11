#include "cache/move_pace.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/limits.h"

namespace ringside::cache {

using std::chrono::microseconds;

namespace {

microseconds time_at(std::size_t rate_bytes_s, std::size_t size_bytes) {
  return microseconds(size_bytes * 1'000'000 / rate_bytes_s);
}

}  // namespace

std::size_t MovePace::rate_bytes_s(std::size_t allowed_bytes_s) const noexcept {
  return static_cast<std::size_t>(static_cast<double>(allowed_bytes_s) * share_);
}

void MovePace::came(std::size_t size_bytes, microseconds took, std::size_t allowed_bytes_s,
                    bool is_urgent, SteadyPoint now) noexcept {
  note(took, now);
  const auto batches = std::max<std::size_t>(1, size_bytes / limits::move_batch_size_bytes);
  const microseconds usual = least_ * static_cast<std::int64_t>(batches);
  const microseconds in_time =
      usual + limits::move_delay + time_at(allowed_bytes_s * limits::move_speed, size_bytes);
  const SteadyPoint due = next_batch(is_urgent);
  if (due == SteadyPoint{} || now - took - due > limits::move_rise) {
    share_ = 1.0 / limits::move_begin_divisor;
    last_came_ = now;
  }
  const SteadyPoint before = std::exchange(last_came_, now);
  if (took <= in_time) {
    using Part = std::chrono::duration<double>;
    const auto passed = std::min<SteadyPoint::duration>(now - before, limits::move_pause);
    share_ = std::min(share_ + Part(passed) / Part(limits::move_rise), 1.0);
  }
  came_after_waiting(size_bytes, allowed_bytes_s, is_urgent, now);
  if (took > in_time && !is_urgent) {
    const auto pause =
        std::min<microseconds>((took - usual) * limits::move_yield, limits::move_yield_most);
    paused_until_ = std::max(paused_until_, now + pause);
  }
}

void MovePace::came_after_waiting(std::size_t size_bytes, std::size_t allowed_bytes_s,
                                  bool is_urgent, SteadyPoint now) noexcept {
  share_ = is_urgent ? 1 : std::max(share_, 1.0 / limits::move_begin_divisor);
  // A wait may end late, which is made up for. What a pause took is not.
  SteadyPoint earliest = now - 5 * limits::deadline_tick;
  if (!is_urgent) earliest = std::max(earliest, std::min(paused_until_, now));
  const auto cost = time_at(rate_bytes_s(allowed_bytes_s), size_bytes);
  next_batch_ = std::max(next_batch_, earliest) + cost;
}

// The least is forgotten in time: the way may be another one by now.
void MovePace::note(microseconds took, SteadyPoint now) noexcept {
  if (now >= memory_ends_) {
    least_ = memory_ends_ == SteadyPoint{} ? took : least_since_;
    least_since_ = took;
    memory_ends_ = now + limits::move_memory;
  }
  least_ = std::min(least_, took);
  least_since_ = std::min(least_since_, took);
}

}  // namespace ringside::cache
