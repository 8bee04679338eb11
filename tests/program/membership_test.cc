#include "program/membership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "program/values.h"

namespace ringside::program {
namespace {

using testing::HasSubstr;

Membership membership_of(const std::string& members, std::uint64_t version) {
  return *make_membership(*parse_members(members), "ring", version);
}

TEST(Membership, PutTopologyMustBeNewer) {
  const Membership present = membership_of("a=h:1", 5);
  struct Case {
    std::uint64_t asked;
    std::uint64_t expected;  // 0: refused
  };
  for (const Case& one : std::vector<Case>{{0, 6}, {4, 0}, {5, 0}, {6, 6}, {99, 99}}) {
    const auto next = next_membership(present, {one.asked, "ring", *parse_members("a=h:1,b=h:2")});
    EXPECT_EQ(next ? next->topology->version() : 0, one.expected) << one.asked;
    if (!next) {
      EXPECT_EQ(next.error().kind, ErrorKind::refused);
      EXPECT_THAT(next.error().message, HasSubstr("not newer than 5"));
    }
  }
}

// The rule of the file and PUT /topology, as a table: what the file said, what it says, and what
// counts then, where PUT /topology had made the present version 5.
TEST(Membership, AReloadReplacesItOnlyWhereTheFileChanged) {
  const Membership present = membership_of("put=h:9", 5);
  struct Case {
    std::string before;
    std::string after;
    std::uint64_t version_before;
    std::uint64_t version_after;
    std::uint64_t expected_version;  // 0: refused
  };
  const std::vector<Case> cases{
      {"a=h:1", "a=h:1", 0, 0, 5},  // nothing new in the file: PUT's stays
      {"a=h:1", "a=h:1", 3, 3, 5},
      {"a=h:1", "a=h:1,b=h:2", 0, 0, 6},  // the next
      {"a=h:1", "a=h:2", 0, 0, 6},        // an address alone
      {"a=h:1", "a=h:1,b=h:2", 3, 8, 8},
      {"a=h:1", "a=h:1", 3, 8, 8},  // said again with a higher number: the file's counts
      {"a=h:1", "a=h:1,b=h:2", 3, 3, 0},
      {"a=h:1", "a=h:1,b=h:2", 3, 5, 0},
      {"a=h:1", "a=h:1,b=h:2", 3, 0, 6},
  };
  for (const Case& one : cases) {
    Configuration running;
    running.topology_version = one.version_before;
    Configuration next;
    next.topology_version = one.version_after;
    const auto before = *parse_members(one.before);
    const auto after = *parse_members(one.after);
    const auto result = reloaded_membership(present, before, after, running, next);
    ASSERT_EQ(result.has_value(), one.expected_version != 0) << one.after << one.version_after;
    if (!result) continue;
    EXPECT_EQ(result->topology->version(), one.expected_version);
    const bool kept = one.expected_version == 5;
    EXPECT_EQ(result->topology->members()[0].name, kept ? "put" : "a");
  }
}

TEST(Membership, AnotherSchemeIsAnotherTopology) {
  Configuration next;
  next.scheme = "jedis-ring";
  const auto members = *parse_members("a=h:1");
  const auto result =
      reloaded_membership(membership_of("a=h:1", 5), members, members, Configuration{}, next);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->topology->scheme(), "jedis-ring");
  EXPECT_EQ(result->topology->version(), 6U);
}

TEST(Membership, JsonHasTheAddressesInTheTopologysOrder) {
  const auto page =
      nlohmann::json::parse(to_json(membership_of("cache-10=h:10,cache-2=h:2;zone=z", 3)));
  EXPECT_EQ(page["version"], 3);
  EXPECT_EQ(page["members"][0]["name"], "cache-2");
  EXPECT_EQ(page["members"][0]["address"], "h:2");
  EXPECT_EQ(page["members"][1]["address"], "h:10");
}

TEST(Membership, RefusesTwoAtOneAddress) {
  const auto made = make_membership(*parse_members("a=h:1,b=h:1"), "ring", 1);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("a and b are both at h:1"));
}

}  // namespace
}  // namespace ringside::program
