#include "shard/jedis_ring.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "shard/digest.h"

namespace ringside::shard {
namespace {

constexpr std::uint32_t points_per_weight = arc_points;

void put_points(std::vector<Circle::Point>& points, MemberIndex index, std::uint32_t weight) {
  std::string name = fmt::format("SHARD-{}-NODE-", index);
  const std::size_t length = name.size();
  for (std::uint32_t n = 0; n < points_per_weight * weight; ++n) {
    const fmt::format_int digits(n);
    name.resize(length);
    name.append(digits.data(), digits.size());
    points.push_back({jedis_position_of(name), index});
  }
}

std::optional<Arcs> arcs_of(std::span<const Member> members, std::size_t buckets) {
  const auto space = arc_space(members, buckets);
  if (!space) return std::nullopt;
  std::vector<Circle::Point> points;
  for (MemberIndex index = 0; index < space->members(); ++index) {
    put_points(points, index, space->weight);
  }
  return Arcs(std::move(points), "SHARD-" + space->text());
}

Circle circle_of(std::span<const Member> members) {
  std::vector<Circle::Point> points;
  for (MemberIndex index = 0; index < members.size(); ++index) {
    put_points(points, index, members[index].weight);
  }
  // Members put their points in turn, so the highest was the last to put one at a position.
  points = Circle::in_order(std::move(points), 32);
  const auto same = [](const Circle::Point& a, const Circle::Point& b) {
    return a.position == b.position;
  };
  points.erase(points.begin(), std::unique(points.rbegin(), points.rend(), same).base());
  return Circle(std::move(points), 32);
}

}  // namespace

std::uint32_t jedis_position_of(std::string_view bytes) noexcept {
  const auto digest = md5_of(bytes);
  std::uint32_t position = 0;
  for (std::size_t i = 4; i-- > 0;) position = position << 8 | digest[i];
  return position;
}

JedisRing::JedisRing(std::span<const Member> members, std::size_t buckets)
    : circle_(circle_of(members)), arcs_(arcs_of(members, buckets)) {}

MemberIndex JedisRing::owner(const ShardKey& key) const {
  return circle_.owner(jedis_position_of(key.bytes));
}

void JedisRing::owners(const ShardKey& key, std::size_t n, std::vector<MemberIndex>& owners) const {
  circle_.owners(jedis_position_of(key.bytes), n, owners);
}

Bucket JedisRing::bucket_for(const ShardKey& key) const noexcept {
  return arcs_->bucket_at(jedis_position_of(key.bytes));
}

void JedisRing::owners_of(Bucket bucket, std::size_t n, std::vector<MemberIndex>& owners) const {
  circle_.owners(arcs_->position_of(bucket), n, owners);
}

std::vector<MemberIndex> JedisRing::bucket_owners() const {
  return arcs_ ? arcs_->owners_on(circle_) : std::vector<MemberIndex>{};
}

std::string JedisRing::own_numbers() const { return arcs_ ? arcs_->of_whom() : std::string(); }

Result<std::shared_ptr<const Scheme>> make_jedis_ring(std::span<const Member> members) {
  return std::shared_ptr<const Scheme>(std::make_shared<JedisRing>(members));
}

Result<std::shared_ptr<const Scheme>> make_jedis_ring_within(std::span<const Member> members,
                                                             std::size_t buckets) {
  auto made = std::make_shared<JedisRing>(members, buckets);
  if (members.empty() || !made->own_numbers().empty()) return std::shared_ptr<const Scheme>(made);
  return no_arcs("jedis-ring", buckets, "");
}

}  // namespace ringside::shard
