#include "shard/arcs.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <vector>

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

void expect_the_schemes_owners(const Topology& topology) {
  const auto& owners = topology.bucket_owners();
  ASSERT_FALSE(owners.empty());
  for (int page = 0; page < 5000; ++page) {
    const std::string bytes = key_of_page(page);
    const ShardKey key = key_of(bytes);
    const Bucket bucket = topology.bucket_for(key);
    ASSERT_LT(bucket, owners.size());
    ASSERT_EQ(owners[bucket], topology.owner(key)) << bytes;
    std::vector<MemberIndex> of_key;
    std::vector<MemberIndex> of_bucket;
    topology.owners(key, 4, of_key);
    topology.owners_of(bucket, 4, of_bucket);
    ASSERT_EQ(of_key, of_bucket) << bytes;
  }
}

TEST_P(ArcsOf, AllKeysOfABucketHaveTheOwnersThatTheSchemeGivesThem) {
  for (const std::size_t count : {1U, 3U, 11U, 102U}) {
    std::vector<Member> members = caches(count);
    if (count > 3) members[2].weight = 0;
    expect_the_schemes_owners(*topology_of(members, GetParam()));
  }
}

TEST(Arcs, OfHeavyMembersHaveTheSchemesOwnersToo) {
  for (const std::string_view scheme : {"nginx", "jedis-ring"}) {
    for (const std::uint32_t heaviest : {2U, 3U, 8U}) {
      std::vector<Member> members = caches(5);
      members[1].weight = heaviest;
      members[2].weight = 0;
      expect_the_schemes_owners(*topology_of(members, scheme));
    }
  }
}

TEST(Arcs, OfHeavyMembersMoveToTheHeavierOneAlone) {
  for (const std::string_view scheme : {"nginx", "jedis-ring"}) {
    std::vector<Member> members = caches(5);
    members[1].weight = 3;
    const auto before = topology_of(members, scheme);
    members[1].weight = 4;
    const auto after = topology_of(members, scheme);
    ASSERT_EQ(before->numbering(), after->numbering());
    const auto moves = diff(*before, *after);
    EXPECT_GT(moves.size(), 100U);
    for (const Move& move : moves) ASSERT_EQ(move.to, MemberIndex{1});
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

TEST(Arcs, AreThereForNumberedNames) {
  const auto names_of = [](const std::vector<std::string>& names) {
    std::vector<Member> members;
    for (const std::string& name : names) members.push_back({name, 1, ""});
    const auto numbered = numbered_names(members, arc_members);
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
}

TEST(Arcs, AreThereForSoManyMembersAsTheHeaviestAllows) {
  struct Case {
    std::size_t members;
    std::uint32_t heaviest;
    bool has_arcs;
  };
  constexpr auto cases = std::to_array<Case>({{102, 1, true},
                                              {103, 1, false},
                                              {51, 2, true},
                                              {52, 2, false},
                                              {25, 3, true},
                                              {26, 4, false},
                                              {12, 8, true},
                                              {13, 5, false},
                                              {1, 64, true},
                                              {1, 65, false},
                                              {2, 1000, false}});
  for (const Case& one : cases) {
    std::vector<Member> members = caches(one.members);
    members.back().weight = one.heaviest;
    for (const std::string_view scheme : {"nginx", "jedis-ring"}) {
      const auto topology = topology_of(members, scheme);
      EXPECT_EQ(!topology->bucket_owners().empty(), one.has_arcs)
          << scheme << ' ' << one.members << ' ' << one.heaviest;
      EXPECT_EQ(topology->numbering() != 0, one.has_arcs);
    }
  }
}

TEST(Arcs, OfHeavyMembersAreNotThoseOfLightOnes) {
  for (const std::string_view scheme : {"nginx", "jedis-ring"}) {
    std::set<std::uint64_t> numberings;
    for (const std::uint32_t heaviest : {0U, 1U, 2U, 3U, 4U, 5U}) {
      std::vector<Member> members = caches(3);
      members[1].weight = heaviest;
      numberings.insert(topology_of(members, scheme)->numbering());
    }
    EXPECT_EQ(numberings.size(), 4U) << "for 1, 2, 4 and 8 at most";
  }
}

TEST(Arcs, OfTwoTiersAreNotTheSame) {
  std::vector<Member> others = caches(3);
  for (Member& member : others) member.name = "red-" + member.name;
  EXPECT_NE(topology_of(caches(3), "nginx")->numbering(),
            topology_of(others, "nginx")->numbering());
}

}  // namespace
}  // namespace ringside::shard
