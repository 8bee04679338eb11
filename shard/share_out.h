#pragma once

#include <span>
#include <vector>

#include "shard/state.h"
#include "shard/topology.h"

namespace ringside::shard {

// Who has each shard of a state.
struct ShareOut {
  std::vector<MemberIndex> owners;  // by shard
  std::vector<MemberIndex> before;  // who had it before the newest member came, or has it
};

// A function of nothing but members and shards, so that every process comes to the same:
//
//   1. A shard is its named owner's, where that is a member with a weight.
//   2. One whose owner is none is its first choice's by rendezvous among those who are named for
//      something.
//   3. Where nobody is named for anything, the first member has all.
//   4. Members that are named for nothing come one by one, in order. Each takes its share by
//      weight, rounded down, one by one from who has the most for its weight, and of that one's
//      first what it was not named for.
//   5. Where nobody is named for anything, one without a weight comes, too, as if it had the least
//      that anybody has, unless it is behind all others, and then goes: who has the least for its
//      weight takes what it had, of equals who had it before.
//
// So the last to come takes its share when it joins and gives just that when it leaves, and what a
// member was named for goes nowhere else while it is there. Where nobody is named, one that drains
// gives what it had and nothing else moves, if all others have the same weight; one that leaves
// from the middle of the order moves much else, drained or not: all count anew. Requires a member
// with a weight, or gives nothing to nobody.
[[nodiscard]] ShareOut share_out(std::span<const Member> members, std::span<const Shard> shards);

}  // namespace ringside::shard
