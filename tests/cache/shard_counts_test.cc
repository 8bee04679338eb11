#include "cache/shard_counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "shard/schemes.h"
#include "tests/cache/some_response.h"

namespace ringside::cache {
namespace {

using testing::ElementsAre;
using Counted = std::optional<std::vector<std::size_t>>;

std::shared_ptr<const shard::Topology> tier_of(const char* scheme, shard::State state) {
  return shard::Topology::make({{"cache-0", 1, ""}, {"cache-1", 1, ""}}, scheme, 1,
                               std::move(state))
      .value();
}

// A store with a response of each of these shard keys.
class ShardCounts : public testing::Test {
 protected:
  void follow(const std::shared_ptr<const shard::Topology>& topology,
              const std::vector<std::string>& shard_keys) {
    followed_ = topology;
    store_.follow(topology);
    for (const std::string& shard_key : shard_keys) {
      http::Target target;
      target.path = "/" + shard_key;
      CacheKey key;
      key.assign(http::Scheme::http, "a.test", target, "shard=" + shard_key + "%0A&");
      key.bucket = store_.bucket_of(key);
      ASSERT_TRUE(store_.put(key, response_of("x"), store_.purge_count()));
    }
  }
  Counted counted(const shard::Topology& asked) {
    return stored_by_shard(store_, *followed_, asked);
  }
  std::shared_ptr<const shard::Topology> cut(const shard::Topology& before, const shard::Cut& how) {
    return tier_of(before.scheme().data(), shard::cut_state(before, how).value());
  }

  std::shared_ptr<const shard::Topology> followed_;
  Store store_{8 * limits::kMiB};
};

TEST_F(ShardCounts, OfTheTopologyThatIsFollowed) {
  follow(tier_of("range", {{{"", "", {}}, {"m", "", {}}}, {}}), {"a", "b", "x"});
  EXPECT_THAT(*counted(*followed_), ElementsAre(2, 1));
}

TEST_F(ShardCounts, OfRangesThatAreCutAndCutAgain) {
  const auto before = tier_of("range", {{{"", "", {}}, {"m", "", {}}}, {}});
  follow(before, {"a", "b", "c", "d", "x"});
  const auto once = cut(*before, {0, {"b"}, {}});
  EXPECT_THAT(*counted(*once), ElementsAre(1, 1, 3));
  const auto twice = cut(*once, {2, {"d"}, {}});
  EXPECT_THAT(*counted(*twice), ElementsAre(1, 1, 2, 1));
}

TEST_F(ShardCounts, OfLeavesThatAreSplit) {
  const auto before = tier_of("split-tree", {{{"shard_0", "", {}}, {"shard_1", "", {}}}, {}});
  follow(before, {"0", "2", "4", "8", "1"});
  EXPECT_THAT(*counted(*cut(*before, {0, {}, {}})), ElementsAre(3, 1, 1));
}

TEST_F(ShardCounts, OfKeysThatAreToBePlaced) {
  const auto before = tier_of("directory", {{{"one", "cache-0", {}}}, "ring"});
  follow(before, {"one", "two", "three"});
  EXPECT_THAT(*counted(*before), ElementsAre(1));
  EXPECT_THAT(*counted(*cut(*before, {0, {"two", "four"}, {}})), ElementsAre(1, 1, 0));
}

TEST_F(ShardCounts, OfOtherShardsNothingIsKnown) {
  const auto two = tier_of("range", {{{"", "", {}}, {"m", "", {}}}, {}});
  follow(two, {"a"});
  EXPECT_EQ(counted(*tier_of("range", {{{"", "", {}}, {"n", "", {}}}, {}})), std::nullopt);
  EXPECT_EQ(counted(*tier_of("range", {{{"", "", {}}}, {}})), std::nullopt) << "that is older";
  EXPECT_EQ(counted(*tier_of("split-tree", {})), std::nullopt);
  EXPECT_EQ(counted(*tier_of("ring", {})), std::nullopt);
  EXPECT_EQ(counted(*shard::Topology::make({}, "range", 1, two->state()).value()), std::nullopt)
      << "nobody has them";
  const auto ring = tier_of("ring", {});
  follow(ring, {});
  EXPECT_THAT(*counted(*ring), testing::IsEmpty()) << "there are none";
}

TEST_F(ShardCounts, OfARouteWithASchemeOfItsOwn) {
  const auto before = tier_of("ring,users=range,kept=directory",
                              {{{"", "", {}, "users"}, {"one", "cache-0", {}, "kept"}}, "ring"});
  const auto in_route = [&](const char* route, const std::string& key) {
    return std::string(before->scheme_route(route)) + "%0A" + key;
  };
  follow(before, {in_route("users", "a"), in_route("users", "m"), in_route("kept", "one"),
                  in_route("kept", "two"), in_route("other", "x")});
  EXPECT_THAT(*counted(*before), ElementsAre(2, 1));
  shard::Cut placed{0, {"two"}, {"cache-1"}};
  placed.route = "kept";
  const auto once = cut(*before, placed);
  EXPECT_THAT(*counted(*once), ElementsAre(2, 1, 1));
  EXPECT_THAT(*counted(*cut(*once, {0, {"k"}, {}})), ElementsAre(1, 1, 1, 1));
}

}  // namespace
}  // namespace ringside::cache
