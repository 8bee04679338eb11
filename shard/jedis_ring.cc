#include "shard/jedis_ring.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ringside::shard {
namespace {

constexpr std::uint32_t points_per_weight = 160;

Circle circle_of(std::span<const Member> members, const Digest& md5) {
  std::vector<Circle::Point> points;
  for (MemberIndex index = 0; index < members.size(); ++index) {
    for (std::uint32_t n = 0; n < points_per_weight * members[index].weight; ++n) {
      points.push_back({jedis_position_of(md5, fmt::format("SHARD-{}-NODE-{}", index, n)), index});
    }
  }
  // Members put their points in turn, so the highest was the last to put one at a position.
  std::sort(points.rbegin(), points.rend());
  const auto same = [](const Circle::Point& a, const Circle::Point& b) {
    return a.position == b.position;
  };
  points.erase(std::unique(points.begin(), points.end(), same), points.end());
  return Circle(std::move(points), 32);
}

}  // namespace

std::uint32_t jedis_position_of(const Digest& md5, std::string_view bytes) {
  const auto digest = md5.of(bytes);
  std::uint32_t position = 0;
  for (std::size_t i = 4; i-- > 0;) position = position << 8 | digest[i];
  return position;
}

JedisRing::JedisRing(std::span<const Member> members, Digest md5)
    : md5_(std::move(md5)), circle_(circle_of(members, md5_)) {}

MemberIndex JedisRing::owner(const ShardKey& key) const {
  return circle_.owner(jedis_position_of(md5_, key.bytes));
}

void JedisRing::owners(const ShardKey& key, std::size_t n, std::vector<MemberIndex>& owners) const {
  circle_.owners(jedis_position_of(md5_, key.bytes), n, owners);
}

Result<std::shared_ptr<const Scheme>> make_jedis_ring(std::span<const Member> members) {
  auto md5 = Digest::md5();
  if (!md5) return md5.error();
  return std::shared_ptr<const Scheme>(std::make_shared<JedisRing>(members, *std::move(md5)));
}

}  // namespace ringside::shard
