#include "shard/by_route.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "shard/coarse_buckets.h"
#include "tests/shard/some_topology.h"

// Routes of one tier that have schemes of their own.
namespace ringside::shard {
namespace {

using testing::HasSubstr;

constexpr std::string_view several = "ring,films=range,kept=directory,trees=split-tree,users=range";

// A key as requests of a route have it.
std::string of(std::string_view route, std::string_view key) {
  return std::string(route) + "\n" + std::string(key) + "\n";
}

Result<State> cut(const Topology& topology, std::string_view route, std::string_view at,
                  std::string_view owner) {
  std::size_t newest = 0;
  const auto& shards = topology.state().shards;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    if (shards[i].route == route) newest = i;
  }
  return cut_state(topology,
                   {newest, {std::string(at)}, {std::string(owner)}, false, std::string(route)});
}

// The tier after each of these cuts, and what it was before them.
std::vector<TopologyPointer> after_cuts() {
  std::vector<TopologyPointer> all{topology_of(caches(3), several)};
  const std::vector<std::array<std::string_view, 3>> cuts{{"users", "500", "cache-1"},
                                                          {"kept", "/a", "cache-2"},
                                                          {"films", "m", "cache-1"},
                                                          {"kept", "/b", "cache-0"},
                                                          {"users", "700", "cache-2"}};
  for (const auto& [route, at, owner] : cuts) {
    auto state = cut(*all.back(), route, at, owner);
    EXPECT_TRUE(state) << (state ? "" : state.error().message);
    if (!state) break;
    all.push_back(topology_of(caches(3), several, *std::move(state)));
  }
  return all;
}

TEST(ByRoute, GivesEachRouteItsOwnScheme) {
  const auto topology = after_cuts().back();
  EXPECT_TRUE(topology->has_routes());
  EXPECT_EQ(topology->scheme_route("users"), "users");
  EXPECT_EQ(topology->scheme_route("other"), "");
  EXPECT_EQ(topology->own_key(of("users", "7")), "7\n");
  EXPECT_EQ(owner_name(*topology, key_of(of("users", "500"))), "cache-1");
  EXPECT_EQ(owner_name(*topology, key_of(of("users", "750"))), "cache-2");
  EXPECT_EQ(owner_name(*topology, key_of(of("films", "zebra"))), "cache-1");
  EXPECT_EQ(owner_name(*topology, key_of(of("kept", "/a"))), "cache-2");
  EXPECT_EQ(owner_name(*topology, key_of(of("kept", "/b"))), "cache-0");
}

TEST(ByRoute, GivesAllOtherRoutesTheSchemeOfTheTier) {
  const auto topology = topology_of(caches(7), several);
  const auto ring = topology_of(caches(7), "ring");
  std::set<std::string> owners;
  for (int page = 0; page < 200; ++page) {
    const std::string key = "DE\n/page/" + std::to_string(page) + "\n";
    const std::string whole = "\n" + key;
    const ShardKey first = first_key_in(coarse_bucket_of(hash64(key)));
    EXPECT_EQ(owner_names(*topology, key_of(whole), 3), owner_names(*ring, first, 3));
    owners.insert(owner_name(*topology, key_of(whole)));
    // Somebody else knows more routes than we do.
    EXPECT_EQ(topology->bucket_for(key_of("unknown" + whole)), topology->bucket_for(key_of(whole)));
  }
  EXPECT_EQ(owners.size(), 7U);
}

TEST(ByRoute, HasOneRowOfBuckets) {
  const auto topology = after_cuts().back();
  const auto& owners = topology->bucket_owners();
  // The ring and the directory; a first range of two, and 64 leaves; five that were cut or placed.
  EXPECT_EQ(topology->first_shard(), 2 * coarse_buckets);
  EXPECT_EQ(owners.size(), 2 * coarse_buckets + 2 + 64 + 5);
  std::vector<MemberIndex> first;
  for (std::size_t bucket = 0; bucket < owners.size(); ++bucket) {
    topology->owners_of(static_cast<Bucket>(bucket), 1, first);
    ASSERT_EQ(first.front(), owners[bucket]) << bucket;
  }
  for (const std::string_view key : {"7", "499", "500", "699", "700", "/a", "/b", "/c", "m", ""}) {
    for (const std::string_view route : {"", "users", "films", "kept", "trees"}) {
      const std::string bytes = of(route, key);
      ASSERT_LT(topology->bucket_for(key_of(bytes)), owners.size());
      EXPECT_EQ(topology->owner(key_of(bytes)), owners[topology->bucket_for(key_of(bytes))]);
    }
  }
}

TEST(ByRoute, SharesTheBucketsOfOneSchemeByHash) {
  const auto topology = topology_of(caches(3), "ring,a=vbucket,b=ring,c=vbucket");
  EXPECT_TRUE(topology->finds_buckets());  // its numbers are not those of a ring alone
  EXPECT_EQ(topology->bucket_owners().size(), 2 * coarse_buckets);
  EXPECT_EQ(topology->bucket_for(key_of(of("a", "x"))), topology->bucket_for(key_of(of("c", "x"))));
  EXPECT_EQ(topology->bucket_for(key_of(of("", "x"))), topology->bucket_for(key_of(of("b", "x"))));
  EXPECT_NE(topology->bucket_for(key_of(of("", "x"))), topology->bucket_for(key_of(of("a", "x"))));
}

TEST(ByRoute, MovesNothingOfOtherRoutesWithACut) {
  const auto all = after_cuts();
  for (std::size_t i = 1; i < all.size(); ++i) {
    const Topology& before = *all[i - 1];
    const Topology& after = *all[i];
    EXPECT_EQ(after.numbering(), before.numbering());
    EXPECT_TRUE(after.extends(before));
    EXPECT_LE(diff(before, after).size(), 1U);
    const auto cut_bucket = static_cast<Bucket>(after.bucket_owners().size() - 1);
    const auto parent = after.parent_of(cut_bucket);
    ASSERT_TRUE(parent);
    // What is in the new bucket was in its parent.
    for (const std::string_view key : {"499", "500", "600", "700", "/a", "/b", "m", "zebra"}) {
      for (const std::string_view route : {"", "users", "films", "kept", "trees"}) {
        const std::string bytes = of(route, key);
        const Bucket now = after.bucket_for(key_of(bytes));
        EXPECT_EQ(before.bucket_for(key_of(bytes)), now == cut_bucket ? *parent : now);
      }
    }
  }
}

TEST(ByRoute, MovesWhatEachSchemeWouldMove) {
  const auto before = topology_of(caches(10), several);
  const auto after = topology_of(caches(11), several);
  for (const Move& move : diff(*before, *after)) {
    EXPECT_EQ(after->members()[*move.to].name, "cache-10");
  }
}

TEST(ByRoute, CutsTheShardThatIsFull) {
  const auto topology = after_cuts()[1];  // of users, 0 to 499 and from 500
  std::size_t shard = 0;
  const auto& shards = topology->state().shards;
  while (shards[shard].at != "500") ++shard;
  const auto at = where_to_cut(*topology, shard, {"600", "601", "602", "603"});
  ASSERT_TRUE(at);
  EXPECT_EQ(*at, std::vector<std::string>{"602"});
  EXPECT_TRUE(cut_state(*topology, {shard, *at, {}}));
}

TEST(ByRoute, TellsWhichKeysMayBePlaced) {
  const auto topology = after_cuts().back();
  const auto parts = placeable(*topology);
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts.front().route, "kept");
  const Bucket bucket = topology->bucket_for(key_of(of("kept", "/new")));
  EXPECT_GE(bucket, parts.front().first_bucket);
  EXPECT_LT(bucket, parts.front().first_bucket + coarse_buckets);
}

