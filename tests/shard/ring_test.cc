#include "shard/ring.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "tests/shard/some_topology.h"

namespace ringside::shard {
namespace {

using testing::ElementsAre;

std::map<std::string, std::size_t> buckets_by_name(const Topology& topology) {
  std::map<std::string, std::size_t> buckets;
  for (const MemberIndex owner : topology.bucket_owners())
    ++buckets[topology.members()[owner].name];
  return buckets;
}

TEST(Ring, BucketsAreTheHighBitsOfTheHash) {
  EXPECT_EQ(bucket_of(0), 0U);
  EXPECT_EQ(bucket_of(0x0003'ffff'ffff'ffff), 0U);
  EXPECT_EQ(bucket_of(0x0004'0000'0000'0000), 1U);
  EXPECT_EQ(bucket_of(std::numeric_limits<std::uint64_t>::max()), bucket_count - 1);
}

TEST(Ring, PlacesABucketAtTheMiddleOfItsHashes) {
  EXPECT_EQ(ring_position_of(0), 0x0002'0000'0000'0000U);
  EXPECT_EQ(ring_position_of(1), 0x0006'0000'0000'0000U);
  EXPECT_EQ(ring_position_of(bucket_count - 1), 0xfffe'0000'0000'0000U);
}

TEST(Ring, PointsOfDifferentMembersHaveDifferentForms) {
  EXPECT_EQ(ring_point_form("cache-1", 0), std::string("cache-1\0"
                                                       "0",
                                                       9));
  EXPECT_EQ(ring_point_form("cache-1", 159), std::string("cache-1\0"
                                                         "159",
                                                         11));
  EXPECT_NE(ring_point_form("cache-1", 11), ring_point_form("cache-11", 1));
}

// A point exactly at a bucket's place owns it; of two points there the first name's does, and the
// other is the next choice, which is also who inherits.
TEST(Ring, BreaksTiesByName) {
  const Ring ring(Circle({{ring_position_of(5), 1}, {ring_position_of(5), 0}, {0, 2}}));
  const auto owners = ring.bucket_owners();
  EXPECT_EQ(owners[0], 0U);
  EXPECT_EQ(owners[5], 0U);
  EXPECT_EQ(owners[6], 2U);
  EXPECT_EQ(owners[bucket_count - 1], 2U);
  std::vector<MemberIndex> order;
  ring.owners(key_in(5), 3, order);
  EXPECT_THAT(order, ElementsAre(0, 1, 2));
  EXPECT_EQ(Ring(Circle({{ring_position_of(5), 1}, {0, 2}})).bucket_owners()[5], 1U);
}

TEST(Ring, SharesAreInProportionToWeights) {
  const auto topology = topology_of(
      {{"cache-0", 10, ""}, {"cache-1", 20, ""}, {"cache-2", 30, ""}, {"cache-3", 40, ""}});
  const auto buckets = buckets_by_name(*topology);
  // 1,600 points and more each: the standard deviation of a share is below 2.5 % of it.
  for (const auto& [name, share] : std::map<std::string, double>{
           {"cache-0", 0.1}, {"cache-1", 0.2}, {"cache-2", 0.3}, {"cache-3", 0.4}}) {
    EXPECT_NEAR(double(buckets.at(name)) / bucket_count, share, share * 0.1) << name;
  }
}

TEST(Ring, AJoiningMemberOnlyTakes) {
  for (const std::size_t n : {1U, 2U, 10U, 20U}) {
    const auto before = topology_of(caches(n));
    const auto after = topology_of(caches(n + 1));
    const std::string newcomer = caches(n + 1).back().name;
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
      const std::string& owner = owner_name(*after, key_in(bucket));
      if (owner != newcomer) {
        ASSERT_EQ(owner, owner_name(*before, key_in(bucket))) << bucket;
      }
    }
    EXPECT_EQ(moved_buckets(*before, *after), buckets_by_name(*after).at(newcomer));
  }
}

TEST(Ring, ALeavingMemberGivesEachBucketToItsSecondOwner) {
  const auto before = topology_of(caches(11));
  for (const Member& leaving : before->members()) {
    std::vector<Member> staying = before->members();
    std::erase(staying, leaving);
    const auto after = topology_of(staying);
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
      const auto order = owner_names(*before, key_in(bucket), 2);
      const std::string& heir = order[0] == leaving.name ? order[1] : order[0];
      ASSERT_EQ(owner_name(*after, key_in(bucket)), heir) << leaving.name << " " << bucket;
    }
  }
}

TEST(Ring, AHeavierMemberOnlyTakes) {
  std::vector<Member> members = caches(5);
  const auto before = topology_of(members);
  members[2].weight = 3;
  const auto after = topology_of(members);
  EXPECT_GT(moved_buckets(*before, *after), 0U);
  for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
    const std::string& owner = owner_name(*after, key_in(bucket));
    if (owner != "cache-2") {
      ASSERT_EQ(owner, owner_name(*before, key_in(bucket))) << bucket;
    }
  }
}

TEST(Ring, ZonesDoNotMoveAnything) {
  std::vector<Member> members = caches(5);
  const auto before = topology_of(members);
  members[2].zone = "a";
  EXPECT_EQ(moved_buckets(*before, *topology_of(members)), 0U);
}

}  // namespace
}  // namespace ringside::shard
