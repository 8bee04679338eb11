#include "net/deadlines.h"

#include <algorithm>

#include "base/limits.h"

namespace ringside::net {

void Deadline::set(SteadyPoint at) noexcept {
  at_ = at;
  armed_ = true;
  if (is_linked()) {
    if (slot_tick_ <= wheel_.tick_of(at)) return;
    unlink();
  }
  wheel_.link(*this);
}

Deadlines::Deadlines(SteadyPoint now) noexcept : start_(now) {}

std::uint64_t Deadlines::tick_of(SteadyPoint at) const noexcept {
  if (at <= start_) return 0;
  const auto tick = std::chrono::duration_cast<std::chrono::microseconds>(limits::deadline_tick);
  // Rounded up: never early.
  return static_cast<std::uint64_t>((at - start_ + tick - std::chrono::microseconds{1}) / tick);
}

void Deadlines::link(Deadline& deadline) noexcept {
  deadline.slot_tick_ = std::max(tick_of(deadline.at_), current_tick_ + 1);
  slots_[deadline.slot_tick_ % slot_count].push_back(deadline);
}

void Deadlines::advance(SteadyPoint now) noexcept {
  const auto tick = std::chrono::duration_cast<std::chrono::microseconds>(limits::deadline_tick);
  const auto target = now <= start_ ? 0 : static_cast<std::uint64_t>((now - start_) / tick);
  if (target <= current_tick_) return;
  // After a long pause each slot is looked at once, not once for each turn of the wheel.
  const std::uint64_t first =
      target - current_tick_ > slot_count ? target - slot_count + 1 : current_tick_ + 1;
  current_tick_ = target;
  for (std::uint64_t at_tick = first; at_tick <= target; ++at_tick) {
    Slot due;
    due.swap(slots_[at_tick % slot_count]);
    while (!due.empty()) {
      Deadline& deadline = due.front();
      due.pop_front();
      if (!deadline.armed_) continue;
      if (deadline.at_ > now) {
        link(deadline);
      } else {
        deadline.armed_ = false;
        deadline.expire();
      }
    }
  }
}

}  // namespace ringside::net
