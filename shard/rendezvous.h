#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "shard/topology.h"

namespace ringside::shard {

// What a member draws for a bucket. Who draws the highest is the bucket's first choice, where all
// have the same weight.
[[nodiscard]] std::uint64_t rendezvous_draw(std::uint64_t member_hash, Bucket bucket) noexcept;

// -log2((draw + 1) / 2^64) in units of 2^-40, by whole numbers alone: a logarithm of the C library
// may differ in its last digit from one machine to the next, and keys would move.
[[nodiscard]] std::uint64_t rendezvous_cost(std::uint64_t draw) noexcept;

// Scheme `rendezvous`: the highest random weight (Thaler and Ravishankar, IEEE/ACM Transactions on
// Networking 1998). Each member draws for each bucket, and the order of what they draw is the order
// of preference. With weights it is the order of rendezvous_cost / weight, the lowest first, by
// which shares are in proportion to weights (the logarithmic method of Schindelhauer and Schomaker,
// SPAA 2005).
//
// A draw depends on nothing but the member's name and the bucket. So a joining member only takes
// buckets, a leaving one only gives (each to its second owner), and a change of weight moves
// buckets only to or from the member that it concerns. A topology is made in time in proportion to
// members times buckets, and `owners` takes time in proportion to members; `owner` of a topology
// is one load from its table.
class Rendezvous final : public Scheme {
 public:
  explicit Rendezvous(std::span<const Member> members);

  [[nodiscard]] std::string_view name() const noexcept override { return "rendezvous"; }
  void owners(const ShardKey& key, std::size_t n, std::vector<MemberIndex>& owners) const override;
  [[nodiscard]] std::vector<MemberIndex> bucket_owners() const override;

 private:
  struct Candidate {
    std::uint64_t hash = 0;  // of the name
    MemberIndex member = 0;
  };
  // Among members of one weight the draws alone decide, without logarithms.
  struct Class {
    std::uint32_t weight = 0;
    std::vector<Candidate> candidates;  // in order of the members
  };
  struct Bid;

  [[nodiscard]] Bid best_of(const Class& equals, Bucket bucket) const noexcept;

  std::vector<Class> classes_;  // none of weight 0
};

[[nodiscard]] Result<std::shared_ptr<const Scheme>> make_rendezvous(
    std::span<const Member> members);

}  // namespace ringside::shard
