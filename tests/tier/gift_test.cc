#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "shard/topology.h"
#include "tests/tier/some_membership.h"
#include "tests/tier/some_tier.h"
#include "tier/authority.h"

// What goes with a bucket that is given, and with one that was cut.
namespace ringside::tier {
namespace {

using Way = Authority::Way;
using shard::Bucket;

// Else it would ask the origin for what is on its way.
TEST(Gift, WhatGoesWithABatchIsTakenWithTheBatchAlone) {
  GrownTier tier;
  const Bucket moved = tier.moved;
  EXPECT_EQ(tier.at("a").give(moved, "c")->epoch, 1U);
  EXPECT_EQ(tier.at("a").other_holder(moved, "c", false), (Authority::Other{"c"}));
  EXPECT_EQ(tier.at("a").other_holder(moved, "c", true), (Authority::Other{"c", 1}))
      << "what was stored has expired, or there was nothing";
}

// The newcomer asked before it had answered. A replica that did not know it yet heard that the
// giver had the bucket no more, and took it over as nobody's.
TEST(Gift, WhoGivesTellsOfTheTakerBeforeItHasHeardIt) {
  Tier tier({"a", "b"});
  tier.talk();
  const auto before = membership_of({"a", "b"});
  const auto after = membership_of({"a", "b", "c"});
  const Bucket moved = moved_bucket(*before, *after, "a", "c");
  Authority& a = tier.at("a");
  a.follow(after);
  EXPECT_TRUE(a.own().leavers.empty());
  ASSERT_TRUE(a.give(moved, "c"));
  ASSERT_EQ(a.own().leavers.size(), 1U);
  EXPECT_EQ(a.own().leavers[0].name, "c");
  ASSERT_TRUE(a.given_over(moved, "c"));
  EXPECT_EQ(a.own().leavers.size(), 1U);
  a.doubt("c");
  a.heard_again("b", a.own().version, start);
  EXPECT_EQ(a.own().leavers.size(), 1U) << "it is to be heard anew";
  a.failed("c", true, start);
  EXPECT_TRUE(a.own().leavers.empty());
}

// A large batch was on its way while its taker was heard twice. Giver and taker then both had the
// bucket, and a page was fetched twice.
TEST(Gift, WhatGoesWithABatchIsNotForgottenWhileTheBatchMayBeOnItsWay) {
  GrownTier tier;
  const Bucket moved = tier.moved;
  Authority& a = tier.at("a");
  ASSERT_TRUE(a.give(moved, "c"));
  for (int i = 0; i < 5; ++i) a.heard_again("c", {}, start);
  EXPECT_FALSE(a.answers_for(moved));
  ASSERT_TRUE(a.give(moved, "c")) << "it asks for the batch again";
  a.heard_again("c", {}, start + limits::move_timeout);
  a.heard_again("c", {}, start + limits::move_timeout);
  EXPECT_FALSE(a.answers_for(moved));
  a.heard_again("c", {}, start + 2 * limits::move_timeout);
  a.heard_again("c", a.own().version, start + 2 * limits::move_timeout);
  EXPECT_TRUE(a.answers_for(moved)) << "it does not ask any more";
}

// It removed what it had given, and still had the authority: the next miss asked the origin.
TEST(Gift, WhatWasThoughtLostIsNotGivenOver) {
  GrownTier tier;
  const Bucket moved = tier.moved;
  Authority& a = tier.at("a");
  ASSERT_TRUE(a.give(moved, "c"));
  for (const auto since : {Milliseconds{0}, limits::move_timeout}) {
    a.heard_again("c", {}, start + since);
  }
  a.heard_again("c", a.own().version, start + limits::move_timeout);
  EXPECT_TRUE(a.answers_for(moved));
  EXPECT_FALSE(a.given_over(moved, "c"));
  EXPECT_TRUE(a.answers_for(moved));
}

// The first one let go of it, since the second one had it, and the second one, since the first one
// had it again: it was nobody's, and a page was fetched twice.
TEST(Gift, WhatIsGivenBackBeforeItIsKnownToHaveArrivedIsTaken) {
  const auto before = membership_of({"a", "b"});
  const auto after = membership_of({"a"});
  Tier tier({"a", "b"});
  for (const char* name : {"a", "b"}) tier.at(name).follow(after);
  tier.talk();
  Authority& a = tier.at("a");
  Authority& b = tier.at("b");
  for (const char* name : {"a", "b"}) tier.at(name).follow(before);
  const Bucket bucket = a.to_give("b").front();
  const Epoch first = a.give(bucket, "b")->epoch;
  b.take(bucket, first, "a");
  for (const char* name : {"a", "b"}) tier.at(name).follow(after);
  const Epoch second = b.give(bucket, "a")->epoch;
  EXPECT_GT(second, first);
  a.take(bucket, second, "b");
  EXPECT_TRUE(b.given_over(bucket, "a"));
  EXPECT_FALSE(a.given_over(bucket, "b")) << "that was before it came back";
  EXPECT_TRUE(a.answers_for(bucket));
  const Epoch third = a.own().epoch(bucket);
  EXPECT_GT(third, second);
  a.take(bucket, second, "b");
  EXPECT_EQ(a.own().epoch(bucket), third) << "the same batch once more";
}

// It took the bucket a second time, with a higher epoch than the one to whom it had passed it on,
// and both answered for it.
TEST(Gift, WhatWasPassedOnIsNotTakenAgainFromAGiverThatDoesNotKnowThatItArrived) {
  Tier tier({"a", "b", "c"});
  tier.talk();
  for (const char* name : {"a", "b", "c"}) tier.at(name).follow(membership_of({"b", "c"}));
  Authority& a = tier.at("a");
  Authority& b = tier.at("b");
  Authority& c = tier.at("c");
  const Bucket bucket = a.to_give("b").front();
  EXPECT_EQ(a.other_holder(bucket, "b", true), (Authority::Other{"b", 1}));
  b.take(bucket, 1, "a");
  for (const char* name : {"b", "c"}) tier.at(name).follow(membership_of({"c"}));
  const auto passed_on = b.give(bucket, "c");
  ASSERT_TRUE(passed_on);
  c.take(bucket, passed_on->epoch, "b");
  ASSERT_TRUE(b.given_over(bucket, "c"));
  const HoldingsVersion version = b.own().version;
  EXPECT_FALSE(b.take(bucket, a.give(bucket, "b")->epoch, "a"));
  EXPECT_EQ(b.own().epoch(bucket), 0U);
  EXPECT_NE(b.own().version, version) << "a takes it for b's now, and is to hear that it is not";

  // Who can't be reached any more keeps nothing from us.
  b.failed("c", true, start);
  EXPECT_TRUE(b.take(bucket, 1, "a"));
  EXPECT_GT(b.own().epoch(bucket), c.own().epoch(bucket));
}

// It said again that it has the bucket, and asked the origin for what the third one had fetched.
TEST(Gift, WhatWasEmptyAndPassedOnBeforeItWasHeardOfIsNotTheFirstGiversAgain) {
  GrownTier tier;
  const Bucket moved = tier.moved;
  Authority& a = tier.at("a");
  EXPECT_EQ(a.other_holder(moved, "c", true), (Authority::Other{"c", 1}));
  for (int i = 0; i < 2; ++i) a.heard_again("c", {}, start);
  EXPECT_EQ(a.other_holder(moved, "b", true), (Authority::Other{"c"}));
  EXPECT_GT(a.own().epoch(moved), 0U) << "it may still take it";
  a.heard_again("c", a.own().version, start);
  EXPECT_EQ(a.own().epoch(moved), 0U);
  EXPECT_TRUE(a.own().has_copies(moved)) << "of what it has fetched from c since";
  EXPECT_FALSE(a.answers_for(moved));
  EXPECT_EQ(a.direction(moved).holder->name, "c") << "it is its taker, and finds out";
}

// Of d's membership, which has heard that c has the bucket with the third epoch.
struct Newcomer {
  const MembershipPointer membership = membership_of({"a", "b", "c", "d"});
  const Bucket bucket;
  Authority d{"d", 4};