TEST(ByRoute, OfNobodyGivesNothingToNobody) {
  const auto nobody = topology_of({}, several);
  EXPECT_TRUE(nobody->bucket_owners().empty());
  EXPECT_TRUE(owner_names(*nobody, key_of(of("users", "1")), 3).empty());
}

TEST(ByRoute, NumbersMeanAnotherThingWhereTheShardsStandInAnotherOrder) {
  const auto one =
      topology_of(caches(3), "range,a=range", {{{"", "", {}, ""}, {"", "", {}, "a"}}, {}});
  const auto other =
      topology_of(caches(3), "range,a=range", {{{"", "", {}, "a"}, {"", "", {}, ""}}, {}});
  EXPECT_NE(one->numbering(), other->numbering());
}

TEST(ByRoute, CutsNoMoreShardsThanThereAreNumbers) {
  const std::size_t room = bucket_count - 3 * coarse_buckets;
  State state{{{"", "", {}, "c"}}, {}};
  for (std::size_t i = 1; i < room; ++i) {
    state.shards.push_back({std::to_string(i), "", i - 1, "c"});
  }
  const auto full = topology_of(caches(3), "ring,a=vbucket,b=maglev,c=range", state);
  const auto more = cut_state(*full, {room - 1, {"9999999"}, {}});
  ASSERT_FALSE(more);
  EXPECT_THAT(more.error().message, HasSubstr("shards: there are 4097; at most 4096"));
}

