#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "shard/topology.h"

namespace ringside::shard {

// Scheme `simple-sha1`: the first byte of the key's SHA-1 as a signed byte, its absolute value,
// modulo 10 where that is 10 or more, divided by 10/members, truncated, is the owner's position in
// members() (natural order, so cache-i is shard i). The next choices are the positions after it,
// around the end.
//
// Kept as it was found, flaws included: there are ten values, so that with more than ten members
// some never own a key, and nearly every key moves when the count changes. It knows no weights;
// members whose weights differ from 1 are refused, but for 0:
// what such a one would have is the next one's. A bucket is what has the same first byte.
class SimpleSha1 final : public Scheme {
 public:
  explicit SimpleSha1(std::span<const Member> members);

  [[nodiscard]] std::string_view name() const noexcept override { return "simple-sha1"; }
  [[nodiscard]] MemberIndex owner(const ShardKey& key) const override {
    return static_cast<MemberIndex>(first_of(bucket_for(key)));
  }
  void owners(const ShardKey& key, std::size_t n, std::vector<MemberIndex>& owners) const override {
    owners_of(bucket_for(key), n, owners);
  }
  [[nodiscard]] Bucket bucket_for(const ShardKey& key) const noexcept override;
  void owners_of(Bucket bucket, std::size_t n, std::vector<MemberIndex>& owners) const override;
  [[nodiscard]] std::vector<MemberIndex> bucket_owners() const override;
  [[nodiscard]] std::string own_numbers() const override { return "byte"; }

 private:
  // Requires a member.
  [[nodiscard]] std::size_t first_of(Bucket bucket) const noexcept;

  std::vector<bool> has_weight_;  // by member
};

[[nodiscard]] Result<std::shared_ptr<const Scheme>> make_simple_sha1(
    std::span<const Member> members);
// The same: it has 256 buckets, and there are always more.
[[nodiscard]] Result<std::shared_ptr<const Scheme>> make_simple_sha1_within(
    std::span<const Member> members, std::size_t buckets);

}  // namespace ringside::shard
