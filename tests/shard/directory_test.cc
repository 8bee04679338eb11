#include "shard/directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "shard/schemes.h"
#include "tests/shard/some_topology.h"

namespace ringside::shard {
namespace {

using testing::HasSubstr;

const State three{{{"7", "cache-1", {}}, {"/a", "cache-2", {}}, {"9", "gone", {}}}, "vbucket"};

TEST(Directory, GivesAPlacedKeyToItsReplicaAndOthersToTheFallback) {
  const auto topology = topology_of(caches(3), "directory", three);
  EXPECT_EQ(owner_name(*topology, key_of("7\n")), "cache-1");
  EXPECT_EQ(owner_name(*topology, key_of("/a\n")), "cache-2");
  EXPECT_EQ(topology->bucket_for(key_of("/a\n")), directory_buckets + 1);
  const ShardKey other = key_of("8\n");
  EXPECT_LT(topology->bucket_for(other), directory_buckets);
  const ShardKey first_of_bucket{{}, other.hash >> 52 << 52};
  EXPECT_EQ(owner_names(*topology, other, 3),
            owner_names(*topology_of(caches(3), "vbucket"), first_of_bucket, 3));
}

TEST(Directory, OfAReplicaThatIsGoneFollowsTheFallback) {
  const auto topology = topology_of(caches(3), "directory", three);
  const Bucket bucket = topology->bucket_for(key_of("9\n"));
  const Bucket before = *topology->parent_of(bucket);
  EXPECT_EQ(topology->bucket_owners()[bucket], topology->bucket_owners()[before]);
}

TEST(Directory, KeepsTheKeysOfAReplicaOfWeight0) {
  std::vector<Member> members = caches(3);
  members[1].weight = 0;
  const auto topology = topology_of(members, "directory", three);
  EXPECT_EQ(owner_name(*topology, key_of("7\n")), "cache-1");
  EXPECT_EQ(owner_names(*topology, key_of("7\n"), 9).size(), 3U);
  for (std::size_t bucket = 0; bucket < directory_buckets; ++bucket) {
    ASSERT_NE(topology->bucket_owners()[bucket], 1U);
  }
  for (int key = 0; key < 1000; ++key) {
    EXPECT_NE(place_at_first_sight(std::to_string(key), members), 1U);
  }
}

TEST(Directory, PlacesByWeight) {
  std::vector<Member> members = caches(3);
  members[2].weight = 3;
  std::map<MemberIndex, int> placed;
  for (int key = 0; key < 5000; ++key) {
    ++placed[place_at_first_sight(std::to_string(key), members)];
  }
  EXPECT_NEAR(placed[2], 3000, 150);
  EXPECT_NEAR(placed[0], 1000, 120);
}

// Two sidecars that have not heard of each other's key would place it twice.
TEST(Directory, AKeyThatIsPlacedStaysIfOnlyNewOnesAreToBe) {
  const Cut first_sight{0, {"7", "new"}, {"cache-2", "cache-2"}, true};
  const State placed = place_keys(three, first_sight).value();
  ASSERT_EQ(placed.shards.size(), three.shards.size() + 1);
  EXPECT_TRUE(std::equal(three.shards.begin(), three.shards.end(), placed.shards.begin()));
  EXPECT_EQ(placed.shards.back().at, "new");
  EXPECT_EQ(placed.shards.back().owner, "cache-2");
  const Cut by_hand{0, {"7"}, {"cache-2"}, false};
  EXPECT_NE(place_keys(three, by_hand).value(), three);
}

TEST(Directory, MovesOneKeyAtATime) {
  const auto before = topology_of(caches(3), "directory", three);
  const auto moved = cut_state(*before, {0, {"7"}, {"cache-0"}});
  ASSERT_TRUE(moved);
  const auto after = topology_of(caches(3), "directory", *moved);
  const auto moves = diff(*before, *after);
  ASSERT_EQ(moves.size(), 1U);
  EXPECT_EQ(moves.front(), (Move{Bucket{directory_buckets}, 1U, 0U}));
  const auto placed = cut_state(*after, {0, {"new"}, {"cache-1"}});
  ASSERT_TRUE(placed);
  const auto last = topology_of(caches(3), "directory", *placed);
  EXPECT_TRUE(last->extends(*before));
  EXPECT_LE(diff(*after, *last).size(), 1U);
}

TEST(Directory, RefusesWhatItCantRead) {
  const auto wrong = [](State state) {
    const auto made = Topology::make(caches(3), "directory", 1, std::move(state));
    return made ? std::string{} : made.error().message;
  };
  EXPECT_THAT(wrong({{{"a", "", {}}, {"a", "", {}}}, ""}), HasSubstr("shards[1].at: \"a\" stands"));
  EXPECT_THAT(wrong({{{"a", "", {}}, {"b", "", 0}}, ""}), HasSubstr("shards[1].parent"));
  EXPECT_THAT(wrong({{}, "nginx"}), HasSubstr("fallback: nginx hashes keys in a way of its own"));
  EXPECT_THAT(wrong({{}, "range"}), HasSubstr("fallback: range has a state"));
  EXPECT_THAT(wrong({{}, "no"}), HasSubstr("fallback: there is no scheme"));
}

}  // namespace
}  // namespace ringside::shard
