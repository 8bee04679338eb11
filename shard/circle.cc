#include "shard/circle.h"

#include <algorithm>
#include <bit>
#include <bitset>
#include <utility>

#include "base/check.h"
#include "base/limits.h"

namespace ringside::shard {
namespace {

using MemberSet = std::bitset<limits::members>;

}  // namespace

Circle::Circle(std::vector<Point> points, unsigned position_bits) : points_(std::move(points)) {
  if (!std::is_sorted(points_.begin(), points_.end())) std::sort(points_.begin(), points_.end());
  MemberSet seen;
  for (const Point& point : points_) {
    RINGSIDE_CHECK(point.member < limits::members);
    seen.set(point.member);
  }
  distinct_members_ = seen.count();

  const auto slot_bits = static_cast<unsigned>(std::bit_width(points_.size() | 1));
  slot_shift_ = position_bits - slot_bits;
  slots_.reserve(std::size_t{1} << slot_bits);
  std::uint32_t next = 0;
  for (std::uint64_t slot = 0; slot < std::uint64_t{1} << slot_bits; ++slot) {
    while (next < points_.size() && points_[next].position < slot << slot_shift_) ++next;
    slots_.push_back(next);
  }
}

std::size_t Circle::arc_of(std::uint64_t position) const noexcept {
  std::size_t point = slots_[position >> slot_shift_];
  while (point < points_.size() && points_[point].position < position) ++point;
  return point == points_.size() ? 0 : point;
}

void Circle::owners(std::uint64_t position, std::size_t n, std::vector<MemberIndex>& owners) const {
  owners.clear();
  const std::size_t wanted = std::min(n, distinct_members_);
  if (wanted == 0) return;
  MemberSet seen;
  for (std::size_t point = arc_of(position); owners.size() < wanted;) {
    const MemberIndex member = points_[point].member;
    if (!seen.test(member)) {
      seen.set(member);
      owners.push_back(member);
    }
    if (++point == points_.size()) point = 0;
  }
}

}  // namespace ringside::shard
