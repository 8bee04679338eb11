#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "shard/rebalance.h"
#include "tests/shard/some_topology.h"

namespace ringside::shard {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Counts = std::vector<std::size_t>;
using Weights = std::vector<std::uint32_t>;

std::size_t moved(const std::vector<BucketMove>& moves) {
  std::size_t buckets = 0;
  for (const BucketMove& move : moves) buckets += move.buckets;
  return buckets;
}

Counts after(Counts counts, const std::vector<BucketMove>& moves) {
  for (const BucketMove& move : moves) {
    counts[move.from] -= move.buckets;
    counts[move.to] += move.buckets;
  }
  return counts;
}

std::size_t spread(const Counts& counts) {
  const auto [fewest, most] = std::minmax_element(counts.begin(), counts.end());
  return *most - *fewest;
}

TEST(Rebalance, OfSomeStarts) {
  EXPECT_THAT(rebalance(Counts{}, Weights{}), IsEmpty());
  EXPECT_THAT(rebalance(Counts{5}, Weights{1}), IsEmpty());
  EXPECT_THAT(rebalance(Counts{3, 4, 4}, Weights{1, 1, 1}), IsEmpty());
  EXPECT_THAT(rebalance(Counts{3, 4}, Weights{0, 0}), IsEmpty());
  EXPECT_THAT(rebalance(Counts{3, 3, 0}, Weights{1, 1, 1}),
              ElementsAre(BucketMove{0, 2, 1}, BucketMove{1, 2, 1}));
  EXPECT_THAT(rebalance(Counts{0, 0, 9}, Weights{1, 1, 1}),
              ElementsAre(BucketMove{2, 0, 3}, BucketMove{2, 1, 3}));
  EXPECT_THAT(rebalance(Counts{4, 4}, Weights{0, 7}), ElementsAre(BucketMove{0, 1, 4}));
  EXPECT_THAT(balanced_counts(Counts{8, 0, 0}, Weights{1, 2, 5}), ElementsAre(1, 2, 5));
}

TEST(Rebalance, MovesNoMoreThanThePlainPlanAndEndsWithinABucket) {
  std::ifstream in(std::string(RINGSIDE_SOURCE_DIR) + "/tests/golden/vbucket_plan.json");
  const auto plans = nlohmann::json::parse(in);
  EXPECT_EQ(plans.size(), 6U);
  for (const auto& plan : plans) {
    auto counts = plan.at("counts").get<Counts>();
    counts.resize(counts.size() + plan.at("added").get<std::size_t>());
    const auto moves = rebalance(counts, Weights(counts.size(), 1));
    EXPECT_LE(spread(after(counts, moves)), 1U) << plan;
    if (spread(plan.at("after").get<Counts>()) > 1) continue;
    std::size_t plain = 0;
    for (const auto& move : plan.at("moves")) plain += move.at(2).get<std::size_t>();
    EXPECT_LE(moved(moves), plain) << plan;
  }
}

// The least that any plan moves: what members have beyond their shares, where those that are
// rounded up are chosen best.
std::size_t least_moves(const Counts& counts, const Weights& weights) {
  const auto buckets = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  const auto weight = std::accumulate(weights.begin(), weights.end(), std::size_t{0});
  std::size_t over = 0, could_stay = 0, rounded_up = buckets;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::size_t share = buckets * weights[i] / weight;
    const bool has_rest = buckets * weights[i] % weight > 0;
    over += counts[i] > share ? counts[i] - share : 0;
    could_stay += counts[i] > share && has_rest ? 1 : 0;
    rounded_up -= share;
  }
  return over - std::min(could_stay, rounded_up);
}

TEST(Rebalance, EndsWithinABucketOfEachShareByTheFewestMovesFromAnyStart) {
  std::mt19937_64 dice(23);
  for (int round = 0; round < 2'000; ++round) {
    Counts counts(1 + dice() % 12);
    Weights weights(counts.size(), 1);
    for (std::size_t& count : counts) count = dice() % 3 == 0 ? 0 : dice() % 50;
    if (round % 2 == 0) {
      for (std::uint32_t& weight : weights) weight = static_cast<std::uint32_t>(dice() % 4);
    }
    const auto weight = std::accumulate(weights.begin(), weights.end(), std::size_t{0});
    if (weight == 0) continue;
    const auto buckets = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    const auto moves = rebalance(counts, weights);
    const Counts end = after(counts, moves);
    EXPECT_EQ(end, balanced_counts(counts, weights));
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::size_t share = buckets * weights[i];
      EXPECT_GE(end[i], share / weight);
      EXPECT_LE(end[i], (share + weight - 1) / weight);
    }
    EXPECT_EQ(moved(moves), least_moves(counts, weights));
  }
}

