#include "tier/purges.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/limits.h"

namespace ringside::tier {
namespace {

constexpr SteadyPoint start{std::chrono::hours{1}};

TEST(Purges, ANumberIsReadAsItWasWritten) {
  const PurgeNumber purge{"5f1c", 18'446'744'073'709'551'615U};
  EXPECT_EQ(parse_purge_number(to_text(purge)), purge);
  for (const std::string_view none :
       {"", "x", " 1", "x ", "x -1", "x 1 ", "x  1", "x 18446744073709551616", "x 0"}) {
    EXPECT_EQ(parse_purge_number(none), std::nullopt) << none;
  }
  EXPECT_EQ(parse_purge_number(std::string(limits::purge_issuer_size_bytes + 1, 'x') + " 1"),
            std::nullopt);
}

TEST(NumberSet, IsReadAsItWasWritten) {
  NumberSet set = NumberSet::all_up_to(7);
  EXPECT_EQ(set.text(), "7");
  for (const std::uint64_t number : {12U, 9U, 9U, 3U}) set.add(number);
  EXPECT_EQ(set.text(), "7+9+12");
  EXPECT_EQ(NumberSet::parse("7+9+12"), set);
  set.add(8);
  EXPECT_EQ(set.text(), "9+12");
  for (const std::string_view none : {"", "+", "7+7", "7+9+8", "x", "-1", "7 + 9"}) {
    EXPECT_EQ(NumberSet::parse(none), std::nullopt) << none;
  }
}

TEST(NumberSet, HoldsWhatItHolds) {
  struct Case {
    std::string_view set;
    std::string_view other;
    bool has_all;
  };
  for (const Case& one : std::initializer_list<Case>{
           {"7", "7", true},
           {"7", "3", true},
           {"7", "8", false},
           {"7+9", "7+9", true},
           {"7+9", "9", false},
           {"7+8+9", "9", true},
           {"9", "7+9", true},
           {"9", "7+10", false},
           {"0", "18446744073709551615", false},
           {"18446744073709551614+18446744073709551615", "18446744073709551615", true}}) {
    const auto set = NumberSet::parse(one.set);
    const auto other = NumberSet::parse(one.other);
    EXPECT_EQ(set->contains_all_of(*other), one.has_all) << one.set << " " << one.other;
  }
  EXPECT_TRUE(NumberSet().contains_all_of(NumberSet()));
  EXPECT_FALSE(NumberSet().contains_all_of(NumberSet::all_up_to(0)));
}

TEST(NumberSet, KeepsAboutSoMany) {
  NumberSet set = NumberSet::all_up_to(0);
  for (std::uint64_t number = 2; number < 2 * limits::purges_beyond; ++number) set.add(number);
  EXPECT_TRUE(set.contains(2));
  EXPECT_FALSE(set.contains(2 * limits::purges_beyond - 1)) << "too few rather than too many";
  set.add(1);
  EXPECT_TRUE(set.contains(1));
}

std::string done(const Purges& purges) { return purges.done(start); }

TEST(Purges, WhoHasDoneLessIsBehind) {
  Purges here;
  EXPECT_TRUE(are_done(here.begun(start), ""));
  here.begin({"a", 3}, start);
  for (const std::string_view less : {"", "a 2", "b 3", "a 3 ", "a 2+4"}) {
    EXPECT_FALSE(are_done(here.begun(start), less)) << less;
  }
  for (const std::string_view enough : {"a 3", "b 7, a 4", "a 1+2+3"}) {
    EXPECT_TRUE(are_done(here.begun(start), enough)) << enough;
  }
  here.begin({"b", 8}, start);
  EXPECT_FALSE(are_done(here.begun(start), "b 7, a 4"));
}

TEST(Purges, OneThatIsOvertakenIsNotDone) {
  Purges there;
  there.begin({"a", 5}, start);
  there.begin({"a", 6}, start);
  there.end({"a", 6});
  EXPECT_EQ(done(there), "a 4+6");
  there.end({"a", 5});
  EXPECT_EQ(done(there), "a 6");
}

// A replica that heard of the second one first said that it had done both, and gave away what the
// first one was to remove.
TEST(Purges, OneThatIsOnItsWayIsNotDoneWhereALaterOneIsTheFirstToBeHeardOf) {
  Purges behind;
  behind.begin({"a", 5, 3}, start);
  behind.end({"a", 5, 3});
  EXPECT_EQ(behind.done(start), "a 3+5");
  Purges all;
  for (const std::uint64_t number : {4U, 5U}) all.begin({"a", number, 3}, start);
  EXPECT_FALSE(are_done(all.begun(start), behind.done(start)));
  behind.begin({"a", 4, 3}, start);
  behind.end({"a", 4, 3});
  EXPECT_TRUE(are_done(all.begun(start), behind.done(start)));
  EXPECT_EQ(parse_purge_number("a 5", "3"), (PurgeNumber{"a", 5, 3}));
  EXPECT_EQ(parse_purge_number("a 5", "x"), (PurgeNumber{"a", 5}));
}

TEST(Purges, WhatWasNotHeardOfIsMissingUntilEverythingIsRemoved) {
  Purges there;
  there.begin({"a", 5}, start);
  there.end({"a", 5});
  there.begin({"a", 7}, start);
  there.end({"a", 7});
  EXPECT_EQ(done(there), "a 5+7");
  there.begin_all_up_to({"a", 8}, start);
  EXPECT_TRUE(are_done(there.begun(start), "a 8"));
  EXPECT_FALSE(are_done(there.begun(start), "a 7")) << "what others give must have done it, too";
  EXPECT_EQ(done(there), "a 5+7");
  there.end_all_up_to({"a", 8});
  EXPECT_EQ(done(there), "a 8");
}

TEST(Purges, WhatIsUnderWayWhileEverythingIsRemovedIsNotDone) {
  Purges there;
  there.begin({"a", 5}, start);
  there.begin_all_up_to({"a", 7}, start);
  there.begin({"a", 9}, start);
  there.end_all_up_to({"a", 7});
  EXPECT_EQ(done(there), "a 7");
  there.end({"a", 9});
  EXPECT_EQ(done(there), "a 7+9");
  there.end_all_up_to({"a", 8});
  EXPECT_EQ(done(there), "a 9");
}

// The others may still give what this one has removed: they are told together with its number.
TEST(Purges, WhatHasNoNumberYetNobodyHasDone) {
  Purges here;
  EXPECT_TRUE(are_done(here.begun(start), ""));
  here.begin_unnumbered(start);
  here.begin_unnumbered(start + Milliseconds{1});
  EXPECT_FALSE(are_done(here.begun(start), "a 1"));
  EXPECT_FALSE(are_done(here.begun(start), " 1"));
  here.number_is_told();
  EXPECT_FALSE(are_done(here.begun(start + Milliseconds{1}), "a 1"));
  here.number_is_told();
  EXPECT_TRUE(are_done(here.begun(start + Milliseconds{1}), ""));
  here.begin_unnumbered(start);
  EXPECT_TRUE(are_done(here.begun(start + limits::number_patience), "")) << "for no longer";
}

TEST(Purges, WhoHoldsNothingTakesOverWhatOthersHaveDone) {
  Purges born;
  born.adopt("a 5+7, b 2", "1, 2", start);
  EXPECT_EQ(done(born), "a 5+7, b 2");
  born.begin({"a", 8}, start);
  born.adopt("a 100", "0", start);
  EXPECT_EQ(done(born), "b 2, a 5+7") << "what it heard itself counts";
  EXPECT_FALSE(are_done(born.begun(start), "a 7, b 2"));
}

TEST(Purges, AnOldOneCountsNoMore) {
  Purges here;
  here.begin({"a", 1}, start);
  here.end({"a", 1});
  EXPECT_EQ(here.begun(start + limits::purges_remembered).size(), 1U);
  EXPECT_EQ(here.begun(start + limits::purges_remembered + Milliseconds{1}).size(), 0U);
  EXPECT_EQ(here.done(start + limits::purges_remembered + Milliseconds{1}), "a 1");
  EXPECT_EQ(here.done(start + 2 * limits::purges_remembered + Milliseconds{1}), "");
}

// A newcomer remembered a purge for ten minutes from when it had come, and the others from when the
// purge was: in between, nothing that they gave it counted. A simulation of RFC 9111's model found
// it: requests took two seconds, and buckets moved without what was stored of them.
TEST(Purges, WhoTookThemOverAsksForThemNoLongerThanOthersSayThatTheyHaveDoneThem) {
  Purges there;
  there.begin({"a", 1}, start);
  there.end({"a", 1});
  there.begin({"b", 4}, start + Seconds{100});
  there.end({"b", 4});
  SteadyPoint now = start + Seconds{300};
  EXPECT_EQ(there.ages(now), "300, 200");
  Purges born;
  born.adopt(there.done(now), there.ages(now), now);
  Purges born_later;
  now += Seconds{200};
  born_later.adopt(born.done(now), born.ages(now), now);
  for (; now < start + 4 * limits::purges_remembered; now += Seconds{10}) {
    for (const Purges* const one : {&born, &born_later, &there}) {
      for (const Purges* const other : {&born, &born_later, &there}) {
        ASSERT_TRUE(are_done(one->begun(now), other->done(now))) << (now - start).count();
      }
    }
  }
  EXPECT_EQ(born.begun(start + limits::purges_remembered + Seconds{1}).size(), 1U) << "that is b's";
}

// It was asleep, or cut off.
TEST(Purges, WhoHearsOfOneLaterAsksForItAsLongAsOthersSayThatTheyHaveDoneIt) {
  Purges there;
  there.begin({"a", 1}, start);
  there.end({"a", 1});
  Purges late;
  const SteadyPoint woken = start + limits::purges_remembered;
  late.begin_all_up_to({"a", 1}, woken);
  late.end_all_up_to({"a", 1});
  const SteadyPoint last = woken + limits::purges_remembered;
  EXPECT_EQ(late.begun(last).size(), 1U);
  EXPECT_TRUE(are_done(late.begun(last), there.done(last)));
  EXPECT_EQ(late.begun(last + Milliseconds{1}).size(), 0U);
}

TEST(Purges, AnAgeThatIsNoneIsZeroAndNoneIsTooGreat) {
  Purges born;
  const SteadyPoint now = start + 3 * limits::purges_remembered;
  born.adopt("a 1, b 2, c 3, d 4", "x, 99999999999999999999, 4", now);
  EXPECT_EQ(born.ages(now), "0, 0, 4, 0");
  Purges old;
  old.adopt("a 1", "18446744073709551615", now);
  EXPECT_EQ(old.ages(now), "1200");
  EXPECT_TRUE(old.begun(now).empty());
}

TEST(Purges, TheIssuerThatWasSilentLongestIsForgotten) {
  Purges here;
  for (std::size_t i = 0; i < limits::purge_issuers; ++i) {
    here.begin({"sidecar-" + std::to_string(i), 1}, start);
  }
  here.begin({"sidecar-0", 2}, start);
  here.begin({"one-more", 1}, start);
  EXPECT_NE(done(here).find("sidecar-0 0"), std::string::npos);
  EXPECT_EQ(done(here).find("sidecar-1 0"), std::string::npos);
}

}  // namespace
}  // namespace ringside::tier
