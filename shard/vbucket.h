#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "shard/bucket_table.h"
#include "shard/rendezvous.h"
#include "shard/topology.h"

namespace ringside::shard {

// Scheme `vbucket`: a table of the buckets in which no member has more than one bucket more than
// another, or with weights more than its share rounded up.
//
// With a state, the table that the tier had is what the present one comes from, by
// shard/rebalance.h's fewest moves: a member that joins takes its share of what others had the
// shortest, one that leaves, wherever it stands, gives just its own, and nothing else moves. So
// every process that knows the same table and the same members has the same table. A table of
// the same members and weights stays as it is.
//
// Without one, the members come one by one in order, as if all had the weight 1, each time by the
// fewest moves; then one last rebalance gives them their weights. So a member behind all others
// takes ⌊16384/members⌋ buckets when it joins, gives just these when it leaves, and nothing else
// moves, where all weights are 1. A member that drains (weight 0) where they are gives its buckets
// and nothing else moves. But one that joins or leaves in the middle of the order has its place
// taken by the others behind it, and many buckets move.
//
// The next choices for a bucket follow in the order of rendezvous, so that they stay when the table
// is kept. Without a state, the first of them for a bucket of the last member is who had it before
// that member came.
class VBucket final : public Scheme {
 public:
  // Whose the buckets are, and were.
  struct Table {
    BucketHands hands;                // by member; empty without members
    std::vector<MemberIndex> before;  // by bucket: who had it before, or has it
  };
  VBucket(std::span<const Member> members, Table table);

  [[nodiscard]] std::string_view name() const noexcept override { return "vbucket"; }
  void owners(const ShardKey& key, std::size_t n, std::vector<MemberIndex>& owners) const override;
  [[nodiscard]] std::vector<MemberIndex> bucket_owners() const override { return owners_; }
  [[nodiscard]] std::vector<TableRow> table_to_keep() const override { return table_; }

 private:
  std::vector<TableRow> table_;
  std::vector<MemberIndex> owners_;  // by bucket; empty without members
  std::vector<MemberIndex> before_;  // likewise: who had it before, or has it
  std::vector<bool> has_weight_;     // by member
  Rendezvous others_;
};

// The state may be empty. An Error says what is wrong with its table.
[[nodiscard]] Result<std::shared_ptr<const Scheme>> make_vbucket(std::span<const Member> members,
                                                                 const State& state);

}  // namespace ringside::shard
