#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/limits.h"
#include "tests/tier/some_membership.h"
#include "tests/tier/some_tier.h"
#include "tier/authority.h"

namespace ringside::tier {
namespace {

using Way = Authority::Way;
using shard::Bucket;

TEST(AuthorityTalk, WhoIsUnreachableIsCalledAgainLessAndLessOften) {
  Authority authority("a", 1);
  authority.follow(membership_of({"a", "b"}));
  EXPECT_EQ(authority.take_due(start).size(), 1U);
  EXPECT_TRUE(authority.take_due(start).empty()) << "it is being asked";
  EXPECT_EQ(authority.next_due(), std::nullopt);
  SteadyPoint now = start;
  std::vector<Milliseconds> pauses;
  for (int i = 0; i < 7; ++i) {
    authority.failed("b", true, now);
    pauses.push_back(std::chrono::duration_cast<Milliseconds>(*authority.next_due() - now));
    now = *authority.next_due();
    EXPECT_EQ(authority.take_due(now).size(), 1U);
  }
  const std::vector<Milliseconds> expected{
      Milliseconds{250},   Milliseconds{500},   Milliseconds{1'000}, Milliseconds{2'000},
      Milliseconds{4'000}, Milliseconds{5'000}, Milliseconds{5'000}};
  EXPECT_EQ(pauses, expected);
}

TEST(AuthorityTalk, WhoIsSilentOnceIsAskedOnceMore) {
  Authority authority("a", 1);
  authority.follow(membership_of({"a", "b"}));
  EXPECT_EQ(authority.take_due(start).size(), 1U);
  authority.failed("b", false, start);
  EXPECT_FALSE(authority.is_unreachable("b"));
  EXPECT_EQ(authority.take_due(start).size(), 1U);
  authority.failed("b", false, start + limits::unreachable_after);
  EXPECT_TRUE(authority.is_unreachable("b"));
}

// A newcomer whose connections broke twice in 20 ms took over what the other one held, and fetched
// it again.
TEST(AuthorityTalk, ConnectionsThatBreakInARowAreNoSilence) {
  Authority authority("a", 1);
  authority.follow(membership_of({"a", "b"}));
  SteadyPoint now = start;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(authority.take_due(now).size(), 1U);
    authority.failed("b", false, now);
    EXPECT_FALSE(authority.is_unreachable("b"));
    EXPECT_EQ(authority.unheard(), 1U);
    now = *authority.next_due();
  }
  EXPECT_LE(now, start + 2 * limits::deadline_tick);
  EXPECT_EQ(authority.take_due(now).size(), 1U);
  authority.failed("b", true, now);
  EXPECT_TRUE(authority.is_unreachable("b")) << "nothing listens there";
}

TEST(AuthorityTalk, WhatWasSaidBeforeADoubtCountsNoMore) {
  const auto membership = membership_of({"a", "b"});
  const Bucket bucket = bucket_of_owner(membership, "b");
  std::vector<Epoch> epochs(shard::bucket_count);
  epochs[bucket] = 1;
  Authority authority("a", 1);
  authority.follow(membership);
  static_cast<void>(authority.take_due(start));
  authority.heard("b", {{2, 1}, epochs}, {}, start);
  EXPECT_EQ(authority.take_due(start + limits::holdings_interval).size(), 1U);
  authority.doubt("b");
  authority.heard_again("b", {}, start);
  EXPECT_EQ(authority.direction(bucket).way, Way::unknown);
  EXPECT_EQ(authority.take_due(start).size(), 1U);
  authority.heard("b", {{3, 1}, epochs}, {}, start);
  EXPECT_EQ(authority.direction(bucket).way, Way::holder);
}

// For one that is to take a bucket, who asks waits; for one that won't it would wait in vain.
TEST(AuthorityTalk, OnlyATakerThatHasNotHeardAllIsUndecided) {
  const auto membership = membership_of({"a", "b"});
  Authority authority("a", 1);
  authority.follow(membership);
  static_cast<void>(authority.take_due(start));
  const Authority::Other undecided{{}, 0, true};
  EXPECT_EQ(authority.other_holder(bucket_of_owner(membership, "a"), "b", false), undecided);
  EXPECT_EQ(authority.other_holder(bucket_of_owner(membership, "b"), "c", false), undecided);
  authority.heard("b", {{2, 1}, std::vector<Epoch>(shard::bucket_count)}, {}, start);
  EXPECT_EQ(authority.other_holder(bucket_of_owner(membership, "a"), "b", false), undecided)
      << "it looks twice";
  EXPECT_EQ(authority.other_holder(bucket_of_owner(membership, "b"), "c", false),
            Authority::Other{})
      << "it is b's to take";
}

// 1. A round begins, for another bucket, and c is heard in it; 2. b gives c this bucket; 3. b is
// heard.
TEST(AuthorityTalk, WhatBecomesNobodysInTheMidstOfARoundIsNotTakenWithIt) {
  const auto membership = membership_of({"a", "b", "c"});
  std::vector<Bucket> ours;
  for (std::size_t i = 0; i < shard::bucket_count && ours.size() < 2; ++i) {
    const auto bucket = static_cast<Bucket>(i);
    if (membership->topology->bucket_owners()[i] == 0) ours.push_back(bucket);
  }
  const std::vector<Epoch> nothing(shard::bucket_count);
  std::vector<Epoch> epochs = nothing;
  epochs[ours[0]] = 2;
  Authority authority("a", 1);
  authority.follow(membership);
  static_cast<void>(authority.take_due(start));
  authority.heard("b", {{2, 1}, epochs}, {}, start);
  authority.heard("c", {{3, 1}, nothing}, {}, start);
  static_cast<void>(authority.take_due(start));
  authority.heard("c", {{3, 1}, nothing}, {}, start);
  authority.heard("b", {{2, 2}, nothing}, {}, start);
  EXPECT_GT(authority.own().epoch(ours[1]), 0U);
  EXPECT_EQ(authority.own().epoch(ours[0]), 0U) << "it is c's by now";
  const SteadyPoint later = start + limits::holdings_interval;
  static_cast<void>(authority.take_due(later));
  epochs[ours[0]] = 3;
  authority.heard("c", {{3, 2}, epochs}, {}, later);
  authority.heard("b", {{2, 2}, nothing}, {}, later);
  EXPECT_EQ(authority.direction(ours[0]).holder->name, "c");
}

TEST(AuthorityTalk, WhoDeniesABucketIsDoubtedIfItHadSaidThatItHasIt) {
  const auto membership = membership_of({"a", "b"});
  const Bucket bucket = bucket_of_owner(membership, "b");
  std::vector<Epoch> epochs(shard::bucket_count);
  epochs[bucket] = 1;
  Authority authority("a", 1);
  authority.follow(membership);
  static_cast<void>(authority.take_due(start));
  authority.heard("b", {{2, 1}, epochs}, authority.own().version, start);
  authority.denies("b", bucket_of_owner(membership, "a"));
  EXPECT_EQ(authority.unheard(), 0U);
  authority.denies("b", bucket);
  EXPECT_EQ(authority.unheard(), 1U);
  EXPECT_EQ(authority.direction(bucket).way, Way::unknown);
}

// An answer that was dropped left the count as it was, and the next broken connection was enough.
TEST(AuthorityTalk, AnAnswerThatIsInDoubtIsAnAnswer) {
  Authority authority("a", 1);
  authority.follow(membership_of({"a", "b"}));
  static_cast<void>(authority.take_due(start));
  authority.failed("b", false, start);
  EXPECT_EQ(authority.take_due(start).size(), 1U);
  authority.doubt("b");
  authority.heard_again("b", {}, start);
  EXPECT_EQ(authority.take_due(start).size(), 1U);
  authority.failed("b", false, start + limits::unreachable_after);
  EXPECT_FALSE(authority.is_unreachable("b"));
}

TEST(AuthorityTalk, WhoTalksAfterASilenceIsCalledAtOnce) {
  Authority authority("a", 1);
  authority.follow(membership_of({"a", "b"}));
  static_cast<void>(authority.take_due(start));
  authority.failed("b", true, start);
  authority.hint("b", {7, 1});
  EXPECT_EQ(authority.take_due(start).size(), 1U);
}

// A pod that starts: our call was refused just before it listened, and we hear so just after it
// has called us.
TEST(AuthorityTalk, WhoTalksWhileACallToItFailsIsCalledAtOnce) {
  Authority authority("a", 1);
  authority.follow(membership_of({"a", "b"}));
  ASSERT_EQ(authority.take_due(start).size(), 1U);
  authority.hint("b", {7, 1});
  authority.failed("b", true, start);
  EXPECT_EQ(authority.next_due(), start);
  ASSERT_EQ(authority.take_due(start).size(), 1U);
  authority.failed("b", true, start);
  EXPECT_GT(authority.next_due(), start) << "it has not talked since";
}

// A refusal came after the peer had talked, and a simulation took over what that peer had just
// taken over.
TEST(AuthorityTalk, ARefusalOfACallFromBeforeItTalkedIsNoProof) {
  Authority authority("a", 1);
  authority.follow(membership_of({"a", "b"}));
  static_cast<void>(authority.take_due(start));
  authority.failed("b", true, start);
  EXPECT_TRUE(authority.is_unreachable("b"));
  const auto later = start + limits::holder_pause_start;
  ASSERT_EQ(authority.take_due(later).size(), 1U);
  authority.hint("b", {7, 1});
  EXPECT_EQ(authority.unheard(), 1U);
  authority.failed("b", true, later);
  EXPECT_FALSE(authority.is_unreachable("b"));
  ASSERT_EQ(authority.take_due(later).size(), 1U);
  authority.failed("b", true, later);
  EXPECT_TRUE(authority.is_unreachable("b")) << "it has not talked since";
}

TEST(AuthorityTalk, NobodyTakesOverBesideOneThatTalksAgain) {
  const auto membership = membership_of({"a", "b", "c"});
  const Bucket bucket = bucket_of_owner(membership, "a");
  Authority authority("a", 1);
  authority.follow(membership);
  static_cast<void>(authority.take_due(start));
  authority.failed("b", true, start);
  authority.hint("b", {7, 1});
  SteadyPoint now = start;
  for (int i = 0; i < 3; ++i, now += limits::holdings_interval) {
    authority.heard("c", {{3, 0}, {}}, authority.own().version, now);
    static_cast<void>(authority.take_due(now));
  }
  EXPECT_EQ(authority.own().epoch(bucket), 0U);
  authority.heard("b", holdings_of_one(7, bucket, 1), authority.own().version, now);
  EXPECT_EQ(authority.own().epoch(bucket), 0U);
  EXPECT_EQ(authority.direction(bucket).holder->name, "b");
}

TEST(AuthorityTalk, WhatAnEndedIncarnationHeldDoesNotCountWhenTheNextOneTalks) {
  const auto membership = membership_of({"a", "b", "c"});
  const Bucket bucket = bucket_of_owner(membership, "b");
  Authority authority("a", 1);
  authority.follow(membership);
  for (const Incarnation next : {7U, 8U}) {
    static_cast<void>(authority.take_due(start));
    authority.heard("b", holdings_of_one(7, bucket, 1), authority.own().version, start);
    authority.failed("b", true, start);
    ASSERT_TRUE(authority.is_unreachable("b"));
    authority.hint("b", {next, 2});
    EXPECT_EQ(authority.has_said_to_hold("b", bucket), next == 7);
  }
}

// Else nobody would take anything over as long as it talks.
TEST(AuthorityTalk, WhoTalksButCannotBeReachedIsWaitedForOnce) {
  Authority authority("a", 1);
  authority.follow(membership_of({"a", "b"}));
  SteadyPoint now = start;
  const auto fail_for_good = [&](Incarnation incarnation) {
    const SteadyPoint begin = now;
    while (!authority.is_unreachable("b")) {
      ASSERT_LE(now, begin + limits::unreachable_after + limits::holdings_interval);
      static_cast<void>(authority.take_due(now));
      authority.hint("b", {incarnation, 1});
      authority.failed("b", false, now);
      now += limits::deadline_tick;
    }
  };
  fail_for_good(7);
  authority.hint("b", {7, 2});
  EXPECT_EQ(authority.unheard(), 1U);
  fail_for_good(7);
  authority.hint("b", {7, 3});
  EXPECT_EQ(authority.unheard(), 0U) << "it was waited for";
  EXPECT_EQ(authority.take_due(now).size(), 1U) << "but it is called at once";
  authority.hint("b", {8, 1});
  EXPECT_EQ(authority.unheard(), 1U) << "it has been restarted";
  authority.heard("b", {{8, 1}, {}}, authority.own().version, now);
  authority.suspect("b");
  static_cast<void>(authority.take_due(now));
  authority.failed("b", true, now);
  EXPECT_TRUE(authority.is_unreachable("b"));
  authority.hint("b", {8, 1});
  EXPECT_EQ(authority.unheard(), 1U) << "it was heard since";
}

TEST(AuthorityTalk, WhoIsNowhereIsNotWaitedForThoughItTalks) {
  const auto topology = membership_of({"a", "b"})->topology;
  Authority authority("a", 1);
  authority.follow(
      std::make_shared<const Membership>(topology, std::vector<Endpoint>{{"h", 1}, {}}));
  EXPECT_TRUE(authority.is_unreachable("b"));
  authority.hint("b", {7, 1});
  EXPECT_EQ(authority.unheard(), 0U);
}

// The bucket stayed nobody's until something else changed.
TEST(AuthorityTalk, WhoAnswersACallOfAnOlderRoundIsCalledOnceMore) {
  const auto membership = membership_of({"a", "b", "c"});
  const Bucket own = bucket_of_owner(membership, "c");
  Authority c("c", 3);
  c.follow(membership);
  c.failed("a", true, start);
  const auto later = start + limits::holder_pause_most;
  ASSERT_EQ(c.take_due(later).size(), 2U);
  c.heard("b", {{2, 0}, {}}, c.own().version, later);  // a new round begins
  c.heard("a", {{1, 0}, {}}, c.own().version, later);
  for (const auto& call : c.take_due(later + limits::holdings_interval)) {
    c.heard_again(call.peer.name, call.own, later + limits::holdings_interval);
  }
  EXPECT_EQ(c.direction(own).way, Way::origin);
}

TEST(AuthorityTalk, ASlowHolderIsAskedWhetherItIsThereAndCountsMeanwhile) {
  const auto membership = membership_of({"a", "b"});
  const Bucket bucket = bucket_of_owner(membership, "b");
  std::vector<Epoch> epochs(shard::bucket_count);
  epochs[bucket] = 1;
  Authority authority("a", 1);
  authority.follow(membership);
  static_cast<void>(authority.take_due(start));
  authority.heard("b", {{2, 1}, epochs}, authority.own().version, start);
  while (!authority.take_due(start + limits::holdings_interval).empty()) {
    authority.heard_again("b", authority.own().version, start);
  }

  EXPECT_EQ(authority.next_due(), std::nullopt);
  authority.suspect("b");
  EXPECT_EQ(authority.direction(bucket).way, Way::holder);
  EXPECT_EQ(authority.take_due(start).size(), 1U);
  EXPECT_FALSE(authority.is_unreachable("b"));
  authority.failed("b", true, start);
  EXPECT_TRUE(authority.is_unreachable("b"));
}

TEST(AuthorityTalk, StrangersChangeNothing) {
  Authority authority("a", 1);
  authority.follow(membership_of({"a", "b"}));
  const Holdings before = authority.own();
  authority.heard("x", {{9, 9}, std::vector<Epoch>(shard::bucket_count, 9)}, {}, start);
  authority.hint("x", {9, 9});
  authority.doubt("x");
  authority.failed("x", true, start);
  EXPECT_EQ(authority.own(), before);
  EXPECT_EQ(authority.direction(0).way, Way::unknown);
}

// A pod that starts is told of the others before all of them are told where it is. A simulation
// fetched what it had been given by then again.
TEST(AuthorityTalk, WhereAMemberIsCanBeHeardOfAPeer) {
  const auto membership = membership_of({"a", "b", "c"});
  const Bucket bucket = bucket_of_owner(membership, "c");
  const auto nowhere = std::make_shared<const Membership>(
      membership->topology, std::vector<Endpoint>{{"h", 1}, {"h", 2}, {}});
  Authority a("a", 1);
  a.follow(nowhere);
  ASSERT_EQ(a.take_due(start).size(), 1U) << "nobody knows where c is";
  const Peer c{"c", {"h", 7}};
  Holdings of_b{{2, 1}, {}};
  of_b.leavers = {c};
  a.heard("b", of_b, {}, start);
  EXPECT_EQ(a.direction(bucket).way, Way::unknown) << "it may hold something";
  const auto calls = a.take_due(start);
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].peer, c);
  std::vector<Epoch> epochs(shard::bucket_count);
  epochs[bucket] = 1;
  a.heard("c", {{3, 1}, epochs}, {}, start);
  EXPECT_EQ(a.direction(bucket).holder, c);
  a.follow(nowhere);
  EXPECT_EQ(a.direction(bucket).holder, c) << "our source does not say yet where it is";
  a.follow(membership);
  EXPECT_EQ(a.direction(bucket).way, Way::unknown) << "at another address it is another process";
}

TEST(AuthorityTalk, WhoIsNotWhereAPeerSaysIsNowhere) {
  const auto membership = membership_of({"a", "b", "c"});
  Authority a("a", 1);
  a.follow(std::make_shared<const Membership>(membership->topology,
                                              std::vector<Endpoint>{{"h", 1}, {"h", 2}, {}}));
  Holdings of_b{{2, 1}, {}};
  of_b.leavers = {{"c", {"h", 7}}};
  a.heard("b", of_b, {}, start);
  ASSERT_EQ(a.take_due(start).size(), 1U);
  a.failed("c", true, start);
  EXPECT_TRUE(a.is_unreachable("c"));
  for (const auto& call : a.take_due(start + std::chrono::hours{1})) EXPECT_EQ(call.peer.name, "b");
}

}  // namespace
}  // namespace ringside::tier
