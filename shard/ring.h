#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "shard/circle.h"
#include "shard/topology.h"

namespace ringside::shard {

// Points of a member of weight 1. The share of one of ten members then varies with a standard
// deviation of about 1/sqrt(160) = 8 % of the mean.
constexpr std::uint32_t ring_points_per_weight = 160;

// What is hashed to place one of a member's points: the name, a zero byte, the number in decimal
// without leading zeros. The last zero byte ends the name, so no two points share a form. Fixed for
// ever: tests/golden/ring.csv.
[[nodiscard]] std::string ring_point_form(std::string_view member_name, std::uint32_t number);

// Where a bucket lies on the circle: the middle of the hashes that fall into it.
[[nodiscard]] constexpr std::uint64_t ring_position_of(std::size_t bucket) noexcept {
  constexpr unsigned low_bits = 64 - bucket_bits;
  return (std::uint64_t{bucket} << low_bits) + (std::uint64_t{1} << (low_bits - 1));
}

// Scheme `ring`, our own: points 0 to 160·weight - 1 of each member lie on the circle of 64-bit
// hashes, and a bucket belongs to the next point at or after its middle. A member's points depend
// on nothing but its name, and a lower weight's points are among those of a higher one. So a
// joining member only takes buckets, a leaving one only gives (each to its second owner), and a
// change of weight moves buckets only to or from the member that it concerns.
class Ring final : public Scheme {
 public:
  explicit Ring(std::span<const Member> members);
  explicit Ring(Circle circle) : circle_(std::move(circle)) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "ring"; }
  void owners(const ShardKey& key, std::size_t n, std::vector<MemberIndex>& owners) const override;
  [[nodiscard]] std::vector<MemberIndex> bucket_owners() const override;

 private:
  Circle circle_;
};

[[nodiscard]] Result<std::shared_ptr<const Scheme>> make_ring(std::span<const Member> members);

}  // namespace ringside::shard
