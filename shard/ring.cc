#include "shard/ring.h"

#include <fmt/format.h>

#include <utility>

namespace ringside::shard {
namespace {

Circle circle_of_weights(std::span<const Member> members) {
  std::size_t count = 0;
  for (const Member& member : members) count += std::size_t{member.weight} * ring_points_per_weight;
  std::vector<Circle::Point> points;
  points.reserve(count);
  for (MemberIndex index = 0; index < members.size(); ++index) {
    const Member& member = members[index];
    for (std::uint32_t number = 0; number < member.weight * ring_points_per_weight; ++number) {
      points.push_back({hash64(ring_point_form(member.name, number)), index});
    }
  }
  return Circle(std::move(points));
}

}  // namespace

std::string ring_point_form(std::string_view member_name, std::uint32_t number) {
  std::string form(member_name);
  form.push_back('\0');
  fmt::format_to(std::back_inserter(form), "{}", number);
  return form;
}

Ring::Ring(std::span<const Member> members) : circle_(circle_of_weights(members)) {}

void Ring::owners(const ShardKey& key, std::size_t n, std::vector<MemberIndex>& owners) const {
  circle_.owners(ring_position_of(bucket_of(key.hash)), n, owners);
}

// Buckets and points are both in order of position, so that one pass over the two is enough.
std::vector<MemberIndex> Ring::bucket_owners() const {
  const std::vector<Circle::Point>& points = circle_.points();
  std::vector<MemberIndex> owners;
  if (points.empty()) return owners;
  owners.reserve(bucket_count);
  std::size_t next = 0;
  for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
    const std::uint64_t position = ring_position_of(bucket);
    while (next < points.size() && points[next].position < position) ++next;
    owners.push_back(next < points.size() ? points[next].member : points.front().member);
  }
  return owners;
}

Result<std::shared_ptr<const Scheme>> make_ring(std::span<const Member> members) {
  return std::shared_ptr<const Scheme>(std::make_shared<Ring>(members));
}

}  // namespace ringside::shard
