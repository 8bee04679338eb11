#include "shard/share_out.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "tests/shard/some_topology.h"

namespace ringside::shard {
namespace {

std::vector<Shard> unnamed(std::size_t count) { return std::vector<Shard>(count); }

std::vector<std::size_t> counts(const ShareOut& shared, std::size_t members) {
  std::vector<std::size_t> counts(members);
  for (const MemberIndex owner : shared.owners) ++counts[owner];
  return counts;
}

TEST(ShareOut, GivesEachMemberItsShare) {
  for (const std::size_t members : {1U, 2U, 3U, 7U, 10U, 11U}) {
    const auto had = counts(share_out(caches(members), unnamed(100)), members);
    const auto [least, most] = std::minmax_element(had.begin(), had.end());
    EXPECT_LE(*most - *least, 1U) << members;
  }
}

TEST(ShareOut, MovesNothingButWhatTheLastTakes) {
  const auto ten = share_out(caches(10), unnamed(1000));
  const auto eleven = share_out(caches(11), unnamed(1000));
  std::size_t moved = 0;
  for (std::size_t shard = 0; shard < 1000; ++shard) {
    EXPECT_EQ(eleven.before[shard], ten.owners[shard]);
    if (eleven.owners[shard] == ten.owners[shard]) continue;
    EXPECT_EQ(eleven.owners[shard], 10U);
    ++moved;
  }
  EXPECT_EQ(moved, 1000U / 11);
}

TEST(ShareOut, LeavesANamedOwnerWhatItHas) {
  std::vector<Shard> shards = unnamed(5);
  for (Shard& shard : shards) shard.owner = "cache-0";
  shards[4].owner = "cache-1";
  const auto two = share_out(caches(2), shards);
  EXPECT_EQ(two.owners, (std::vector<MemberIndex>{0, 0, 0, 0, 1}));
  const auto three = share_out(caches(3), shards);  // who is named for nothing takes its share
  EXPECT_EQ(three.owners, (std::vector<MemberIndex>{0, 0, 0, 2, 1}));
  EXPECT_EQ(three.before, two.owners);
}

TEST(ShareOut, GivesWhatALeaverWasNamedForToThoseWhoStay) {
  std::vector<Shard> shards = unnamed(40);
  for (std::size_t i = 0; i < shards.size(); ++i) {
    shards[i].owner = "cache-" + std::to_string(i % 4);
  }
  std::vector<Member> members = caches(4);
  members.erase(members.begin() + 1);
  const auto left = share_out(members, shards);
  for (std::size_t i = 0; i < shards.size(); ++i) {
    if (i % 4 == 1) continue;
    EXPECT_EQ(members[left.owners[i]].name, shards[i].owner);
  }
  members = caches(4);
  members[1].weight = 0;
  const auto drained = share_out(members, shards);
  EXPECT_EQ(counts(drained, 4)[1], 0U);
}

TEST(ShareOut, GivesBySizeOfWeights) {
  std::vector<Member> members = caches(3);
  members[2].weight = 2;
  EXPECT_EQ(counts(share_out(members, unnamed(100)), 3), (std::vector<std::size_t>{25, 25, 50}));
  members[2].weight = 0;
  EXPECT_EQ(counts(share_out(members, unnamed(100)), 3), (std::vector<std::size_t>{50, 50, 0}));
}

// Whoever it is, and as many as there are; with its weight again it has the same as before.
TEST(ShareOut, MovesNothingButWhatOneThatDrainsHad) {
  for (const std::size_t count : {2U, 3U, 4U, 10U, 11U}) {
    for (const std::size_t shards : {1U, 5U, 64U, 165U}) {
      const auto had = share_out(caches(count), unnamed(shards));
      for (std::size_t drained = 0; drained < count; ++drained) {
        std::vector<Member> members = caches(count);
        members[drained].weight = 0;
        const auto has = share_out(members, unnamed(shards));
        for (std::size_t shard = 0; shard < shards; ++shard) {
          EXPECT_NE(has.owners[shard], drained);
          EXPECT_NE(has.before[shard], drained);
          if (had.owners[shard] == drained) continue;
          EXPECT_EQ(has.owners[shard], had.owners[shard]);
        }
        auto by_member = counts(has, count);
        by_member.erase(by_member.begin() + static_cast<std::ptrdiff_t>(drained));
        const auto [least, most] = std::minmax_element(by_member.begin(), by_member.end());
        EXPECT_LE(*most - *least, 1U) << count << " " << shards << " " << drained;
      }
    }
  }
}

TEST(ShareOut, SeveralThatDrainHaveNothing) {
  std::vector<Member> members = caches(6);
  for (const std::size_t drained : {0U, 3U, 5U}) members[drained].weight = 0;
  const auto had = counts(share_out(members, unnamed(64)), 6);
  EXPECT_EQ(had[0] + had[3] + had[5], 0U);
  EXPECT_LE(*std::max_element(had.begin(), had.end()), 22U);
}

// What Topology::state_with_owners() makes of it.
TEST(ShareOut, IsTheSameWhereEachIsNamedForWhatItHas) {
  std::mt19937_64 dice(5);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<Member> members = caches(1 + dice() % 8);
    for (Member& member : members) member.weight = static_cast<std::uint32_t>(dice() % 4);
    members[dice() % members.size()].weight = 1;
    // Of fewer shards than members it may be another one's turn.
    std::vector<Shard> shards = unnamed(members.size() + dice() % 40);
    for (Shard& shard : shards) {
      if (dice() % 3 == 0) shard.owner = "cache-" + std::to_string(dice() % 9);
    }
    const auto before = share_out(members, shards).owners;
    for (std::size_t i = 0; i < shards.size(); ++i) shards[i].owner = members[before[i]].name;
    EXPECT_EQ(share_out(members, shards).owners, before) << round;
  }
}

TEST(ShareOut, GivesNobodyAnythingWhereNobodyIs) {
  EXPECT_TRUE(share_out({}, unnamed(5)).owners.empty());
}

}  // namespace
}  // namespace ringside::shard
