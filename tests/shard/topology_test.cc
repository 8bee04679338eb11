#include "shard/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "base/limits.h"
#include "tests/shard/some_topology.h"

namespace ringside::shard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Topology, SortsItsMembersSoThatAnOrdinalIsAPosition) {
  std::vector<Member> members = caches(12);
  std::reverse(members.begin(), members.end());
  EXPECT_EQ(topology_of(members)->members(), caches(12));
  EXPECT_EQ(topology_of(members)->find("cache-11"), 11U);
  EXPECT_EQ(topology_of(members)->find("cache-2"), 2U);
  EXPECT_EQ(topology_of(members)->find("cache-12"), std::nullopt);
  EXPECT_EQ(topology_of(members)->find("cache-02"), std::nullopt);
}

TEST(Topology, IsTheSameWhateverTheOrderOfArrival) {
  std::mt19937_64 dice(20);
  std::vector<Member> members = caches(11);
  for (Member& member : members) member = {member.name, 1 + std::uint32_t(dice() % 3), "z"};
  for (const std::string_view scheme : {"ring", "jedis-ring"}) {
    const auto first = topology_of(members, scheme);
    for (int round = 0; round < 5; ++round) {
      std::shuffle(members.begin(), members.end(), dice);
      const auto other = topology_of(members, scheme);
      EXPECT_EQ(other->id(), first->id());
      EXPECT_EQ(other->members(), first->members());
      EXPECT_EQ(other->bucket_owners(), first->bucket_owners());
      for (std::size_t i = 0; i < 100; ++i) {
        const std::string bytes = std::to_string(i);
        EXPECT_EQ(owner_names(*other, key_of(bytes), 11), owner_names(*first, key_of(bytes), 11));
      }
    }
  }
}

TEST(Topology, HasAnIdOfMembersAndSchemeAndNothingElse) {
  const auto id = [](std::vector<Member> members, std::string_view scheme, std::uint64_t version) {
    return Topology::make(std::move(members), scheme, version).value()->id();
  };
  EXPECT_EQ(id(caches(3), "ring", 1), id(caches(3), "ring", 2));
  std::set<Hash128> ids;
  ids.insert(id(caches(2), "ring", 1));
  ids.insert(id(caches(3), "ring", 1));
  ids.insert(id(caches(3), "jedis-ring", 1));
  ids.insert(id(caches(3), "simple-sha1", 1));
  ids.insert(id({{"cache-0", 1, ""}, {"cache-1", 2, ""}}, "ring", 1));
  ids.insert(id({{"cache-0", 2, ""}, {"cache-1", 2, ""}}, "ring", 1));  // the shares of 1 and 1
  ids.insert(id({{"cache-0", 1, "a"}, {"cache-1", 1, ""}}, "ring", 1));
  ids.insert(id({{"cache-0", 1, ""}, {"cache-1", 1, "a"}}, "ring", 1));
  ids.insert(id({{"cache-0", 1, "a"}, {"cache-1", 1, "a"}}, "jedis-ring", 1));
  ids.insert(id({}, "ring", 1));
  ids.insert(id({}, "jedis-ring", 1));
  EXPECT_EQ(ids.size(), 11U);
}

TEST(Topology, RefusesWhatMakesNoSenseAndSaysWhatDoes) {
  struct Case {
    std::vector<Member> members;
    std::string scheme;
    std::string place;
    std::string remedy;
  };
  std::vector<Member> heavy = caches(17);
  for (Member& member : heavy) member.weight = limits::member_weight;
  const Case cases[] = {
      {{{"b", 1, ""}, {"a", 1, ""}, {"b", 2, "z"}},
       "ring",
       "member \"b\" stands twice",
       "needs its own"},
      {{{"", 1, ""}}, "ring", "name is empty", "as cache-0"},
      {{{std::string(254, 'a'), 1, ""}}, "ring", "name has 254 bytes", "at most 253"},
      {{{"a b", 1, ""}}, "ring", "member \"a b\": its name", "use letters"},
      {{{"a", 0, ""}}, "ring", "weights are all 0", "give one member at least 1"},
      {{{"a", 0, ""}, {"b", 0, ""}}, "jedis-ring", "weights are all 0", "at least 1"},
      {{{"a", 3, ""}, {"b", 1, ""}}, "simple-sha1", "member \"a\": weight is 3", "leave it at 1"},
      {{{"a", 1001, ""}}, "ring", "member \"a\": its weight is 1001", "give 0 to 1000"},
      {{{"a", 1, std::string(64, 'z')}}, "ring", "member \"a\": its zone has 64", "at most 63"},
      {caches(1025), "ring", "1025 members", "at most 1024"},
      {heavy, "ring", "add up to 17000", "at most 16384, so divide"},
      {caches(1), "rung", "no scheme \"rung\"", "jedis-ring, jump, maglev, modulo"},
      {caches(1), "", "no scheme \"\"", "jedis-ring, jump, maglev, modulo"},
      {{{"a", 2, ""}}, "simple-sha1", "member \"a\": weight is 2", "choose the scheme \"ring\""},
  };
  for (const Case& c : cases) {
    const auto made = Topology::make(c.members, c.scheme, 1);
    ASSERT_FALSE(made) << c.place;
    EXPECT_EQ(made.error().kind, ErrorKind::invalid_input);
    EXPECT_THAT(made.error().message, HasSubstr(c.place));
    EXPECT_THAT(made.error().message, HasSubstr(c.remedy));
  }
}

