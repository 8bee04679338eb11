#include "sidecar/replica_troubles.h"

#include <gmock/gmock.h>

#include "base/limits.h"
#include "tests/tier/some_membership.h"

namespace ringside::sidecar {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ReplicaTroubles::Key member(const std::string& name, std::uint16_t port) {
  return {name, Endpoint{"h", port}};
}

TEST(ReplicaTroubles, AreToldOnceAndAgainAfterAWhile) {
  ReplicaTroubles unproven;
  const SteadyPoint start{Seconds{100}};
  const auto cache_0 = member("cache-0", 1);
  const auto membership = tier::membership_of({"cache-0"});
  EXPECT_TRUE(unproven.note(cache_0, "is not used: it has another key", start));
  EXPECT_FALSE(unproven.note(cache_0, "is not used: it has another key", start + Seconds{1}));
  EXPECT_TRUE(unproven.note(cache_0, "is not used: it has none", start + Seconds{2}));
  EXPECT_FALSE(unproven.note(cache_0, "is not used: it has none", start + Seconds{3}));
  EXPECT_TRUE(unproven.note(cache_0, "is not used: it has none",
                            start + Seconds{2} + limits::peer_reminder_interval));
  EXPECT_THAT(unproven.lines(*membership),
              ElementsAre("replica cache-0 at h:1 is not used: it has none"));
  EXPECT_TRUE(unproven.settled(cache_0));
  EXPECT_FALSE(unproven.settled(cache_0));
  EXPECT_THAT(unproven.lines(*membership), IsEmpty());
}

TEST(ReplicaTroubles, WhoWasNotAskedYetIsOneWithoutALine) {
  ReplicaTroubles unproven;
  const auto membership = tier::membership_of({"cache-0", "cache-1"});
  EXPECT_FALSE(unproven.are_all(*membership));
  unproven.expect(member("cache-0", 1), "is not used: it was not asked yet");
  EXPECT_FALSE(unproven.are_all(*membership));
  unproven.expect(member("cache-1", 2), "is not used: it was not asked yet");
  EXPECT_TRUE(unproven.are_all(*membership));
  EXPECT_FALSE(unproven.settled(member("cache-0", 1))) << "nothing was logged";
  EXPECT_FALSE(unproven.are_all(*membership));
}

TEST(ReplicaTroubles, NoneCanBeUsedWhereEachHasOneOrTheOther) {
  Troubles troubles;
  const auto membership = tier::membership_of({"cache-0", "cache-1"});
  EXPECT_FALSE(none_can_be_used(troubles, *membership));
  troubles.unproven.expect(member("cache-0", 1), "is not used: it was not asked yet");
  EXPECT_FALSE(none_can_be_used(troubles, *membership));
  EXPECT_TRUE(troubles.silent.note(member("cache-1", 2), "does not answer", SteadyPoint{}));
  EXPECT_TRUE(none_can_be_used(troubles, *membership));
  EXPECT_TRUE(troubles.silent.settled(member("cache-1", 2)));
  EXPECT_FALSE(none_can_be_used(troubles, *membership));
  EXPECT_FALSE(none_can_be_used(troubles, *tier::membership_of({}))) << "there is nobody";
}

// One that could not be ejected failed and answered in turn, and each time was logged.
TEST(ReplicaTroubles, WhatComesAndGoesFilledTheLog) {
  ReplicaTroubles silent;
  const auto cache_0 = member("cache-0", 1);
  const auto membership = tier::membership_of({"cache-0"});
  const SteadyPoint start{Seconds{100}};
  EXPECT_TRUE(silent.note(cache_0, "does not answer", start));
  EXPECT_TRUE(silent.settled(cache_0));
  for (int i = 1; i < 10; ++i) {
    EXPECT_FALSE(silent.note(cache_0, "does not answer", start + Seconds{i})) << i;
    EXPECT_THAT(silent.lines(*membership), testing::SizeIs(1));
    EXPECT_FALSE(silent.settled(cache_0)) << i;
    EXPECT_THAT(silent.lines(*membership), IsEmpty());
  }
  EXPECT_TRUE(silent.note(cache_0, "does not answer", start + limits::peer_reminder_interval));
  EXPECT_TRUE(silent.settled(cache_0));
}

// Else a sidecar would have been not ready for a replica that had gone.
TEST(ReplicaTroubles, WhoIsNoMemberAnyMoreIsForgotten) {
  ReplicaTroubles unproven;
  const SteadyPoint now{Seconds{100}};
  EXPECT_TRUE(unproven.note(member("cache-0", 9), "is not used: it has none", now));
  EXPECT_TRUE(unproven.note(member("cache-1", 2), "is not used: it has none", now));
  const auto membership = tier::membership_of({"cache-0", "cache-1"});
  unproven.keep(*membership);
  EXPECT_THAT(unproven.lines(*membership),
              ElementsAre("replica cache-1 at h:2 is not used: it has none"));
}

// Each core hears of a change for itself: one that had not yet told of a replica that was gone, and
// /readyz did so until the next change.
TEST(ReplicaTroubles, WhoIsRefusedOnceMoreAfterItsEndStayedOnThePage) {
  ReplicaTroubles unproven;
  const auto membership = tier::membership_of({"cache-0", "cache-1"});
  const auto after = tier::membership_of({"cache-0"});
  unproven.keep(*after);
  EXPECT_TRUE(unproven.note(member("cache-1", 2), "is not used: it has none", SteadyPoint{}));
  EXPECT_THAT(unproven.lines(*membership), testing::SizeIs(1));
  EXPECT_THAT(unproven.lines(*after), IsEmpty());
}

TEST(ReplicaTroubles, MembersThatAreNowhereDoNotCount) {
  ReplicaTroubles unproven;
  auto topology = tier::membership_of({"cache-0", "cache-1"})->topology;
  const tier::Membership membership(topology, {Endpoint{}, Endpoint{"h", 2}});
  EXPECT_TRUE(unproven.note(member("cache-1", 2), "is not used: it has none", SteadyPoint{}));
  EXPECT_TRUE(unproven.are_all(membership));
}

}  // namespace
}  // namespace ringside::sidecar
