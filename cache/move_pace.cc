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

microseconds MovePace::usual(std::size_t size_bytes) const noexcept {
  const auto batches = std::max<std::size_t>(1, size_bytes / limits::move_batch_size_bytes);
  return least_ * static_cast<std::int64_t>(batches);
}

bool MovePace::is_late(std::size_t size_bytes, microseconds took,
                       std::size_t allowed_bytes_s) const noexcept {
  const auto sent = time_at(allowed_bytes_s * limits::move_speed, size_bytes);
  return took > usual(size_bytes) + limits::move_delay + sent;
}

void MovePace::came(std::size_t size_bytes, microseconds took, std::size_t allowed_bytes_s,
                    bool is_urgent, SteadyPoint now) noexcept {
  note(took, now);
  const bool late = is_late(size_bytes, took, allowed_bytes_s);
  const SteadyPoint due = next_batch(is_urgent);
  if (due == SteadyPoint{} || now - took - due > limits::move_rise) {
    share_ = 1.0 / limits::move_begin_divisor;
    last_came_ = now;
  }
  const SteadyPoint before = std::exchange(last_came_, now);
  if (!late) {
    using Part = std::chrono::duration<double>;
    const auto passed = std::min<SteadyPoint::duration>(now - before, limits::move_pause);
    share_ = std::min(share_ + Part(passed) / Part(limits::move_rise), 1.0);
  }
  pay(size_bytes, allowed_bytes_s, is_urgent, now);
  if (late && !is_urgent) pause(took - usual(size_bytes), now);
}

void MovePace::came_after_waiting(std::size_t size_bytes, microseconds took,
                                  std::size_t allowed_bytes_s, bool is_urgent,
                                  SteadyPoint now) noexcept {
  pay(size_bytes, allowed_bytes_s, is_urgent, now);
  const bool has_learnt = memory_ends_ != SteadyPoint{};
  if (!has_learnt || is_urgent || !is_late(size_bytes, took, allowed_bytes_s)) return;
  pause(took - usual(size_bytes), now);
}

void MovePace::pay(std::size_t size_bytes, std::size_t allowed_bytes_s, bool is_urgent,
                   SteadyPoint now) noexcept {
  share_ = is_urgent ? 1 : std::max(share_, 1.0 / limits::move_begin_divisor);
  // A wait may end late, which is made up for. What a pause took is not.
  SteadyPoint earliest = now - 5 * limits::deadline_tick;
  if (!is_urgent) earliest = std::max(earliest, std::min(paused_until_, now));
  const auto cost = time_at(rate_bytes_s(allowed_bytes_s), size_bytes);
  next_batch_ = std::max(next_batch_, earliest) + cost;
}

void MovePace::pause(microseconds delay, SteadyPoint now) noexcept {
  const auto time = std::min<microseconds>(delay * limits::move_yield, limits::move_yield_most);
  paused_until_ = std::max(paused_until_, now + time);
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
