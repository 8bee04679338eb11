#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "shard/topology.h"

namespace ringside::shard {

// Scheme `modulo`: the number of the bucket, which is the high part of the key's hash, modulo the
// members' weights together. Members have as many of the remainders as they have weight, in order,
// so that with weights of 1 it is the hash modulo the number of members. The next choices are the
// members after the owner, around the end.
//
// Shares are as even as can be, and nearly every key moves when the count changes: for comparison,
// and for tiers that never change.
class Modulo final : public Scheme {
 public:
  explicit Modulo(std::span<const Member> members);

  [[nodiscard]] std::string_view name() const noexcept override { return "modulo"; }
  void owners(const ShardKey& key, std::size_t n, std::vector<MemberIndex>& owners) const override;
  [[nodiscard]] std::vector<MemberIndex> bucket_owners() const override;

 private:
  std::vector<MemberIndex> members_;  // those with a weight
  std::vector<std::size_t> places_;   // in members_, by remainder
};

[[nodiscard]] Result<std::shared_ptr<const Scheme>> make_modulo(std::span<const Member> members);

}  // namespace ringside::shard
