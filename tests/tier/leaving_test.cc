// Who leaves, and who is gone: what becomes of the buckets that it holds.
#include <gtest/gtest.h>

#include <string>

#include "tests/tier/some_membership.h"
#include "tests/tier/some_tier.h"
#include "tier/authority.h"

namespace ringside::tier {
namespace {

using Way = Authority::Way;
using shard::Bucket;

// All that `giver` has for others goes to them, as batches would carry it. Returns how many
// buckets.
std::size_t give_all(Tier& tier, const std::string& giver, const std::vector<std::string>& takers) {
  std::size_t count = 0;
  for (const std::string& taker : takers) {
    for (const Bucket bucket : tier.at(giver).to_give(taker)) {
      const auto gift = tier.at(giver).give(bucket, taker);
      EXPECT_TRUE(gift);
      if (gift->epoch > 0) tier.at(taker).take(bucket, gift->epoch, giver);
      EXPECT_TRUE(tier.at(giver).given_over(bucket, taker));
      tier.at(giver).emptied(bucket);
      ++count;
    }
  }
  tier.talk();
  return count;
}

Bucket first_of(const Membership& membership, const std::string& name) {
  return buckets_of(membership, name)->front();
}

TEST(Leaving, WhoDrainsIsFollowedByTheNextOwners) {
  const auto membership = membership_of({"a", "b", "c"});
  Tier tier({"a", "b", "c"});
  tier.talk();
  EXPECT_EQ(tier.at("b").to_be_given(), 0U);
  tier.at("b").drain();
  tier.talk();
  const std::size_t owned = buckets_of(*membership, "b")->size();
  EXPECT_EQ(tier.at("b").to_be_given(), owned);
  EXPECT_EQ(tier.at("a").away() + tier.at("c").away(), owned);
  EXPECT_TRUE(tier.at("b").givers().empty()) << "it takes nothing any more";
  ASSERT_EQ(tier.at("a").givers().size(), 1U);
  EXPECT_EQ(tier.at("a").givers().front().name, "b");
  const Bucket bucket = first_of(*membership, "b");
  EXPECT_TRUE(tier.at("b").answers_for(bucket)) << "until it is given";

  EXPECT_EQ(give_all(tier, "b", {"a", "c"}), owned);
  EXPECT_EQ(tier.at("b").to_be_given(), 0U);
  EXPECT_TRUE(tier.each_bucket_has_one());
  EXPECT_EQ(tier.at("b").direction(bucket).way, Way::holder);
}

// Of two that were told to end together the one that heard of the other's drain ended first. The
// other one waited for it until its time was over.
TEST(Leaving, WhoDrainsNoticesThatItsTakerHasEnded) {
  Tier tier({"a", "b"});
  tier.talk();
  tier.at("a").drain();
  tier.talk();
  EXPECT_GT(tier.at("a").to_be_given(), 0U);
  tier.stop("b");
  tier.talk();
  EXPECT_GT(tier.at("a").to_be_given(), 0U) << "an idle tier says nothing";
  tier.at("a").suspect_takers();
  tier.talk();
  EXPECT_EQ(tier.at("a").to_be_given(), 0U);
}

TEST(Leaving, WhoComesBackGetsItsBucketsAgain) {
  const auto membership = membership_of({"a", "b", "c"});
  const Bucket bucket = first_of(*membership, "b");
  Tier tier({"a", "b", "c"});
  tier.talk();
  tier.at("b").drain();
  tier.talk();
  give_all(tier, "b", {"a", "c"});
  tier.stop("b");
  for (const char* name : {"a", "c"}) tier.at(name).doubt("b");
  tier.talk();
  EXPECT_EQ(tier.authorities(bucket), 1U);

  tier.start_replica("b").follow(membership);
  tier.let_time_pass(limits::holder_pause_most);
  tier.talk();
  EXPECT_EQ(tier.at("b").direction(bucket).way, Way::holder) << "on loan, and to be asked there";
  EXPECT_EQ(tier.at("b").away(), buckets_of(*membership, "b")->size());
  for (const char* name : {"a", "c"}) give_all(tier, name, {"b"});
  EXPECT_EQ(tier.at("b").direction(bucket).way, Way::origin);
  EXPECT_EQ(tier.at("b").away(), 0U);
  EXPECT_TRUE(tier.each_bucket_has_one());
}

TEST(Leaving, WhoIsGoneIsFollowedByTheNextOwnersOnce) {
  const auto membership = membership_of({"a", "b", "c"});
  const Bucket bucket = first_of(*membership, "b");
  Tier tier({"a", "b", "c"});
  tier.talk();
  tier.stop("b");
  for (const char* name : {"a", "c"}) tier.at(name).doubt("b");
  tier.talk();
  EXPECT_EQ(tier.authorities(bucket), 1U);
  const std::string taker = tier.at("a").own().epoch(bucket) > 0 ? "a" : "c";
  EXPECT_EQ(tier.at(taker).own().epoch(bucket), 2U);
  EXPECT_EQ(tier.at(taker == "a" ? "c" : "a").direction(bucket).holder->name, taker);
}

TEST(Leaving, WhoNeverWasThereIsWaitedFor) {
  const auto membership = membership_of({"a", "b"});
  const Bucket bucket = first_of(*membership, "b");
  Authority a("a", 1);
  a.follow(membership);
  static_cast<void>(a.take_due(start));
  a.failed("b", true, start);
  EXPECT_EQ(a.own().epoch(bucket), 0U) << "it may not have started yet";
  EXPECT_EQ(a.own().epoch(first_of(*membership, "a")), 1U);
  EXPECT_EQ(a.direction(bucket).way, Way::origin);
}

TEST(Leaving, WhoIsNowhereIsGoneIfItWasEverThere) {
  std::vector<shard::MemberAt> members = members_at({"a", "b"});
  Authority a("a", 1);
  a.follow(make_membership(members, "ring", 1).value());
  static_cast<void>(a.take_due(start));
  const Bucket bucket = first_of(*make_membership(members, "ring", 1).value(), "b");
  std::vector<Epoch> epochs(shard::bucket_count);
  epochs[bucket] = 4;
  a.heard("b", {{2, 1}, epochs}, {}, start);
  const auto addresses = std::vector<Endpoint>{{"h", 1}, {"", 0}};
  const auto before = make_membership(members, "ring", 1).value();
  a.follow(std::make_shared<const Membership>(before->topology, addresses));
  EXPECT_EQ(a.own().epoch(bucket), 5U);
  a.follow(before);
  EXPECT_EQ(a.direction(bucket).way, Way::origin) << "on loan until it says that it is there";
}

// A pod that starts hears of the others before they hear of its address. A real cluster fetched
// what it was given in that half of a second again.
TEST(Leaving, WhoIsNowhereYetIsGivenNothingThoughItAsks) {
  const auto membership = membership_of({"a", "b"});
  const auto addresses = std::vector<Endpoint>{{"h", 1}, {"", 0}};
  const Bucket bucket = first_of(*membership, "b");
  Authority a("a", 1);
  a.follow(membership_of({"a"}));
  a.follow(std::make_shared<const Membership>(membership->topology, addresses));
  EXPECT_EQ(a.give(bucket, "b"), std::nullopt);
  EXPECT_EQ(a.other_holder(bucket, "b", true), std::nullopt);
  EXPECT_EQ(a.direction(bucket).way, Way::origin) << "it has the authority still";
  a.follow(membership);
  EXPECT_TRUE(a.give(bucket, "b"));
}

TEST(Leaving, WhoLeftAndWasForgottenIsNotGivenWhatItWasToHave) {
  const auto both = membership_of({"a", "b"});
  const Bucket bucket = first_of(*both, "b");
  Authority a("a", 1);
  a.follow(membership_of({"a"}));
  a.follow(both);
  static_cast<void>(a.take_due(start));
  a.heard("b", {{2, 1}, std::vector<Epoch>(shard::bucket_count)}, {}, start);
  ASSERT_TRUE(a.give(bucket, "b"));
  a.follow(membership_of({"a"}));
  SteadyPoint now = start;
  for (int i = 0; i < 3; ++i, now += limits::holdings_interval * 2) {
    EXPECT_TRUE(a.knows("b")) << "it may have the gift still to come";
    ASSERT_EQ(a.take_due(now).size(), 1U);
    a.heard("b", {{2, 2}, std::vector<Epoch>(shard::bucket_count)}, a.own().version, now);
  }
  EXPECT_TRUE(a.reachable(Authority::Among::all).empty());
  EXPECT_FALSE(a.given_over(bucket, "b"));
  EXPECT_TRUE(a.answers_for(bucket));
}

// From c by way of a to b, before c heard of a: a asked c, which gave it the bucket again.
TEST(Leaving, WhoSaysThatItHasABucketIsAskedForIt) {
  const auto all = membership_of({"a", "b", "c"});
  const Bucket bucket = first_of(*all, "b");
  std::vector<Epoch> of_c(shard::bucket_count);
  of_c[bucket] = 2;
  Authority a("a", 1);
  a.follow(all);
  static_cast<void>(a.take_due(start));
  a.heard("b", {{2, 1}, std::vector<Epoch>(shard::bucket_count)}, {}, start);
  a.heard("c", {{3, 1}, of_c}, {}, start);
  a.take(bucket, 2, "c");
  ASSERT_TRUE(a.give(bucket, "b"));
  ASSERT_TRUE(a.given_over(bucket, "b"));
  const auto direction = a.direction(bucket);
  ASSERT_EQ(direction.way, Way::holder);
  EXPECT_EQ(direction.holder->name, "b") << "c says still that it holds it";
}

// It fetched something after it was forgotten, a purge did not reach it, and a sidecar that still
// followed the old topology was given what was purged.
TEST(Leaving, WhoIsNoMemberKeepsNothing) {
  const auto both = membership_of({"a", "b"});
  Tier tier({"a", "b"});
  tier.talk();
  const Bucket bucket = first_of(*both, "b");
  EXPECT_TRUE(tier.at("b").may_keep(bucket, true));
  EXPECT_FALSE(tier.at("a").may_keep(bucket, true)) << "b keeps it";
  EXPECT_TRUE(tier.at("a").may_keep(bucket, false)) << "nobody else has it";
  tier.at("b").follow(membership_of({"a"}));
  EXPECT_FALSE(tier.at("b").may_keep(first_of(*both, "a"), false));
  EXPECT_TRUE(tier.at("b").may_keep(bucket, false)) << "it holds it, and is heard";
}

// What it fetched just after it was removed, and was given the bucket, was fetched once more by the
// next one.
TEST(Leaving, WhoWasGivenABucketKeepsWhatIsFetchedForIt) {
  const auto both = membership_of({"a", "b"});
  const Bucket bucket = first_of(*both, "a");
  Tier tier({"a", "b"});
  tier.talk();
  tier.at("b").follow(membership_of({"a"}));
  EXPECT_FALSE(tier.at("b").may_keep(bucket, false));
  tier.at("b").take(bucket, 1, "a");
  EXPECT_TRUE(tier.at("b").may_keep(bucket, false));
}

TEST(Leaving, WhatIsStoredWhereNobodyLooksIsTold) {
  const auto both = membership_of({"a", "b"});
  const Bucket ours = first_of(*both, "a");
  const Bucket stray = first_of(*both, "b");
  Tier tier({"a", "b"});
  tier.talk();
  const auto is_stored = [&](Bucket bucket) { return bucket == stray || bucket == ours; };
  EXPECT_TRUE(tier.at("a").note_strays(is_stored));
  EXPECT_TRUE(tier.at("a").own().has_copies(stray));
  EXPECT_FALSE(tier.at("a").own().has_copies(ours));
  EXPECT_FALSE(tier.at("a").note_strays(is_stored)) << "it is known by now";
  tier.talk();
  ASSERT_EQ(tier.at("b").givers().size(), 1U);
}

TEST(Leaving, WithNobodyToTakeItADrainHasNothingToWaitFor) {
  Tier tier({"a", "b"});
  tier.talk();
  tier.at("a").drain();
  tier.talk();
  EXPECT_GT(tier.at("a").to_be_given(), 0U);
  tier.at("b").drain();
  tier.talk();
  EXPECT_EQ(tier.at("a").to_be_given(), 0U);
  EXPECT_EQ(tier.at("b").to_be_given(), 0U);
}

TEST(Leaving, WhoWasAMemberIsAskedUntilItHoldsNothing) {
  const auto before = membership_of({"a", "b", "c"});
  const auto after = membership_of({"a", "b"});
  const Bucket bucket = first_of(*before, "c");
  Tier tier({"a", "b", "c"});
  tier.talk();
  for (const char* name : {"a", "b", "c"}) tier.at(name).follow(after);
  tier.talk();
  for (const char* name : {"a", "b"}) {
    const auto direction = tier.at(name).direction(bucket);
    ASSERT_EQ(direction.way, Way::holder) << name;
    EXPECT_EQ(direction.holder->name, "c");
    ASSERT_EQ(tier.at(name).reachable(Authority::Among::leavers).size(), 1U);
  }
  EXPECT_EQ(give_all(tier, "c", {"a", "b"}), buckets_of(*before, "c")->size());
  for (const char* name : {"a", "b"})
    EXPECT_TRUE(tier.at(name).reachable(Authority::Among::leavers).empty()) << name;
  tier.stop("c");
  EXPECT_TRUE(tier.each_bucket_has_one());
}

TEST(Leaving, ALeaverThatHeldNothingWhenItWasHeardIsHeardAgain) {
  Tier tier({"a"});
  tier.talk();
  const auto alone = membership_of({"a"});
  const auto both = membership_of({"a", "b"});
  const Bucket bucket = first_of(*both, "b");
  tier.start_replica("b");
  for (const char* name : {"a", "b"}) tier.at(name).follow(both);
  tier.talk();
  const auto gift = tier.at("a").give(bucket, "b");
  ASSERT_TRUE(gift && gift->is_new);
  tier.at("b").take(bucket, gift->epoch, "a");
  EXPECT_TRUE(tier.at("a").given_over(bucket, "b"));
  tier.at("a").emptied(bucket);
  for (const char* name : {"a", "b"}) tier.at(name).follow(alone);
  tier.talk();
  ASSERT_EQ(tier.at("a").reachable(Authority::Among::leavers).size(), 1U);
  EXPECT_EQ(tier.at("a").direction(bucket).holder->name, "b");
}

TEST(Leaving, WhoCameAfterALeaverLeftHearsOfIt) {
  Tier tier({"a", "b"});
  tier.talk();
  for (const char* name : {"a", "b"}) tier.at(name).follow(membership_of({"a"}));
  tier.talk();
  tier.start_replica("c");
  for (const char* name : {"a", "b", "c"}) tier.at(name).follow(membership_of({"a", "c"}));
  tier.talk();
  ASSERT_EQ(tier.at("c").reachable(Authority::Among::leavers).size(), 1U);
  EXPECT_EQ(tier.at("c").reachable(Authority::Among::leavers).front().name, "b");
  EXPECT_TRUE(tier.each_bucket_has_one());
  give_all(tier, "b", {"a", "c"});
  for (const char* name : {"a", "c"}) {
    EXPECT_TRUE(tier.at(name).reachable(Authority::Among::leavers).empty()) << name;
    EXPECT_TRUE(tier.at(name).own().leavers.empty()) << name;
  }
}

TEST(Leaving, ALeaverThatCannotBeReachedIsForgottenAfterAWhile) {
  Tier tier({"a", "b"});
  tier.talk();
  tier.at("a").follow(membership_of({"a"}));
  tier.talk();
  ASSERT_EQ(tier.at("a").reachable(Authority::Among::leavers).size(), 1U);
  tier.stop("b");
  tier.at("a").suspect("b");
  tier.talk();
  EXPECT_TRUE(tier.at("a").reachable(Authority::Among::leavers).empty());
  EXPECT_TRUE(tier.each_bucket_has_one()) << "what it held is followed by the taker";
  EXPECT_NE(tier.at("a").next_due(), std::nullopt);
  for (int i = 0; i < 10; ++i) {
    tier.let_time_pass(limits::holder_pause_most);
    tier.talk();
  }
  EXPECT_EQ(tier.at("a").next_due(), std::nullopt);
}

TEST(Leaving, WhatTheLoserOfABucketHasStoredIsGivenToItsTakerToo) {
  const auto membership = membership_of({"a", "b"});
  const Bucket bucket = first_of(*membership, "b");
  Tier tier({"a", "b"});
  tier.talk();
  // b seems to be gone, and a takes its buckets over; then it is there again.
  tier.set_reachable("b", false);
  tier.at("a").doubt("b");
  tier.at("b").doubt("a");
  tier.talk();
  EXPECT_EQ(tier.authorities(bucket), 2U);
  tier.set_reachable("b", true);
  tier.let_time_pass(limits::holder_pause_most);
  tier.talk();
  EXPECT_EQ(tier.at("a").own().epoch(bucket), 2U);
  EXPECT_TRUE(tier.at("b").own().has_copies(bucket));
  EXPECT_EQ(tier.at("b").away(), buckets_of(*membership, "b")->size());
  give_all(tier, "a", {"b"});
  give_all(tier, "b", {"a"});
  EXPECT_TRUE(tier.each_bucket_has_one());
  EXPECT_EQ(tier.at("b").own().epoch(bucket), 3U);
  EXPECT_FALSE(tier.at("b").own().has_copies(bucket));
  EXPECT_TRUE(tier.at("a").givers().empty());
}

TEST(Leaving, WhatIsStoredAfterABucketWasGivenIsACopy) {
  const auto both = membership_of({"a", "b"});
  const Bucket bucket = first_of(*both, "b");
  Tier tier({"a"});
  tier.talk();
  tier.start_replica("b");
  for (const char* name : {"a", "b"}) tier.at(name).follow(both);
  tier.talk();
  const auto gift = tier.at("a").give(bucket, "b");
  ASSERT_TRUE(gift);
  EXPECT_FALSE(tier.at("a").give(bucket, "b")->is_new);
  EXPECT_FALSE(tier.at("a").answers_for(bucket));
  tier.at("b").take(bucket, gift->epoch, "a");
  EXPECT_TRUE(tier.at("a").given_over(bucket, "b"));
  EXPECT_TRUE(tier.at("a").own().has_copies(bucket));
  EXPECT_EQ(tier.at("a").give(bucket, "b")->epoch, 0U);
  EXPECT_TRUE(tier.at("a").given_over(bucket, "b"));
  tier.at("a").emptied(bucket);
  EXPECT_FALSE(tier.at("a").own().has(bucket));
  EXPECT_EQ(tier.at("a").give(bucket, "c"), std::nullopt);
}

}  // namespace
}  // namespace ringside::tier