  explicit Newcomer(const std::string& owner) : bucket(bucket_of_owner(membership, owner)) {
    d.follow(membership);
    d.heard("c", holdings_of_one(3, bucket, 3), {}, start);
    d.heard("b", {{2, 0}, {}}, {}, start);
  }
};

// The second one asked it, and then the origin, though it had heard of a third one.
TEST(Gift, WhatIsHeldWithALowerEpochThanWasHeardOfIsAskedOfItsTaker) {
  Newcomer tier("b");
  tier.d.heard("c", {{3, 4}, {}}, {}, start);
  tier.d.heard("a", holdings_of_one(1, tier.bucket, 1), {}, start);
  EXPECT_EQ(tier.d.direction(tier.bucket).holder->name, "b");
}

// A replica that is restarted begins with the first epoch. While the pod of its bucket's new taker
// was not there yet, others asked the origin.
TEST(Gift, WhatIsHeldWithALowerEpochIsAskedForWhereItsTakerIsNotThere) {
  auto members = members_at({"a", "b", "c"});
  members[1].address = {};
  const auto membership = make_membership(members, "ring", 1).value();
  const Bucket bucket = bucket_of_owner(membership, "b");
  Authority a("a", 1);
  a.follow(membership);
  a.heard("c", holdings_of_one(3, bucket, 2), {}, start);
  a.heard("c", holdings_of_one(4, bucket, 1), {}, start);
  ASSERT_EQ(a.direction(bucket).way, Way::holder);
  EXPECT_EQ(a.direction(bucket).holder->name, "c");
}

// What it stores would be fetched again otherwise.
TEST(Gift, WhereTheHigherEpochEndedWhoHasALowerOneIsAsked) {
  Newcomer tier("d");
  tier.d.failed("c", true, start);
  tier.d.heard("a", holdings_of_one(1, tier.bucket, 1), {}, start);
  EXPECT_EQ(tier.d.direction(tier.bucket).way, Way::unknown);
  EXPECT_EQ(tier.d.take_due(start).size(), 2U) << "a and b are heard once more";
  tier.d.heard_again("a", {}, start);
  EXPECT_EQ(tier.d.direction(tier.bucket).way, Way::unknown);
  tier.d.heard_again("b", {}, start);
  EXPECT_EQ(tier.d.direction(tier.bucket).holder->name, "a");
  tier.d.take(tier.bucket, 1, "a");
  EXPECT_EQ(tier.d.own().epoch(tier.bucket), 4U);
}

// One range of a's, and the same cut at m, where b has what is behind.
MembershipPointer ranges(bool is_cut) {
  shard::State state{{{"", "a", std::nullopt}}, {}};
  if (is_cut) state.shards.push_back({"m", "b", 0});
  return make_membership(members_at({"a", "b", "c"}), "range", is_cut ? 2 : 1, state).value();
}

struct CutTier : Tier {
  CutTier() : Tier({"a", "b", "c"}) {
    for (const char* name : {"a", "b", "c"}) at(name).follow(ranges(false));
    talk();
  }
};

TEST(Gift, WhoHadABucketHasWhatIsCutOfIt) {
  CutTier tier;
  EXPECT_GT(tier.at("a").own().epoch(0), 0U);
  EXPECT_EQ(tier.at("a").own().epoch(1), 0U);
  tier.at("a").follow(ranges(true));
  EXPECT_EQ(tier.at("a").own().epoch(1), tier.at("a").own().epoch(0));
  tier.at("b").follow(ranges(true));
  tier.talk();
  EXPECT_EQ(tier.at("b").direction(1).holder->name, "a");
  EXPECT_EQ(tier.at("a").to_give("b"), std::vector<Bucket>{1});
}

TEST(Gift, WhoHasNotHeardOfACutHasAllOfIt) {
  CutTier tier;
  tier.at("b").follow(ranges(true));
  tier.talk();
  EXPECT_EQ(tier.at("b").direction(1).holder->name, "a");
  EXPECT_EQ(tier.at("b").own().epoch(1), 0U) << "it takes nothing over";
}

TEST(Gift, WhoHasNotHeardOfACutIsGivenNoPart) {
  CutTier tier;
  shard::State state{{{"", "c", std::nullopt}, {"m", "b", 0}}, {}};
  tier.at("a").follow(make_membership(members_at({"a", "b", "c"}), "range", 2, state).value());
  EXPECT_FALSE(tier.at("a").give(0, "c")) << "c would take the other part for its own";
  tier.at("c").follow(make_membership(members_at({"a", "b", "c"}), "range", 2, state).value());
  tier.talk();
  EXPECT_TRUE(tier.at("a").give(0, "c"));
}

TEST(Gift, WhoHasNotSaidThatItKnowsABucketIsNotGivenIt) {
  CutTier tier;
  tier.at("a").follow(ranges(true));
  EXPECT_FALSE(tier.at("a").give(1, "b")) << "b has no such bucket, or has heard of more cuts";
  tier.at("b").follow(ranges(true));
  tier.talk();
  EXPECT_TRUE(tier.at("a").give(1, "b"));
}

TEST(Gift, WhatIsGivenByWhoHasNotHeardOfACutIsAllOfIt) {
  CutTier tier;
  tier.at("b").follow(ranges(true));
  tier.at("b").take(0, 1, "a", 1);
  EXPECT_GT(tier.at("b").own().epoch(0), 0U);
  EXPECT_GT(tier.at("b").own().epoch(1), 0U);
  tier.at("c").follow(ranges(true));
  tier.at("c").take(0, 1, "a", 2);
  EXPECT_EQ(tier.at("c").own().epoch(1), 0U);
}

TEST(Gift, OfOtherNumbersNothingIsKnown) {
  CutTier tier;
  shard::State other{{{"", "a", std::nullopt}, {"x", "b", std::nullopt}}, {}};
  tier.at("a").follow(make_membership(members_at({"a", "b", "c"}), "range", 3, other).value());
  EXPECT_EQ(tier.at("a").own().epoch(0), 0U);
  tier.talk();
  EXPECT_EQ(tier.at("b").own().epoch(0), 0U) << "it knows the other numbers still";
}

}  // namespace
}  // namespace ringside::tier
