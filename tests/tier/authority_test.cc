#include "tier/authority.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "base/limits.h"
#include "tests/tier/some_membership.h"
#include "tests/tier/some_tier.h"

namespace ringside::tier {
namespace {

using Way = Authority::Way;
using shard::Bucket;

TEST(Authority, WithoutMembersOrBucketsEachAsksTheOrigin) {
  Authority authority("a", 1);
  EXPECT_EQ(authority.direction(0).way, Way::origin);
  EXPECT_TRUE(authority.answers_for(0));
  authority.follow(membership_of({"a", "b"}, 1, "nginx"));
  EXPECT_EQ(authority.direction(0).way, Way::origin);
  EXPECT_TRUE(authority.answers_for(0));
  EXPECT_TRUE(authority.take_due(start).empty());
}

TEST(Authority, HoldsNothingOfOtherNumbersAfterATimeWithoutBuckets) {
  Authority authority("a", 1);
  authority.follow(membership_of({"a"}));
  ASSERT_GT(authority.own().epoch(0), 0U);
  authority.follow(membership_of({"a", "b"}, 2, "nginx"));
  authority.follow(membership_of({"a", "b"}, 3, "split-tree"));
  for (Bucket bucket = 0; bucket < 64; ++bucket) {
    EXPECT_EQ(authority.own().epoch(bucket), 0U) << bucket;
  }
}

TEST(Authority, WhoIsAloneHoldsEverythingAtOnce) {
  Authority authority("a", 1);
  authority.follow(membership_of({"a"}));
  EXPECT_EQ(authority.own().epoch(0), 1U);
  EXPECT_EQ(authority.own().epoch(16'383), 1U);
  EXPECT_EQ(authority.away(), 0U);
}

TEST(Authority, NothingIsTakenBeforeAllWereHeard) {
  const auto membership = membership_of({"a", "b", "c"});
  const Bucket own = bucket_of_owner(membership, "a");
  Authority authority("a", 1);
  authority.follow(membership);
  EXPECT_EQ(authority.direction(own).way, Way::unknown);
  authority.heard("b", Holdings{{2, 0}, {}}, {}, start);
  EXPECT_EQ(authority.direction(own).way, Way::unknown);
  authority.failed("c", true, start);
  EXPECT_EQ(authority.direction(own).way, Way::unknown) << "it might have changed hands meanwhile";
  EXPECT_EQ(authority.take_due(start).size(), 1U);
  authority.heard_again("b", {}, start);
  EXPECT_EQ(authority.direction(own).way, Way::origin);
  EXPECT_EQ(authority.own().epoch(own), 1U);
}

TEST(Authority, EachBucketHasOneOnceAllHaveTalked) {
  Tier tier({"a", "b", "c"});
  tier.talk();
  EXPECT_TRUE(tier.each_bucket_has_one());
}

TEST(Authority, ANewOwnerAsksTheHolderAndSoDoesWhoIsAskedInItsPlace) {
  GrownTier tier;
  const Bucket moved = tier.moved;
  EXPECT_EQ(tier.at("a").direction(moved).way, Way::origin);
  for (const char* name : {"b", "c"}) {
    const auto direction = tier.at(name).direction(moved);
    ASSERT_EQ(direction.way, Way::holder) << name;
    EXPECT_EQ(direction.holder->name, "a");
    EXPECT_FALSE(tier.at(name).answers_for(moved));
  }
  EXPECT_TRUE(tier.each_bucket_has_one());
  EXPECT_EQ(tier.at("c").own().version.number, 0U);
  EXPECT_EQ(tier.at("c").away(), buckets_of(*tier.after, "c")->size());
}

TEST(Authority, AnEmptyBucketIsGivenToItsOwnerAndToNobodyElse) {
  const auto before = membership_of({"a", "b"});
  const auto after = membership_of({"a", "b", "c"});
  const Bucket moved = moved_bucket(*before, *after, "a", "c");
  Tier tier({"a", "b"});
  tier.talk();
  tier.start_replica("c");
  for (const char* name : {"c", "b"}) tier.at(name).follow(after);
  tier.talk();
  EXPECT_EQ(tier.at("a").other_holder(moved, "c", true), std::nullopt)
      << "by what a knows it is the owner";
  tier.at("a").follow(after);
  tier.talk();
  EXPECT_EQ(tier.at("a").other_holder(moved, "b", true), std::nullopt);
  EXPECT_EQ(tier.at("b").other_holder(moved, "c", true), (Authority::Other{"a"}));
  EXPECT_EQ(tier.at("a").other_holder(moved, "c", false), std::nullopt);
  EXPECT_EQ(tier.at("a").other_holder(moved, "c", true), (Authority::Other{"c", 1}));
  EXPECT_EQ(tier.at("a").direction(moved).holder->name, "c") << "though it has not said so yet";
  EXPECT_FALSE(tier.at("a").answers_for(moved));
  EXPECT_EQ(tier.at("a").other_holder(moved, "b", true), (Authority::Other{"c"}));
  tier.at("c").take(moved, 1, "a");
  EXPECT_EQ(tier.at("c").own().epoch(moved), 2U);
  tier.talk();
  EXPECT_TRUE(tier.each_bucket_has_one());
  EXPECT_EQ(tier.at("a").direction(moved).holder->name, "c");
}

TEST(Authority, WhoNeitherHoldsABucketNorIsToTakeItSendsOthersToItsHolder) {
  const auto before = membership_of({"a", "b"});
  const auto after = membership_of({"a", "b", "c"});
  const Bucket moved = moved_bucket(*before, *after, "a", "c");
  Tier tier({"a", "b"});
  EXPECT_EQ(tier.at("b").elsewhere(moved, true), std::nullopt) << "nobody has been heard yet";
  tier.talk();
  EXPECT_EQ(tier.at("a").elsewhere(moved, true), std::nullopt);
  EXPECT_EQ(tier.at("b").elsewhere(moved, true), "a");
  tier.start_replica("c");
  for (const char* name : {"c", "a", "b"}) tier.at(name).follow(after);
  tier.talk();
  EXPECT_EQ(tier.at("a").elsewhere(moved, true), std::nullopt) << "it holds it still";
  EXPECT_EQ(tier.at("c").elsewhere(moved, true), std::nullopt) << "it asks the holder by itself";
  EXPECT_EQ(tier.at("c").elsewhere(moved, false), "a") << "it asks no more of holders now";
  EXPECT_EQ(tier.at("a").elsewhere(moved, false), std::nullopt) << "it is the holder";
  EXPECT_EQ(tier.at("a").other_holder(moved, "c", true), (Authority::Other{"c", 1}));
  EXPECT_EQ(tier.at("a").elsewhere(moved, true), "c");
  tier.at("c").take(moved, 1, "a");
  tier.talk();
  EXPECT_EQ(tier.at("a").elsewhere(moved, true), "c");
  EXPECT_EQ(tier.at("b").elsewhere(moved, true), "c");
  EXPECT_EQ(tier.at("c").elsewhere(moved, true), std::nullopt);
  EXPECT_EQ(tier.at("c").elsewhere(moved, false), std::nullopt) << "it holds it by now";
  tier.at("a").follow(nullptr);
  EXPECT_EQ(tier.at("a").elsewhere(moved, true), std::nullopt) << "of a tier of its own";
}

TEST(Authority, WhatWasGivenAndDidNotArriveIsGivenAgain) {
  GrownTier tier;
  const Bucket moved = tier.moved;
  EXPECT_EQ(tier.at("a").other_holder(moved, "c", true), (Authority::Other{"c", 1}));
  tier.talk();
  EXPECT_EQ(tier.at("c").direction(moved).holder->name, "a");
  EXPECT_EQ(tier.at("a").other_holder(moved, "c", false), (Authority::Other{"c", 1}));
  // Who was to have it is gone for good: it was never given.
  tier.stop("c");
  tier.at("a").doubt("c");
  tier.talk();
  EXPECT_EQ(tier.at("a").direction(moved).way, Way::origin);
}

TEST(Authority, WhatWasGivenToWhoIsNotItsOwnerAnyMoreIsGivenToTheNextOne) {
  const auto before = membership_of({"a", "b"});
  const auto between = membership_of({"a", "b", "c"});
  const auto after = membership_of({"a", "b", "d"});
  Bucket moved = moved_bucket(*before, *after, "a", "d");
  Tier tier({"a", "b"});
  tier.talk();
  for (const char* name : {"c", "d"}) tier.start_replica(name);
  for (const auto& membership : {between, after}) {
    for (const char* name : {"a", "b"}) tier.at(name).follow(membership);
  }
  tier.at("d").follow(after);
  tier.talk();
  EXPECT_EQ(tier.at("a").other_holder(moved, "d", true), (Authority::Other{"d", 1}));
}

TEST(Authority, AHolderThatIsGoneIsFollowedByTheOwnerWithAHigherEpoch) {
  GrownTier tier;
  const Bucket moved = tier.moved;
  tier.stop("a");
  tier.at("c").doubt("a");
  EXPECT_EQ(tier.at("c").direction(moved).way, Way::unknown) << "until it is known to be gone";
  tier.talk();
  EXPECT_EQ(tier.at("c").direction(moved).way, Way::origin);
  EXPECT_EQ(tier.at("c").own().epoch(moved), 2U);
}

TEST(Authority, ANewIncarnationHoldsNothingThatTheOldOneHeld) {
  GrownTier tier;
  const Bucket moved = tier.moved;
  tier.start_replica("a").follow(tier.after);
  tier.talk();
  EXPECT_EQ(tier.at("c").direction(moved).way, Way::origin);
  EXPECT_TRUE(tier.each_bucket_has_one());
}

TEST(Authority, AfterAPartitionTheHigherEpochHasIt) {
  GrownTier tier;
  const Bucket moved = tier.moved;
  tier.set_reachable("a", false);
  tier.at("c").doubt("a");
  tier.at("b").doubt("a");
  tier.let_time_pass(limits::holder_pause_most);
  tier.talk();
  EXPECT_EQ(tier.authorities(moved), 2U);
  tier.set_reachable("a", true);
  tier.let_time_pass(limits::holder_pause_most);
  tier.talk();
  EXPECT_TRUE(tier.each_bucket_has_one());
  EXPECT_EQ(tier.at("a").direction(moved).holder->name, "c");
}

TEST(Authority, OfEqualEpochsTheOwnersCounts) {
  const auto membership = membership_of({"a", "b", "c"});
  const Bucket bucket = bucket_of_owner(membership, "b");
  std::vector<Epoch> epochs(shard::bucket_count);
  epochs[bucket] = 1;
  // Each held it under a topology of its own, before they knew this one.
  std::deque<Authority> holders;
  for (const char* name : {"a", "b", "c"}) {
    holders.emplace_back(name, 1).follow(membership_of({name}));
    holders.back().follow(membership);
  }
  Authority& a = holders[0];
  Authority& b = holders[1];
  Authority& c = holders[2];
  b.heard("a", {{2, 1}, epochs}, {}, start);
  EXPECT_EQ(b.own().epoch(bucket), 1U);
  c.heard("a", {{2, 1}, epochs}, {}, start);
  EXPECT_EQ(c.own().epoch(bucket), 0U) << "neither owns it: the first name has it";
  a.heard("b", {{3, 1}, epochs}, {}, start);
  EXPECT_EQ(a.own().epoch(bucket), 0U);
}

TEST(Authority, AnEmptyGiftThatDidNotArriveIsTakenOverByItsTaker) {
  GrownTier tier;
  const Bucket moved = tier.moved;
  EXPECT_EQ(tier.at("a").other_holder(moved, "c", true), (Authority::Other{"c", 1}));
  EXPECT_EQ(tier.at("a").direction(moved).holder->name, "c");
  for (int i = 0; i < 2; ++i) {
    static_cast<void>(tier.at("a").other_holder(moved, "b", false));  // c is asked what it holds
    tier.talk();
  }
  EXPECT_EQ(tier.at("a").direction(moved).holder->name, "c");
  EXPECT_EQ(tier.at("c").own().epoch(moved), 2U);
  EXPECT_TRUE(tier.at("c").answers_for(moved));
  EXPECT_TRUE(tier.each_bucket_has_one());
}

TEST(Authority, ANewTopologyDecidesBetweenEqualEpochs) {
  const auto alone = membership_of({"a"});
  const auto both = membership_of({"a", "b"});
  const Bucket bucket = bucket_of_owner(both, "b");
  Authority a("a", 1);
  a.follow(alone);
  Authority b("b", 2);
  b.follow(both);
  std::vector<Epoch> epochs(shard::bucket_count);
  epochs[bucket] = 1;
  // Both hold it, and a takes itself for the owner.
  a.follow(membership_of({"a", "b"}, 1, "ring"));
  a.heard("b", {{2, 1}, epochs}, {}, start);
  EXPECT_EQ(a.own().epoch(bucket), 0U);
}

}  // namespace
}  // namespace ringside::tier