Counts counts_of(const Topology& topology) {
  Counts counts(topology.members().size());
  for (const MemberIndex owner : topology.bucket_owners()) ++counts[owner];
  return counts;
}

TEST(VBucket, IsWithinABucketOfEvenAndMovesTheFewestWhateverTheCount) {
  auto before = topology_of(caches(1), "vbucket");
  for (std::size_t count = 2; count <= 300; ++count) {
    const auto topology = topology_of(caches(count), "vbucket");
    ASSERT_LE(spread(counts_of(*topology)), 1U) << count;
    ASSERT_EQ(moved_buckets(*before, *topology), bucket_count / count) << count;
    before = topology;
  }
}

TEST(VBucket, GivesTheNearestCountsToWeights) {
  std::vector<Member> members = caches(11);
  members[1].weight = 2;
  members[4].weight = 5;
  members[6].weight = 0;
  members[9].weight = 1000;
  const double weight = 8 + 2 + 5 + 1000 - 1;
  const auto counts = counts_of(*topology_of(members, "vbucket"));
  for (std::size_t i = 0; i < members.size(); ++i) {
    const double share = bucket_count * (members[i].weight / weight);
    EXPECT_LT(std::abs(static_cast<double>(counts[i]) - share), 1.0) << i;
  }
}

// Not the fewest that there could be, but few: the same buckets go to the heavy one.
TEST(VBucket, GrowsWithWeightsAtAFewMovesMore) {
  std::vector<Member> members = caches(11);
  members[0].weight = 2;
  members[3].weight = 0;
  std::vector<Member> fewer = members;
  fewer.pop_back();
  const std::size_t moves =
      moved_buckets(*topology_of(fewer, "vbucket"), *topology_of(members, "vbucket"));
  RecordProperty("moved", static_cast<int>(moves));
  EXPECT_LE(moves, 2 * bucket_count / 11);
}

// The same members, or others, from the table that the tier has.
TopologyPointer next_of(const Topology& present, std::vector<Member> members) {
  return topology_of(std::move(members), "vbucket", present.state_to_keep());
}

TEST(VBucketTable, StaysAsItIsWhileTheMembersDo) {
  std::vector<Member> members = caches(11);
  members[3].weight = 4;
  members[7].weight = 0;
  for (const auto& some : {caches(1), caches(10), members}) {
    const auto before = topology_of(some, "vbucket");
    const auto after = next_of(*before, some);
    EXPECT_EQ(after->bucket_owners(), before->bucket_owners());
    EXPECT_EQ(after->state(), before->state_to_keep());
    EXPECT_EQ(after->state_to_keep(), after->state());
    EXPECT_EQ(after->numbering(), before->numbering());
    EXPECT_TRUE(after->extends(*before));
    EXPECT_NE(after->id(), before->id());  // the next change makes something else of the two
  }
}

TEST(VBucketTable, GivesJustTheBucketsOfWhoLeavesWhereverItStands) {
  const auto before = topology_of(caches(11), "vbucket");
  for (std::size_t leaver = 0; leaver < 11; ++leaver) {
    const auto after = next_of(*before, without(caches(11), leaver));
    EXPECT_EQ(moved_buckets(*before, *after), counts_of(*before)[leaver]) << leaver;
    EXPECT_LE(spread(counts_of(*after)), 1U) << leaver;
  }
}

TEST(VBucketTable, GivesWhoComesBackWhatItHad) {
  const auto before = topology_of(caches(11), "vbucket");
  for (const std::size_t leaver : {0U, 4U, 10U}) {
    const auto without_it = next_of(*before, without(caches(11), leaver));
    const auto back = next_of(*without_it, caches(11));
    EXPECT_LE(moved_buckets(*before, *back), 11U) << leaver;  // what is rounded up may be another's
  }
}

