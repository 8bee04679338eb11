#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "shard/rendezvous.h"
#include "shard/topology.h"

namespace ringside::shard {

// Scheme `vbucket`: a table of the buckets in which no member has more than one bucket more than
// another, or with weights more than its share rounded up. Nothing is remembered: every process
// makes the same table of the same members. The members come one by one in order, each time with
// shard/rebalance.h's fewest moves, as if all had the weight 1; then one last rebalance gives them
// their weights.
//
// So a member behind all others takes ⌊16384/members⌋ buckets when it joins, gives just these when
// it leaves, and nothing else moves, where all weights are 1. A member that drains (weight 0) where
// they are gives its buckets and nothing else moves. One that joins or leaves in the middle of the
// order has its place taken by the others behind it: many buckets move, so drain it instead.
//
// The next choice for a bucket of the last member is who had it before that one came; all others
// follow in the order of rendezvous.
class VBucket final : public Scheme {
 public:
  explicit VBucket(std::span<const Member> members);

  [[nodiscard]] std::string_view name() const noexcept override { return "vbucket"; }
  void owners(const ShardKey& key, std::size_t n, std::vector<MemberIndex>& owners) const override;
  [[nodiscard]] std::vector<MemberIndex> bucket_owners() const override { return owners_; }

 private:
  std::vector<MemberIndex> owners_;  // by bucket; empty without members
  std::vector<MemberIndex> before_;  // likewise: who had it before, or has it
  std::vector<bool> has_weight_;     // by member
  Rendezvous others_;
};

[[nodiscard]] Result<std::shared_ptr<const Scheme>> make_vbucket(std::span<const Member> members);

}  // namespace ringside::shard
