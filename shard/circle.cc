#include "shard/circle.h"

#include <algorithm>
#include <bit>
#include <bitset>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/limits.h"

namespace ringside::shard {
namespace {

using MemberSet = std::bitset<limits::members>;

unsigned slot_bits_of(std::size_t points) noexcept {
  return static_cast<unsigned>(std::bit_width(points | 1));
}

}  // namespace

std::vector<Circle::Point> Circle::in_order(std::vector<Point> points, unsigned position_bits) {
  if (std::is_sorted(points.begin(), points.end())) return points;
  const unsigned slot_bits = slot_bits_of(points.size());
  const unsigned shift = position_bits - slot_bits;
  std::vector<std::uint32_t> ends((std::size_t{1} << slot_bits) + 1);  // by slot, one farther on
  for (const Point& point : points) ++ends[(point.position >> shift) + 1];
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<Point> ordered(points.size());
  for (const Point& point : points) ordered[ends[point.position >> shift]++] = point;
  std::uint32_t begin = 0;
  for (const std::uint32_t end : ends) {
    if (end - begin > 1) std::sort(ordered.begin() + begin, ordered.begin() + end);
    begin = end;
  }
  return ordered;
}

Circle::Circle(std::vector<Point> points, unsigned position_bits)
    : points_(in_order(std::move(points), position_bits)) {
  MemberSet seen;
  for (const Point& point : points_) {
    RINGSIDE_CHECK(point.member < limits::members);
    seen.set(point.member);
  }
  distinct_members_ = seen.count();

  const unsigned slot_bits = slot_bits_of(points_.size());
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