// Rings of others place the keys of a route as they place all keys of a tier.
class RingsByRoute : public testing::TestWithParam<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(Scheme, RingsByRoute,
                         testing::Values("nginx", "jedis-ring", "simple-sha1"),
                         [](const auto& test) {
                           std::string name(test.param);
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(RingsByRoute, GiveEachKeyTheOwnerThatTheyGiveItAlone) {
  const std::string ring(GetParam());
  for (const std::size_t count : {1U, 10U, 25U}) {
    const auto alone = topology_of(caches(count), ring);
    const auto of_route = topology_of(caches(count), "ring,films=" + ring);
    const auto of_tier = topology_of(caches(count), ring + ",films=range,shops=vbucket");
    for (int i = 0; i < 2'000; ++i) {
      const std::string key = "FR\n/" + std::to_string(i) + "\n";
      const std::string in_films = of("films", key.substr(0, key.size() - 1));
      const std::string in_others = of("", key.substr(0, key.size() - 1));
      const std::string& owner = owner_name(*alone, key_of(key));
      ASSERT_EQ(owner_name(*of_route, key_of(in_films)), owner) << key;
      ASSERT_EQ(owner_name(*of_tier, key_of(in_others)), owner) << key;
      ASSERT_EQ(owner_names(*of_route, key_of(in_films), 3), owner_names(*alone, key_of(key), 3));
    }
  }
}

TEST_P(RingsByRoute, KeepTheNumbersOfTheirBucketsWhoeverComes) {
  const std::string schemes = "ring,films=" + std::string(GetParam());
  const auto ten = topology_of(caches(10), schemes);
  const auto eleven = topology_of(caches(11), schemes);
  EXPECT_EQ(ten->numbering(), eleven->numbering());
  EXPECT_TRUE(eleven->extends(*ten));
  EXPECT_EQ(ten->bucket_owners().size(), eleven->bucket_owners().size());
  for (int i = 0; i < 2'000; ++i) {
    const std::string key = of("films", std::to_string(i));
    ASSERT_EQ(ten->bucket_for(key_of(key)), eleven->bucket_for(key_of(key)));
    ASSERT_GE(ten->bucket_for(key_of(key)), coarse_buckets);
    ASSERT_LT(ten->bucket_for(key_of(key)), ten->bucket_owners().size());
  }
  if (GetParam() == "simple-sha1") return;
  for (const Move& move : diff(*ten, *eleven))
    EXPECT_EQ(eleven->members()[*move.to].name, "cache-10");
}

TEST(RingByRoute, HaveRoomForAsManyReplicasAsTheNumbersThatAreLeft) {
  const auto most = [](const std::string& schemes) {
    std::size_t count = 1;
    while (Topology::make(caches(count + 1), schemes, 1)) ++count;
    return count;
  };
  EXPECT_EQ(most("ring,a=nginx"), 51U);
  EXPECT_EQ(most("nginx,a=ring,b=nginx"), 51U);
  EXPECT_EQ(most("nginx,a=range"), 76U);
  EXPECT_EQ(most("nginx,a=simple-sha1"), 51U);
  EXPECT_EQ(most("nginx,a=jedis-ring"), 25U);
  EXPECT_EQ(most("ring,a=nginx,b=jedis-ring"), 25U);
  auto heavy = caches(25);
  heavy.front().weight = 2;
  EXPECT_TRUE(Topology::make(heavy, "ring,a=nginx", 1));
  heavy = caches(26);
  heavy.front().weight = 2;
  EXPECT_FALSE(Topology::make(heavy, "ring,a=nginx", 1));
  const auto many = Topology::make(caches(52), "ring,a=nginx", 1);
  EXPECT_THAT(
      many.error().message,
      HasSubstr("of route a: nginx may be one of several schemes with up to 51 replicas, "
                "whose names differ only in a number from 0 to 50, or 25 with weights up to 2"));
  const auto named = Topology::make({{"a", 1, ""}, {"b", 1, ""}}, "nginx,a=ring", 1);
  EXPECT_THAT(named.error().message, HasSubstr("of the tier's own scheme: nginx may be"));
  EXPECT_TRUE(Topology::make({{"a", 1, ""}, {"b", 1, ""}}, "jedis-ring,a=ring", 1));
}

TEST(RingByRoute, OfNobodyGiveNothingToNobody) {
  for (const char* schemes : {"ring,a=nginx", "jedis-ring,a=range", "ring,a=simple-sha1"}) {
    const auto nobody = topology_of({}, schemes);
    EXPECT_TRUE(nobody->bucket_owners().empty());
    EXPECT_LT(nobody->bucket_for(key_of(of("a", "x"))), bucket_count);
  }
}

TEST(ByRoute, IsNamedInOneOrder) {
  const auto one = topology_of(caches(3), "ring,b=range,a=vbucket");
  const auto other = topology_of(caches(3), "ring,a=vbucket,b=range");
  EXPECT_EQ(one->scheme(), "ring,a=vbucket,b=range");
  EXPECT_EQ(one->id(), other->id());
}

TEST(ByRoute, RefusesWhatCantBeOneOfSeveral) {
  const auto wrong = [](std::string_view schemes, State state = {}) {
    const auto made = Topology::make(caches(3), schemes, 1, std::move(state));
    return made ? std::string{} : made.error().message;
  };
  EXPECT_THAT(wrong("ring,a"), HasSubstr("names no route; write ROUTE=SCHEME"));
  EXPECT_THAT(wrong("ring,a=rnig"), HasSubstr("there is no scheme \"rnig\"; choose one of"));
  EXPECT_THAT(wrong("ring,a=range,a=ring"), HasSubstr("route a has two schemes; give it one"));
  EXPECT_THAT(wrong("ring,a b=range"), HasSubstr("needs a name of letters, digits, -, _ and ."));
  EXPECT_THAT(wrong("range", {{{"", "", {}, "a"}}, {}}),
              HasSubstr("shards[0].route: no route has"));
  EXPECT_THAT(wrong("ring,a=range", {{}, "maglev"}), HasSubstr("fallback: no scheme of these"));
  EXPECT_THAT(wrong("ring,a=jump,b=maglev,c=modulo"), HasSubstr("have 4 schemes by hash"));
  const std::string_view two = "ring,a=range";
  EXPECT_THAT(wrong(two, {{{"", "", {}, "b"}}, {}}), HasSubstr("shards[0].route: \"b\" has no"));
  EXPECT_THAT(wrong(two, {{{"", "", {}, ""}}, {}}), HasSubstr("shards[0].route: \"\" has no"));
  EXPECT_THAT(wrong(two, {{{"5", "", {}, "a"}}, {}}),
              HasSubstr("of route a, whose shards count from 0: shards: no range"));
  EXPECT_THAT(wrong("range,a=range", {{{"", "", {}, ""}, {"", "", 0, "a"}}, {}}),
              HasSubstr("shards[1].parent: 0 is of another route"));
}

}  // namespace
}  // namespace ringside::shard
