#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "shard/topology.h"

namespace ringside::shard {

// The entries of the table: a prime number, as every member must be able to visit them all. Many
// more than members there may be, since the fewer entries a member has, the more of them move for
// nothing.
constexpr std::size_t maglev_entries = 65'537;

// Scheme `maglev`: the table of Google's Maglev (Eisenbud et al., NSDI 2016, section 3.4). Each
// member visits the entries in an order of its own, made of its name. The members take turns, and
// at each turn one takes the first entry in its order that is still free, until none is; one of a
// lower weight is left out of so many turns that entries are in proportion to weights. A bucket
// belongs to the entry that its hash names; the next choices are the members of the entries behind
// it.
//
// Shares are more even than those of a ring. When a member comes or goes, a few buckets move
// between the others as well: some in a thousand.
class Maglev final : public Scheme {
 public:
  explicit Maglev(std::span<const Member> members);

  [[nodiscard]] std::string_view name() const noexcept override { return "maglev"; }
  void owners(const ShardKey& key, std::size_t n, std::vector<MemberIndex>& owners) const override;
  [[nodiscard]] std::vector<MemberIndex> bucket_owners() const override;

  // Of each entry; empty without members.
  [[nodiscard]] const std::vector<MemberIndex>& table() const noexcept { return table_; }

 private:
  std::vector<MemberIndex> table_;
  std::vector<MemberIndex> members_;  // those with a weight
};

[[nodiscard]] Result<std::shared_ptr<const Scheme>> make_maglev(std::span<const Member> members);

}  // namespace ringside::shard
