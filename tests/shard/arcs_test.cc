#include "shard/arcs.h"

#include <gtest/gtest.h>

#include <set>

#include "shard/nginx.h"
#include "tests/shard/some_topology.h"

// Rings of others, by bucket.
namespace ringside::shard {
namespace {

class ArcsOf : public testing::TestWithParam<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(Scheme, ArcsOf, testing::Values("nginx", "jedis-ring", "simple-sha1"),
                         [](const auto& test) {
                           std::string name(test.param);
                           std::erase(name, '-');
                           return name;
                         });

std::string key_of_page(int page) { return "DE\n/page/" + std::to_string(page) + "\n"; }

TEST_P(ArcsOf, AllKeysOfABucketHaveTheOwnersThatTheSchemeGivesThem) {
  for (const std::size_t count : {1U, 3U, 11U, 102U}) {
    std::vector<Member> members = caches(count);
    if (count > 3) members[2].weight = 0;
    const auto topology = topology_of(members, GetParam());
    const auto& owners = topology->bucket_owners();
    ASSERT_FALSE(owners.empty());
    for (int page = 0; page < 5000; ++page) {
      const std::string bytes = key_of_page(page);
      const ShardKey key = key_of(bytes);
      const Bucket bucket = topology->bucket_for(key);
      ASSERT_LT(bucket, owners.size());
      ASSERT_EQ(owners[bucket], topology->owner(key)) << bytes;
      std::vector<MemberIndex> of_key;
      std::vector<MemberIndex> of_bucket;
      topology->owners(key, 4, of_key);
      topology->owners_of(bucket, 4, of_bucket);
      ASSERT_EQ(of_key, of_bucket) << bytes;
    }
  }
}

TEST_P(ArcsOf, AKeyStaysInItsBucketWhoeverComesAndGoes) {
  const auto ten = topology_of(caches(10), GetParam());
  const auto eleven = topology_of(caches(11), GetParam());
  EXPECT_NE(ten->numbering(), 0U);
  EXPECT_EQ(ten->numbering(), eleven->numbering());
  for (int page = 0; page < 1000; ++page) {
    const std::string bytes = key_of_page(page);
    EXPECT_EQ(ten->bucket_for(key_of(bytes)), eleven->bucket_for(key_of(bytes)));
  }
}

TEST(Arcs, MoveToTheNewMemberAlone) {
  for (const std::string_view scheme : {"nginx", "jedis-ring"}) {
    const auto moves = diff(*topology_of(caches(10), scheme), *topology_of(caches(11), scheme));
    EXPECT_GT(moves.size(), 1000U);
    for (const Move& move : moves) ASSERT_EQ(move.to, MemberIndex{10});
  }
}

TEST(Arcs, AreThereForNumberedNamesOfLightMembersOnly) {
  const auto names_of = [](const std::vector<std::string>& names) {
    std::vector<Member> members;
    for (const std::string& name : names) members.push_back({name, 1, ""});
    const auto numbered = numbered_names(members);
    return numbered ? numbered->name(0) : std::string("none");
  };
  EXPECT_EQ(names_of({"cache-0", "cache-3", "cache-101"}), "cache-0");
  EXPECT_EQ(names_of({"cache-0.cache.shop.svc:8080", "cache-12.cache.shop.svc:8080"}),
            "cache-0.cache.shop.svc:8080");
  EXPECT_EQ(names_of({"10.0.0.7:8080", "10.0.0.9:8080"}), "10.0.0.0:8080");
  EXPECT_EQ(names_of({"127.0.0.1:8001", "127.0.0.1:8002"}), "none");  // above 101
  EXPECT_EQ(names_of({"127.0.0.1:80", "127.0.0.1:81"}), "127.0.0.1:0");
  EXPECT_EQ(names_of({"cache-0", "cache-102"}), "none");
  EXPECT_EQ(names_of({"cache-0", "cache-01"}), "none");
  EXPECT_EQ(names_of({"red", "green"}), "none");
  EXPECT_EQ(names_of({"cache-0", "other-1"}), "none");
  EXPECT_EQ(names_of({}), "none");

  std::vector<Member> heavy = caches(3);
  heavy[1].weight = 2;
  EXPECT_TRUE(topology_of(heavy, "nginx")->bucket_owners().empty());
  EXPECT_TRUE(topology_of(heavy, "jedis-ring")->bucket_owners().empty());
  EXPECT_TRUE(topology_of(caches(103), "nginx")->bucket_owners().empty());
  EXPECT_EQ(topology_of(caches(103), "nginx")->numbering(), 0U);
}

TEST(Arcs, OfTwoTiersAreNotTheSame) {
  std::vector<Member> others = caches(3);
  for (Member& member : others) member.name = "red-" + member.name;
  EXPECT_NE(topology_of(caches(3), "nginx")->numbering(),
            topology_of(others, "nginx")->numbering());
}

}  // namespace
}  // namespace ringside::shard
