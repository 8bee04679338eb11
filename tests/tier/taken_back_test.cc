#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "base/limits.h"
#include "shard/topology.h"
#include "tests/tier/some_membership.h"
#include "tests/tier/some_tier.h"
#include "tier/authority.h"

// What a giver takes back, since its taker does not say that it has it.
namespace ringside::tier {
namespace {

using shard::Bucket;

// a has given c a bucket with a batch, and d has become its taker.
struct OvertakenTier : Tier {
  const MembershipPointer between = membership_of({"a", "b", "c"});
  const MembershipPointer after = membership_of({"a", "b", "c", "d"});
  const Bucket moved = moved_bucket(*between, *after, "c", "d");
  HoldingsVersion given;  // in this version of a's holdings
  Epoch epoch = 0;

  OvertakenTier() : Tier({"a", "b", "c"}) {
    at("a").follow(membership_of({"a"}));
    for (const char* name : {"b", "c"}) stop(name);
    talk();
    for (const char* name : {"b", "c"}) start_replica(name).follow(between);
    at("a").follow(between);
    talk();
    given = at("a").own().version;
    epoch = at("a").give(moved, "c")->epoch;
    at("a").follow(after);
  }
  // Without it, as often as it takes.
  void hear_c() {
    for (int i = 0; i < 2; ++i) at("a").heard_again("c", given, start);
  }
  // As a leaver that nobody could reach.
  void forget_c() {
    at("a").follow(membership_of({"a", "b", "d"}));
    at("a").failed("c", true, start);
    at("a").failed("c", true, start + limits::leaver_patience);
  }
  void hear_of_c_from_b() {
    Holdings said = at("b").own();
    said.leavers = {{"c", members_at({"c"})[0].address}};
    ++said.version.number;
    at("a").heard("b", said, {}, start);
  }
};

MembershipPointer without_address(const MembershipPointer& membership, std::size_t member) {
  auto addresses = membership->addresses;
  addresses[member] = {};
  return std::make_shared<const Membership>(membership->topology, addresses);
}

// Which is due at once.
std::optional<Authority::Call> call_to(Authority& from, std::string_view peer) {
  for (const auto& call : from.take_due(start)) {
    if (call.peer.name == peer) return call;
  }
  return std::nullopt;
}

TEST(TakenBack, WhatGoesWithABatchToWhoIsNotItsTakerAnyMoreIsSoonForgotten) {
  OvertakenTier tier;
  Authority& a = tier.at("a");
  tier.hear_c();
  a.heard_again("c", a.own().version, start);
  EXPECT_TRUE(a.answers_for(tier.moved));
}

// It fetched a page for the new taker. Then the batch arrived, that one asked the old taker, which
// had the higher epoch by it, and the page was fetched twice.
TEST(TakenBack, WhatIsTakenBackIsNotTakenOfABatchThatComesLate) {
  OvertakenTier tier;
  Authority& a = tier.at("a");
  Authority& c = tier.at("c");
  tier.hear_c();
  EXPECT_FALSE(a.answers_for(tier.moved)) << "the batch may still arrive";
  EXPECT_FALSE(c.is_taken_back("a", tier.given));
  tier.talk();
  EXPECT_TRUE(a.answers_for(tier.moved));
  EXPECT_TRUE(c.is_taken_back("a", tier.given));
  EXPECT_FALSE(c.is_taken_back("a", a.own().version)) << "what it gives from here on counts";
}

TEST(TakenBack, WhatIsTakenBackIsTheTakersWhereTheBatchCameFirst) {
  OvertakenTier tier;
  tier.hear_c();
  tier.at("c").take(tier.moved, tier.epoch, "a");
  tier.talk();
  EXPECT_EQ(tier.at("a").own().epoch(tier.moved), 0U);
  EXPECT_GT(tier.at("c").own().epoch(tier.moved), 0U);
}

// It asks for the next batch, and has not heard of the taking back.
TEST(TakenBack, WhatIsTakenBackIsTheTakersWhereItSaysThatTheBatchHasCome) {
  OvertakenTier tier;
  tier.hear_c();
  tier.at("c").take(tier.moved, tier.epoch, "a");
  EXPECT_TRUE(tier.at("a").given_over(tier.moved, "c"));
  EXPECT_EQ(tier.at("a").own().epoch(tier.moved), 0U);
}

// Each of its questions began the wait for the former taker anew.
TEST(TakenBack, WhatGoesToAFormerTakerIsForgottenThoughTheNewOneAsksForIt) {
  OvertakenTier tier;
  tier.start_replica("d").follow(tier.after);
  Authority& a = tier.at("a");
  a.heard("d", tier.at("d").own(), {}, start);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(a.other_holder(tier.moved, "d", true), (Authority::Other{"c"}));
    a.heard_again("c", a.own().version, start);
  }
  EXPECT_TRUE(a.answers_for(tier.moved)) << "it was not taken for an empty one";
}

// Nobody took the bucket any more, and who asked for it was sent there for ever.
TEST(TakenBack, ALeaverThatHoldsNothingIsKnownUntilItsGiftIsTakenBack) {
  OvertakenTier tier;
  Authority& a = tier.at("a");
  a.follow(membership_of({"a", "b", "d"}));
  a.heard_again("c", {}, start);
  EXPECT_TRUE(a.knows("c"));
  tier.talk();
  EXPECT_TRUE(a.answers_for(tier.moved));
  EXPECT_TRUE(tier.at("c").is_taken_back("a", tier.given));
  EXPECT_FALSE(a.knows("c"));
}

// For a moment its pod was not ready.
TEST(TakenBack, WhatIsTakenBackIsToldToWhoWasNowhereMeanwhile) {
  OvertakenTier tier;
  Authority& a = tier.at("a");
  tier.hear_c();
  a.follow(without_address(tier.after, 2));
  a.follow(tier.after);
  tier.talk();
  EXPECT_TRUE(tier.at("c").is_taken_back("a", tier.given));
}

TEST(TakenBack, WhatItsGiverHasTakenBackIsKnownThoughThatOneWasNowhereMeanwhile) {
  OvertakenTier tier;
  Authority& c = tier.at("c");
  tier.hear_c();
  tier.talk();
  c.follow(without_address(tier.after, 0));
  c.follow(tier.after);
  EXPECT_TRUE(c.is_taken_back("a", tier.given));
}

// It was stalled, and not ready for a moment.
TEST(TakenBack, WhatIsTakenBackIsToldToWhoWasNoMemberMeanwhile) {
  OvertakenTier tier;
  Authority& a = tier.at("a");
  a.failed("c", true, start);
  a.follow(membership_of({"a", "b", "d"}));
  EXPECT_FALSE(a.knows("c"));
  a.follow(tier.after);
  tier.talk();
  EXPECT_TRUE(tier.at("c").is_taken_back("a", tier.given));
}

// Who asked for it was sent there, and nobody could reach it.
TEST(TakenBack, WhatWasGivenToWhoIsNowhereIsItsGiversAgain) {
  OvertakenTier tier;
  Authority& a = tier.at("a");
  a.follow(without_address(tier.after, 2));
  EXPECT_TRUE(a.answers_for(tier.moved));
  a.follow(tier.after);
  tier.talk();
  EXPECT_TRUE(tier.at("c").is_taken_back("a", tier.given));
}

TEST(TakenBack, WhatWasGivenIsItsGiversAgainWhereThereWereNoBucketsMeanwhile) {
  OvertakenTier tier;
  Authority& a = tier.at("a");
  a.follow(nullptr);
  a.follow(tier.after);
  EXPECT_TRUE(a.answers_for(tier.moved));
  tier.talk();
  EXPECT_TRUE(tier.at("c").is_taken_back("a", tier.given));
}

// The giver waited for it until something else changed.
TEST(TakenBack, WhoDoesNotTakeItAnyMoreIsHeardWithoutAnybodyWhoAsks) {
  GrownTier tier;
  Authority& a = tier.at("a");
  ASSERT_TRUE(a.give(tier.moved, "c"));
  a.heard_again("c", a.own().version, start);
  ASSERT_EQ(call_to(a, "c"), std::nullopt) << "the batch may be on its way";
  auto members = members_at({"a", "b", "c"});
  members[2].member.weight = 0;
  a.follow(make_membership(members, "ring", 2).value());
  EXPECT_TRUE(call_to(a, "c"));
}

TEST(TakenBack, WhoDrainsIsHeardWithoutAnybodyWhoAsks) {
  GrownTier tier;
  Authority& a = tier.at("a");
  ASSERT_TRUE(a.give(tier.moved, "c"));
  Holdings draining = tier.at("c").own();
  draining.is_draining = true;
  ++draining.version.number;
  a.heard("c", draining, a.own().version, start);
  EXPECT_TRUE(call_to(a, "c"));
}

// Who asked for the bucket waited for the next regular talk, which may take seconds.
TEST(TakenBack, AFormerTakerIsToldAtOnce) {
  OvertakenTier tier;
  tier.hear_c();
  const auto call = call_to(tier.at("a"), "c");
  ASSERT_TRUE(call);
  EXPECT_GT(call->taken_back_in, tier.given.number);
}

// The answer to the telling was made before the bucket was given anew.
TEST(TakenBack, AnEmptyBucketThatIsGivenAnewIsNotTakenBackAtOnce) {
  GrownTier tier;
  Authority& a = tier.at("a");
  EXPECT_EQ(a.other_holder(tier.moved, "c", true), (Authority::Other{"c", 1}));
  const HoldingsVersion before = a.own().version;
  for (int i = 0; i < 2; ++i) a.heard_again("c", before, start);
  EXPECT_EQ(a.other_holder(tier.moved, "c", true), (Authority::Other{"c", 1}));
  a.heard_again("c", before, start);
  EXPECT_EQ(a.other_holder(tier.moved, "c", false), (Authority::Other{"c", 1}));
}

TEST(TakenBack, OfAGiverWhoseBucketsAreNumberedAnewNothingCounts) {
  GrownTier tier;
  Authority& a = tier.at("a");
  ASSERT_TRUE(a.give(tier.moved, "c"));
  const HoldingsVersion given = a.own().version;
  const shard::State state{{{"", "a", std::nullopt}, {"m", "c", std::nullopt}}, {}};
  a.follow(make_membership(members_at({"a", "b", "c"}), "range", 2, state).value());
  tier.talk();
  EXPECT_TRUE(tier.at("c").is_taken_back("a", given));
}

TEST(TakenBack, WhatWasToldEarlierComesTooLate) {
  OvertakenTier tier;
  Authority& c = tier.at("c");
  c.hear_of_taking_back("a", {9, 5});
  c.hear_of_taking_back("a", {9, 3});
  EXPECT_TRUE(c.is_taken_back("a", {9, 4}));
}

// The giver let go of the bucket, and its gift arrived all the same.
TEST(TakenBack, WhatIsGivenIsTakenBackWhereItsGiverYields) {
  OvertakenTier tier;
  Authority& a = tier.at("a");
  a.heard_again("c", tier.given, start);
  a.heard("b", holdings_of_one(2, tier.moved, 3), {}, start);
  EXPECT_EQ(a.own().epoch(tier.moved), 0U);
  ASSERT_TRUE(call_to(a, "c")) << "at once";
  a.failed("c", false, start);
  tier.stop("b");
  tier.talk();
  EXPECT_TRUE(tier.at("c").is_taken_back("a", tier.given));
}

// Else the batches that are on their way to it would be refused.
TEST(TakenBack, WhoSaysThatItHasWhatItWasGivenIsToldOfNothing) {
  GrownTier tier;
  Authority& a = tier.at("a");
  tier.at("c").take(tier.moved, a.give(tier.moved, "c")->epoch, "a");
  tier.talk();
  ASSERT_EQ(a.own().epoch(tier.moved), 0U) << "a has let go of it";
  a.suspect("c");
  const auto call = call_to(a, "c");
  ASSERT_TRUE(call);
  EXPECT_EQ(call->taken_back_in, 0U);
}

TEST(TakenBack, WhatSomebodyGivesWhomNobodyKnowsIsNotTaken) {
  OvertakenTier tier;
  EXPECT_TRUE(tier.at("c").is_taken_back("z", {7, 1}));
}

TEST(TakenBack, WhatIsTakenBackIsNotAwaitedWhereItsTakerIsItAgain) {
  OvertakenTier tier;
  Authority& a = tier.at("a");
  tier.hear_c();
  a.follow(tier.between);
  a.heard_again("c", a.own().version, start);
  EXPECT_TRUE(a.answers_for(tier.moved));
}

TEST(TakenBack, WhatIsGivenAnewIsNotTakenBack) {
  OvertakenTier tier;
  Authority& a = tier.at("a");
  tier.hear_c();
  a.follow(tier.between);
  ASSERT_TRUE(a.give(tier.moved, "c"));
  tier.talk();
  EXPECT_FALSE(a.answers_for(tier.moved));
  EXPECT_TRUE(a.given_over(tier.moved, "c"));
}

TEST(TakenBack, WhoWasGivenSomethingWithABatchAndTakesItNoMoreIsHeardUntilItIsForgotten) {
  OvertakenTier tier;
  tier.talk();
  EXPECT_TRUE(tier.at("a").answers_for(tier.moved));
}

// It was away for so long that nobody asked it any more, and another one told of it.
TEST(TakenBack, WhatIsTakenBackIsToldToALeaverThatIsKnownAnew) {
  OvertakenTier tier;
  Authority& a = tier.at("a");
  tier.forget_c();
  ASSERT_FALSE(a.knows("c"));
  tier.hear_of_c_from_b();
  const auto call = call_to(a, "c");
  ASSERT_TRUE(call);
  EXPECT_GT(call->taken_back_in, tier.given.number);
}

// Two that each told the other of a leaver which it forgets at once would never stop to talk.
TEST(TakenBack, ALeaverThatIsKnownAnewIsNothingToTellOf) {
  OvertakenTier tier;
  Authority& a = tier.at("a");
  tier.forget_c();
  const HoldingsVersion before = a.own().version;
  tier.hear_of_c_from_b();
  ASSERT_TRUE(a.knows("c"));
  EXPECT_EQ(a.own().version, before);
}

// It may be stopped only, with the batch before it.
TEST(TakenBack, WhoCouldNotBeReachedIsToldWhatWasTakenBackMeanwhile) {
  OvertakenTier tier;
  Authority& a = tier.at("a");
  a.failed("c", true, start);
  EXPECT_TRUE(a.answers_for(tier.moved));
  tier.talk();
  EXPECT_TRUE(tier.at("c").is_taken_back("a", tier.given));
}

TEST(TakenBack, WhatANewIncarnationGivesIsNotWhatTheOldOneHasTakenBack) {
  OvertakenTier tier;
  tier.hear_c();
  tier.talk();
  EXPECT_FALSE(tier.at("c").is_taken_back("a", {tier.given.incarnation + 1, 0}));
  EXPECT_FALSE(tier.at("c").is_taken_back("a", {})) << "of an older version of Ringside";
}

}  // namespace
}  // namespace ringside::tier
