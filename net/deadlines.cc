#include "net/deadlines.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"

namespace ringside::net {
namespace {

constexpr auto tick = std::chrono::duration_cast<std::chrono::microseconds>(limits::deadline_tick);

}  // namespace

void Deadline::set(SteadyPoint at) noexcept {
  at_ = at;
  armed_ = true;
  if (is_linked()) {
    if (slot_tick_ <= wheel_.tick_of(at)) return;
    unlink();
  }
  wheel_.link(*this);
}

Deadlines::Deadlines(SteadyPoint now, std::function<void()> earlier)
    : start_(now), earlier_(std::move(earlier)) {}

std::uint64_t Deadlines::tick_of(SteadyPoint at) const noexcept {
  if (at <= start_) return 0;
  // Rounded up: never early.
  return static_cast<std::uint64_t>((at - start_ + tick - std::chrono::microseconds{1}) / tick);
}

void Deadlines::link(Deadline& deadline) noexcept {
  deadline.slot_tick_ = std::max(tick_of(deadline.at_), current_tick_ + 1);
  slots_[deadline.slot_tick_ % slot_count].push_back(deadline);
  if (deadline.slot_tick_ < awaited_tick_) {
    awaited_tick_ = 0;
    if (earlier_) earlier_();
  }
}

SteadyPoint Deadlines::next() noexcept {
  std::uint64_t at_tick = current_tick_ + 1;
  while (at_tick < current_tick_ + slot_count && slots_[at_tick % slot_count].empty()) ++at_tick;
  awaited_tick_ = at_tick;
  return start_ + at_tick * tick;
}

void Deadlines::advance(SteadyPoint now) noexcept {
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
