#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "shard/topology.h"

namespace ringside::shard {

// The position, less than `positions`, of a key: jump consistent hash (Lamping and Veach, 2014,
// figure 1). When there is one position more, a key stays or goes to the new one. Requires one
// position at least.
[[nodiscard]] std::size_t jump_position(std::uint64_t key, std::size_t positions) noexcept;

// Scheme `jump`: bucket b belongs to the member at jump_position(hash_of(b), members). It knows
// members by their number alone, so they are named PREFIX0, PREFIX1, … without a gap, as a
// StatefulSet's pods are, and only the last one can join or leave. Other names are refused, and so
// are weights, but for 0: what such a member would have is its next choice's.
//
// For the next choice those that are left are numbered anew and asked by the next key, or by the
// same key where the last of them was chosen: what the last member had goes to its second owner
// when it leaves, and what another one has is spread over all others while it is away.
class Jump final : public Scheme {
 public:
  explicit Jump(std::span<const Member> members);

  [[nodiscard]] std::string_view name() const noexcept override { return "jump"; }
  void owners(const ShardKey& key, std::size_t n, std::vector<MemberIndex>& owners) const override;
  [[nodiscard]] std::vector<MemberIndex> bucket_owners() const override;

 private:
  std::vector<bool> has_weight_;  // by member
};

[[nodiscard]] Result<std::shared_ptr<const Scheme>> make_jump(std::span<const Member> members);

}  // namespace ringside::shard
