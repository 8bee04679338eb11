#include "shard/sharded.h"

#include <algorithm>

namespace ringside::shard {

Sharded::Sharded(std::span<const Member> members, const State& state)
    : shared_(share_out(members, state.shards)), members_(members.size()), others_(members) {
  for (const Shard& shard : state.shards) {
    parents_.push_back(shard.parent ? std::optional(static_cast<Bucket>(*shard.parent))
                                    : std::nullopt);
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].weight > 0) last_ = i;
  }
}

void Sharded::owners_of(Bucket bucket, std::size_t n, std::vector<MemberIndex>& owners) const {
  owners.clear();
  if (bucket >= shared_.owners.size() || n == 0) return;
  const auto add = [&](MemberIndex member) {
    const bool is_there = std::find(owners.begin(), owners.end(), member) != owners.end();
    if (owners.size() < n && !is_there) owners.push_back(member);
  };
  std::vector<MemberIndex> others;
  others_.owners({{}, std::uint64_t{bucket} << (64 - bucket_bits)}, members_, others);
  add(shared_.owners[bucket]);
  if (shared_.owners[bucket] == last_) add(shared_.before[bucket]);
  for (const MemberIndex member : others) add(member);
}

}  // namespace ringside::shard
