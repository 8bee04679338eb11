#include "tier/takers.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tier/some_membership.h"
#include "tier/buckets.h"

namespace ringside::tier {
namespace {

std::vector<shard::MemberIndex> owners_of(const Membership& membership, shard::Bucket bucket) {
  std::vector<shard::MemberIndex> owners;
  membership.topology->owners({{}, std::uint64_t{bucket} << (64 - shard::bucket_bits)},
                              membership.size(), owners);
  return owners;
}

TEST(Takers, AreTheOwnersWhereNobodyIsOut) {
  const auto membership = membership_of({"a", "b", "c"});
  Takers takers;
  EXPECT_FALSE(takers.has_any());
  EXPECT_EQ(takers.of(0), nullptr);
  takers.follow(membership);
  const auto buckets = buckets_of(*membership, "b");
  for (const shard::Bucket bucket : *buckets) {
    ASSERT_TRUE(takers.is("b", bucket));
    ASSERT_TRUE(takers.is_owner("b", bucket));
  }
}

TEST(Takers, AreTheNextOwnersOfThoseWhoAreOut) {
  const auto membership = membership_of({"a", "b", "c", "d"});
  Takers takers;
  takers.follow(membership);
  EXPECT_TRUE(takers.leave_out([](const std::string& name) { return name == "b" || name == "c"; }));
  EXPECT_FALSE(takers.leave_out([](const std::string& name) { return name == "b" || name == "c"; }))
      << "nothing has changed";
  for (std::size_t i = 0; i < shard::bucket_count; ++i) {
    const auto bucket = static_cast<shard::Bucket>(i);
    for (const shard::MemberIndex owner : owners_of(*membership, bucket)) {
      const std::string& name = membership->name(owner);
      if (name == "b" || name == "c") continue;
      ASSERT_EQ(*takers.of(bucket), name);
      break;
    }
  }
  EXPECT_TRUE(takers.leave_out([](const std::string&) { return false; }));
  EXPECT_TRUE(takers.is("c", buckets_of(*membership, "c")->front()));
}

TEST(Takers, AreNobodyWhereAllAreOut) {
  Takers takers;
  takers.follow(membership_of({"a", "b"}));
  takers.leave_out([](const std::string&) { return true; });
  EXPECT_TRUE(takers.has_any());
  EXPECT_EQ(takers.of(7), nullptr);
  EXPECT_FALSE(takers.is("a", 7));
}

TEST(Takers, AreNeverWhoHasWeightZero) {
  auto members = members_at({"a", "b", "c"});
  members[1].member.weight = 0;
  const auto membership = make_membership(members, "ring", 1).value();
  EXPECT_TRUE(membership->may_own(0));
  EXPECT_FALSE(membership->may_own(1));
  Takers takers;
  takers.follow(membership);
  EXPECT_TRUE(takers.has("b")) << "a member still";
  EXPECT_EQ(takers.buckets_of("b").size(), 0U);
  EXPECT_EQ(takers.buckets_of("a").size() + takers.buckets_of("c").size(), shard::bucket_count);
  takers.leave_out([](const std::string& name) { return name == "a"; });
  EXPECT_EQ(takers.buckets_of("c").size(), shard::bucket_count);
  takers.leave_out([](const std::string& name) { return name != "b"; });
  EXPECT_EQ(takers.of(7), nullptr);
}

TEST(Takers, AreNobodyWhereKeysHaveOwnersOfTheirOwn) {
  Takers takers;
  takers.follow(membership_of({"a", "b"}, 1, "nginx"));
  EXPECT_FALSE(takers.has_any());
  EXPECT_FALSE(takers.leave_out([](const std::string&) { return true; }));
}

}  // namespace
}  // namespace ringside::tier