TEST(Topology, MayBeAsLargeAsItsLimits) {
  std::vector<Member> members = caches(limits::members);
  for (Member& member : members) member.weight = limits::topology_weight / limits::members;
  const auto topology = topology_of(members);
  EXPECT_EQ(owner_names(*topology, key_in(7), 5'000).size(), limits::members);
}

TEST(TopologyDeathTest, IsNotAskedForAnOwnerWithoutMembers) {
  const auto nobody = topology_of({});
  EXPECT_DEATH((void)nobody->owner(key_of("a")), "broken invariant");
}

// What drains is known by name and by position as before: nothing else moves for it.
TEST(Topology, AMemberOfWeightZeroStaysAndOwnsNothing) {
  std::vector<Member> members = caches(4);
  members[1].weight = 0;
  for (const std::string_view scheme : {"ring", "jedis-ring"}) {
    const auto before = topology_of(caches(4), scheme);
    const auto drained = topology_of(members, scheme);
    EXPECT_EQ(drained->members(), members);
    EXPECT_EQ(drained->find("cache-1"), 1U);
    EXPECT_NE(drained->id(), before->id());
    for (const MemberIndex owner : drained->bucket_owners()) ASSERT_NE(owner, 1U);
    for (std::size_t i = 0; i < 200; ++i) {
      const std::string bytes = "key " + std::to_string(i);
      std::vector<std::string> others = owner_names(*before, key_of(bytes), 4);
      std::erase(others, "cache-1");
      EXPECT_EQ(owner_names(*drained, key_of(bytes), 4), others) << scheme;
    }
  }
  const auto without = topology_of({{"cache-0", 1, ""}, {"cache-2", 1, ""}, {"cache-3", 1, ""}});
  EXPECT_EQ(moved_buckets(*topology_of(members), *without), 0U);
  EXPECT_NE(topology_of(members)->id(), without->id());
}

TEST(Topology, CountsMovedBucketsByName) {
  const auto a = topology_of({{"a", 1, ""}, {"c", 1, ""}});
  const auto b = topology_of({{"b", 1, ""}, {"c", 1, ""}});
  const auto nobody = topology_of({});
  // c is member 1 of both, a and b are both member 0: only names tell that a's buckets moved.
  std::size_t moved = 0;
  for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
    if (owner_name(*a, key_in(bucket)) != owner_name(*b, key_in(bucket))) ++moved;
  }
  EXPECT_GT(moved, bucket_count / 4);
  EXPECT_EQ(moved_buckets(*a, *b), moved);
  EXPECT_EQ(moved_buckets(*b, *a), moved);
  EXPECT_EQ(moved_buckets(*a, *a), 0U);
  EXPECT_EQ(moved_buckets(*a, *nobody), bucket_count);
  EXPECT_EQ(moved_buckets(*nobody, *a), bucket_count);
  EXPECT_EQ(moved_buckets(*nobody, *nobody), 0U);
  const auto by_key = topology_of({{"red", 1, ""}, {"green", 1, ""}}, "nginx");
  EXPECT_DEATH((void)moved_buckets(*a, *by_key), "broken invariant");
}

// Shard 216's point 75 and shard 418's point 30 have one position, 2668443712; it is the first
// after that of this key. Worked out with Python's hashlib and a dict, which as a TreeMap keeps the
// last.
TEST(JedisRing, GivesAPositionToTheShardThatPutItsPointThereLast) {
  EXPECT_EQ(owner_name(*topology_of(caches(419), "jedis-ring"), key_of("key 130268")), "cache-418");
  EXPECT_EQ(owner_name(*topology_of(caches(418), "jedis-ring"), key_of("key 130268")), "cache-216");
}

TEST(SimpleSha1, TriesThePositionsAfterTheOwnersInTurn) {
  const auto topology = topology_of(caches(4), "simple-sha1");
  // SHA-1 of "a" begins with 0x86, which is -122: 122 mod 10 = 2, 2 / (10/4) = 0.8.
  EXPECT_THAT(owner_names(*topology, key_of("a"), 4),
              ElementsAre("cache-0", "cache-1", "cache-2", "cache-3"));
  // SHA-1 of "abc" begins with 0xa9, which is -87: 7 / 2.5 = 2.8.
  EXPECT_THAT(owner_names(*topology, key_of("abc"), 4),
              ElementsAre("cache-2", "cache-3", "cache-0", "cache-1"));
}

}  // namespace
}  // namespace ringside::shard
