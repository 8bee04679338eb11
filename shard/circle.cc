#include "shard/circle.h"

#include <algorithm>
#include <bitset>
#include <utility>

#include "base/check.h"
#include "base/limits.h"

namespace ringside::shard {
namespace {

using MemberSet = std::bitset<limits::members>;

}  // namespace

Circle::Circle(std::vector<Point> points) : points_(std::move(points)) {
  std::sort(points_.begin(), points_.end());
  MemberSet seen;
  for (const Point& point : points_) {
    RINGSIDE_CHECK(point.member < limits::members);
    seen.set(point.member);
  }
  distinct_members_ = seen.count();
}

void Circle::owners(std::uint64_t position, std::size_t n, std::vector<MemberIndex>& owners) const {
  owners.clear();
  const std::size_t wanted = std::min(n, distinct_members_);
  if (wanted == 0) return;
  auto point = std::lower_bound(points_.begin(), points_.end(), Point{position, 0});
  MemberSet seen;
  while (owners.size() < wanted) {
    if (point == points_.end()) point = points_.begin();
    if (!seen.test(point->member)) {
      seen.set(point->member);
      owners.push_back(point->member);
    }
    ++point;
  }
}

}  // namespace ringside::shard
