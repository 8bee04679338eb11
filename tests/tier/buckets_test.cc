#include "tier/buckets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/tier/some_membership.h"
#include "tier/membership_json.h"

namespace ringside::tier {
namespace {

TEST(Buckets, EachBelongsToOneMember) {
  const auto membership = membership_of({"cache-0", "cache-1", "cache-2"});
  std::vector<shard::Bucket> all;
  for (const char* name : {"cache-0", "cache-1", "cache-2"}) {
    const auto own = buckets_of(*membership, name);
    ASSERT_TRUE(own);
    EXPECT_TRUE(std::is_sorted(own->begin(), own->end()));
    const auto member = membership->topology->find(name);
    for (const shard::Bucket bucket : *own) {
      EXPECT_EQ(membership->topology->bucket_owners()[bucket], member);
    }
    all.insert(all.end(), own->begin(), own->end());
  }
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), shard::bucket_count);
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i);
}

TEST(Buckets, OfWhomAsATable) {
  struct Case {
    std::vector<std::string> members;
    std::string scheme;
    std::string own_name;
    std::optional<std::size_t> buckets;
  };
  const std::vector<Case> cases{
      {{"a"}, "ring", "a", shard::bucket_count},
      {{"a"}, "ring", "b", 0},  // no member
      {{}, "ring", "a", 0},
      {{}, "nginx", "a", 0},
      {{"a", "b"}, "nginx", "a", std::nullopt},  // each key has its own owner
      {{"a", "b"}, "nginx", "c", std::nullopt},
  };
  auto drained = members_at({"a", "b"});
  drained[1].member.weight = 0;
  EXPECT_EQ(buckets_of(*make_membership(drained, "ring", 1).value(), "b")->size(), 0U);
  for (const Case& one : cases) {
    const auto membership = membership_of(one.members, 1, one.scheme);
    const auto buckets = buckets_of(*membership, one.own_name);
    EXPECT_EQ(buckets ? std::optional(buckets->size()) : std::nullopt, one.buckets)
        << one.scheme << " " << one.own_name;
  }
}

TEST(Peers, AreAllOthersAndWhereTheyAre) {
  const auto topology = membership_of({"a", "b", "c"})->topology;
  const Membership membership(topology, {{"h", 1}, {}, {"h", 3}});
  const Peer a{"a", {"h", 1}};
  const Peer b{"b", {}};
  const Peer c{"c", {"h", 3}};
  EXPECT_EQ(peers_of(membership, "a"), (std::vector<Peer>{b, c}));
  EXPECT_EQ(peers_of(membership, "b"), (std::vector<Peer>{a, c}));
  EXPECT_EQ(peers_of(membership, "d"), (std::vector<Peer>{a, b, c}));
}

TEST(MembershipJson, HasTheAddressesInTheTopologysOrder) {
  const auto page = nlohmann::json::parse(to_json(*membership_of({"cache-10", "cache-2"}, 3)));
  EXPECT_EQ(page["version"], 3);
  EXPECT_EQ(page["members"][0]["name"], "cache-2");
  EXPECT_EQ(page["members"][0]["address"], "h:2");
  EXPECT_FALSE(page["members"][0].contains("ready")) << "nobody tells";
  EXPECT_EQ(page["members"][1]["address"], "h:1");
  EXPECT_FALSE(page.contains("self"));
}

TEST(MembershipJson, TellsHowMembersAreWhereTheSourceDoes) {
  const auto topology = membership_of({"a", "b"})->topology;
  const Membership membership(topology, {{"h", 1}, {}}, {{true, true, "z"}, {false, false, ""}});
  const auto page = nlohmann::json::parse(to_json(membership));
  EXPECT_EQ(page["members"][0]["ready"], true);
  EXPECT_EQ(page["members"][0]["terminating"], true);
  EXPECT_EQ(page["members"][0]["placed_in"], "z");
  EXPECT_TRUE(page["members"][1]["address"].is_null());
  EXPECT_EQ(page["members"][1]["ready"], false);
  EXPECT_FALSE(page["members"][1].contains("placed_in"));
}

TEST(MembershipJson, AReplicaTellsWhoItIsAndHowManyBucketsAreItsOwn) {
  const auto self = [](const MembershipPointer& membership, const std::string& name) {
    const Peer leaver{"z", {"10.0.0.9", 80}};
    const Self told{name, 3, 5, {leaver}, {7, 700, 11, 13, 17}};
    return nlohmann::json::parse(to_json(*membership, told))["self"];
  };
  EXPECT_EQ(self(membership_of({"a"}), "a").dump(),
            R"({"buckets":16384,"buckets_away":3,"buckets_to_give":5,"fills":11,)"
            R"("leavers":[{"address":"10.0.0.9:80","name":"z"}],"moved_bytes":700,)"
            R"("moved_responses":7,"moves_waiting":17,"name":"a","refusals":13})");
  EXPECT_EQ(self(membership_of({"a"}), "b")["buckets"], 0);
  EXPECT_TRUE(self(membership_of({"a"}, 1, "nginx"), "a")["buckets"].is_null());
}

}  // namespace
}  // namespace ringside::tier
