#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "shard/arcs.h"
#include "shard/circle.h"
#include "shard/topology.h"

namespace ringside::shard {

// Scheme `jedis-ring`: the ring that the Jedis client's sharding makes for shards without names.
// Member i, by its position in members() (natural order, so cache-i is shard i), has the points
// "SHARD-i-NODE-n", n from 0 to 160·weight - 1, at the first four bytes of their MD5,
// little-endian; a key lies where its own MD5 puts it. Of points at one position the one that was
// put last counts, as in Jedis's TreeMap.
//
// By bucket where there is an arc_space() for the members: their buckets are Arcs. Members
// are known by position, so one that leaves from the middle renumbers those behind it.
class JedisRing final : public Scheme {
 public:
  explicit JedisRing(std::span<const Member> members, std::size_t buckets = bucket_count);

  [[nodiscard]] std::string_view name() const noexcept override { return "jedis-ring"; }
  [[nodiscard]] MemberIndex owner(const ShardKey& key) const override;
  void owners(const ShardKey& key, std::size_t n, std::vector<MemberIndex>& owners) const override;
  [[nodiscard]] Bucket bucket_for(const ShardKey& key) const noexcept override;
  void owners_of(Bucket bucket, std::size_t n, std::vector<MemberIndex>& owners) const override;
  [[nodiscard]] std::vector<MemberIndex> bucket_owners() const override;
  [[nodiscard]] std::string own_numbers() const override;

 private:
  Circle circle_;
  std::optional<Arcs> arcs_;
};

// The place of `bytes` on the circle of 2^32 positions.
[[nodiscard]] std::uint32_t jedis_position_of(std::string_view bytes) noexcept;

[[nodiscard]] Result<std::shared_ptr<const Scheme>> make_jedis_ring(
    std::span<const Member> members);
// By bucket, in so many; an Error says for which members that can be.
[[nodiscard]] Result<std::shared_ptr<const Scheme>> make_jedis_ring_within(
    std::span<const Member> members, std::size_t buckets);

}  // namespace ringside::shard
