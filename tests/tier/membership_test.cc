#include "tier/membership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/tier/some_membership.h"

namespace ringside::tier {
namespace {

using testing::HasSubstr;

TEST(Membership, PutTopologyMustBeNewer) {
  const auto present = membership_of({"a"}, 5);
  struct Case {
    std::uint64_t asked;
    std::uint64_t expected;  // 0: refused
  };
  for (const Case& one : std::vector<Case>{{0, 6}, {4, 0}, {5, 0}, {6, 6}, {99, 99}}) {
    const auto next = next_membership(*present, {one.asked, "ring", members_at({"a", "b"})});
    EXPECT_EQ(next ? (*next)->topology->version() : 0, one.expected) << one.asked;
    if (!next) {
      EXPECT_EQ(next.error().kind, ErrorKind::refused);
      EXPECT_THAT(next.error().message, HasSubstr("not newer than 5"));
    }
  }
}

// 2^64 - 1 was taken, and the next version was 0.
TEST(Membership, AVersionThatCanNotBeFollowedIsRefused) {
  const auto present = membership_of({"a"}, 5);
  for (const std::uint64_t asked : {version_most, version_most + 1, ~std::uint64_t{0}}) {
    const auto next = next_membership(*present, {asked, "ring", members_at({"a"})});
    EXPECT_EQ(next.has_value(), asked == version_most) << asked;
  }
}

TEST(Membership, HasTheAddressesInTheTopologysOrder) {
  const auto membership = membership_of({"cache-10", "cache-2"});
  ASSERT_EQ(membership->size(), 2U);
  EXPECT_EQ(membership->name(0), "cache-2");
  EXPECT_EQ(membership->address(0).text(), "h:2");
  EXPECT_EQ(membership->name(1), "cache-10");
  EXPECT_EQ(membership->address(1).text(), "h:1");
  EXPECT_EQ(membership->topology_id, membership->topology->id().hex());
}

TEST(Membership, RefusesTwoAtOneAddress) {
  auto members = members_at({"a", "b"});
  members[1].address = members[0].address;
  const auto made = make_membership(members, "ring", 1);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("a and b are both at h:1"));
}

TEST(Membership, AMemberIsReadyWhereItIsAndItsSourceDoesNotSayOtherwise) {
  const auto topology = membership_of({"a"})->topology;
  struct Case {
    Endpoint address;
    std::vector<MemberState> states;
    bool ready;
  };
  const Endpoint there{"h", 1};
  const std::vector<Case> cases{
      {there, {}, true},
      {there, {{true, false, ""}}, true},
      {there, {{true, true, "a"}}, true},  // it ends, but still takes requests
      {there, {{false, false, ""}}, false},
      {{}, {}, false},
      {{}, {{true, false, ""}}, false},
  };
  for (const Case& one : cases) {
    const Membership membership(topology, {one.address}, one.states);
    EXPECT_EQ(membership.is_ready(0), one.ready);
    EXPECT_EQ(membership.ready_members(), one.ready ? 1U : 0U);
  }
}

TEST(Membership, KeepsItsMembersUnderAnotherScheme) {
  const auto listed = membership_of({"a", "b", "c"}, 7);
  const auto present = std::make_shared<const Membership>(
      listed->topology, listed->addresses,
      std::vector<MemberState>{{true, false, "x"}, {false, false, ""}, {true, true, ""}});
  EXPECT_EQ(with_scheme(present, "ring").value(), present);
  const auto other = with_scheme(present, "simple-sha1");
  ASSERT_TRUE(other);
  EXPECT_EQ((*other)->topology->scheme(), "simple-sha1");
  EXPECT_EQ((*other)->topology->version(), 7U);
  EXPECT_EQ((*other)->addresses, present->addresses);
  EXPECT_EQ((*other)->states, present->states);
  EXPECT_FALSE(with_scheme(present, "no-such"));
}

}  // namespace
}  // namespace ringside::tier
