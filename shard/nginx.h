#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "shard/arcs.h"
#include "shard/circle.h"
#include "shard/topology.h"

namespace ringside::shard {

// Scheme `nginx`: the ring of nginx's `hash KEY consistent`, so that a tier of Ringside can take
// the place of nginx's upstreams without that their caches start cold. A member's name is what
// stands behind `server`, as 10.0.0.1:8080 or cache-0; its weight is nginx's. It has 160 points for
// each unit of weight, each the CRC-32 of host, a zero byte, port and the point before it (0 at
// first) in four bytes, little-endian. A key lies at its own CRC-32 and belongs to the next point
// at or after it. Of points at one position that of the first member counts; nginx takes them in
// the order of its configuration.
//
// KEY is the values of the shard key with a newline between them: `$uri` where the shard key is
// `path`,
// "$country\n$uri" where it is `country,path`.
//
// By bucket where there is an arc_space() and the names are numbered_names() in it: their buckets
// are Arcs.
class Nginx final : public Scheme {
 public:
  explicit Nginx(std::span<const Member> members, std::size_t buckets = bucket_count);

  [[nodiscard]] std::string_view name() const noexcept override { return "nginx"; }
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

// The CRC-32 of ISO 3309, as zlib's and nginx's: of `bytes` behind those that gave `before`.
[[nodiscard]] std::uint32_t crc32_of(std::string_view bytes, std::uint32_t before = 0) noexcept;

[[nodiscard]] Result<std::shared_ptr<const Scheme>> make_nginx(std::span<const Member> members);
// By bucket, in so many; an Error says for which members that can be.
[[nodiscard]] Result<std::shared_ptr<const Scheme>> make_nginx_within(
    std::span<const Member> members, std::size_t buckets);

}  // namespace ringside::shard
