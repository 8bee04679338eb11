#include "tier/purges.h"

#include <gtest/gtest.h>

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
       {"", "x", " 1", "x ", "x -1", "x 1 ", "x  1", "x 18446744073709551616"}) {
    EXPECT_EQ(parse_purge_number(none), std::nullopt) << none;
  }
  EXPECT_EQ(parse_purge_number(std::string(limits::purge_issuer_size_bytes + 1, 'x') + " 1"),
            std::nullopt);
}

TEST(Purges, WhoHasDoneLessIsBehind) {
  Purges here;
  EXPECT_TRUE(here.are_covered_by("", start));
  here.begin({"a", 3}, start);
  EXPECT_FALSE(here.are_covered_by("", start));
  EXPECT_FALSE(here.are_covered_by("a 2", start));
  EXPECT_FALSE(here.are_covered_by("b 3", start));
  EXPECT_FALSE(here.are_covered_by("a 3 ", start)) << "that says nothing";
  EXPECT_TRUE(here.are_covered_by("a 3", start));
  EXPECT_TRUE(here.are_covered_by("b 7, a 4", start));
  here.begin({"b", 8}, start);
  EXPECT_FALSE(here.are_covered_by("b 7, a 4", start));
}

TEST(Purges, WhatIsUnderWayIsNotDone) {
  Purges there;
  there.begin({"a", 3}, start);
  EXPECT_EQ(there.done(), "");
  there.end({"a", 3});
  there.begin({"b", 1}, start);
  there.end({"b", 1});
  there.begin({"a", 4}, start);
  EXPECT_EQ(there.done(), "b 1, a 3");
}

TEST(Purges, OneThatComesLateTakesNothingBack) {
  Purges here;
  here.begin({"a", 5}, start);
  here.begin({"a", 4}, start);
  here.end({"a", 5});
  here.end({"a", 4});
  EXPECT_EQ(here.done(), "a 5");
  EXPECT_FALSE(here.are_covered_by("a 4", start));
}

TEST(Purges, AnOldOneCountsNoMore) {
  Purges here;
  here.begin({"a", 1}, start);
  EXPECT_FALSE(here.are_covered_by("", start + limits::purges_remembered));
  EXPECT_TRUE(here.are_covered_by("", start + limits::purges_remembered + Milliseconds{1}));
}

TEST(Purges, TheIssuerThatWasSilentLongestIsForgotten) {
  Purges here;
  for (std::size_t i = 0; i < limits::purge_issuers; ++i) {
    here.begin({"sidecar-" + std::to_string(i), 1}, start);
    here.end({"sidecar-" + std::to_string(i), 1});
  }
  here.begin({"sidecar-0", 2}, start);
  here.begin({"one-more", 1}, start);
  const std::string done = here.done();
  EXPECT_NE(done.find("sidecar-0 1"), std::string::npos);
  EXPECT_EQ(done.find("sidecar-1 1"), std::string::npos);
}

}  // namespace
}  // namespace ringside::tier