// A process may hear of a new table before it hears of the members that it was made for.
TEST(VBucketTable, IsHardlyAnotherForWhoHearsOfItBeforeItsMembers) {
  const auto ten = topology_of(caches(10), "vbucket");
  const auto eleven = next_of(*ten, caches(11));
  EXPECT_LE(moved_buckets(*ten, *next_of(*eleven, caches(10))), 10U);
  const auto nine = next_of(*ten, without(caches(10), 4));
  EXPECT_LE(moved_buckets(*ten, *next_of(*nine, caches(10))), 10U);
}

TEST(VBucketTable, IsWithinABucketOfEachShareByTheFewestMovesAfterAnyChanges) {
  std::mt19937_64 dice(29);
  auto present = topology_of(caches(10), "vbucket");
  std::vector<Member> members = caches(10);
  for (int change = 0; change < 300; ++change) {
    const auto old_members = members;
    const std::size_t place = dice() % members.size();
    const auto kind = dice() % 3;
    if (kind == 0 && members.size() > 2) {
      members = without(members, place);
    } else if (kind == 1) {
      members[place].weight = static_cast<std::uint32_t>(dice() % 4);
    } else {
      members.push_back({"cache-" + std::to_string(100 + change), 1, ""});
    }
    if (std::all_of(members.begin(), members.end(), [](const auto& m) { return m.weight == 0; })) {
      members.front().weight = 1;
    }
    const auto next = next_of(*present, members);
    Counts counts;
    Weights weights;
    for (const Member& member : next->members()) {
      const auto had = present->find(member.name);
      counts.push_back(had ? counts_of(*present)[*had] : 0);
      weights.push_back(member.weight);
    }
    for (const Member& member : present->members()) {
      if (next->find(member.name)) continue;
      counts.push_back(counts_of(*present)[*present->find(member.name)]);
      weights.push_back(0);
    }
    ASSERT_EQ(moved_buckets(*present, *next), least_moves(counts, weights)) << change;
    Counts wanted = balanced_counts(counts, weights);
    wanted.resize(next->members().size());
    ASSERT_EQ(counts_of(*next), wanted) << change;
    present = next;
  }
}

// With the writer away, each process goes from the table that it heard of last: whatever members
// it saw in between.
TEST(VBucketTable, IsAFunctionOfWhatWasKeptAndOfTheMembersAlone) {
  const State kept = topology_of(caches(10), "vbucket")->state_to_keep();
  const auto seen = topology_of(caches(12), "vbucket", kept);
  const auto after_it = topology_of(without(caches(10), 3), "vbucket", seen->state());
  const auto straight = topology_of(without(caches(10), 3), "vbucket", kept);
  EXPECT_EQ(after_it->id(), straight->id());
}

TEST(VBucketTable, HasTheSameOwnersBeforeAndAfterItIsKept) {
  const auto ten = topology_of(caches(10), "vbucket");
  const auto eleven = next_of(*ten, caches(11));
  const auto kept = next_of(*eleven, caches(11));
  EXPECT_NE(kept->state(), eleven->state());
  for (std::size_t bucket = 0; bucket < bucket_count; bucket += 5) {
    EXPECT_EQ(owner_names(*kept, key_in(bucket), 11), owner_names(*eleven, key_in(bucket), 11));
  }
}

TEST(VBucketTable, IsKeptWhereNobodyIsThere) {
  const State kept = topology_of(caches(3), "vbucket")->state_to_keep();
  const auto nobody = topology_of({}, "vbucket", kept);
  EXPECT_TRUE(nobody->bucket_owners().empty());
  EXPECT_EQ(nobody->state_to_keep(), kept);
}

TEST(VBucketTable, IsOneForAllRoutesThatHaveTheScheme) {
  const std::string schemes = "ring,films=vbucket,shops=vbucket";
  const auto before = topology_of(caches(11), schemes);
  const auto after = topology_of(without(caches(11), 4), schemes, before->state_to_keep());
  const auto owners = before->bucket_owners();
  std::size_t moved = 0;
  for (const Move& move : diff(*before, *after)) {
    if (move.bucket < 4'096) continue;  // of the ring
    EXPECT_EQ(before->members()[*move.from].name, "cache-4");
    ++moved;
  }
  EXPECT_GT(moved, 300U);
}

}  // namespace
}  // namespace ringside::shard
