#include "cache/full_shards.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "tests/cache/some_response.h"

namespace ringside::cache {
namespace {

std::shared_ptr<const shard::Topology> ranges(std::vector<shard::Shard> shards) {
  auto made = shard::Topology::make({{"cache-0", 1, ""}, {"cache-1", 1, ""}}, "range", 1,
                                    {std::move(shards), {}});
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return *made;
}

// A store that has what a replica of this tier has.
class FullShardsTest : public testing::Test {
 protected:
  void follow(std::vector<shard::Shard> shards) {
    topology_ = ranges(std::move(shards));
    store_.follow(topology_);
  }
  // A response to a path, of that shard key.
  void put(const std::string& path, const std::string& shard_key) {
    http::Target target;
    target.path = path;
    CacheKey key;
    key.assign(http::Scheme::http, "a.test", target, "shard=" + shard_key + "%0A&");
    key.bucket = store_.bucket_of(key);
    ASSERT_TRUE(store_.put(key, response_of("x"), store_.purge_count()));
  }
  std::optional<shard::Cut> cut(std::size_t responses_most) {
    return full_.cut(*topology_, "cache-0", responses_most, store_);
  }

  std::shared_ptr<const shard::Topology> topology_;
  Store store_{8 * limits::kMiB};
  FullShards full_;
};

TEST_F(FullShardsTest, TheFullestOfItsOwnIsCut) {
  follow({{"", "cache-0", {}}, {"100", "cache-0", {}}, {"200", "cache-1", {}}});
  for (int i = 0; i < 4; ++i) put("/a", std::to_string(i));
  for (int i = 100; i < 106; ++i) put("/a", std::to_string(i));
  for (int i = 200; i < 220; ++i) put("/a", std::to_string(i));
  EXPECT_FALSE(cut(6)) << "what is another's is not its affair";
  const auto fullest = cut(3);
  ASSERT_TRUE(fullest);
  EXPECT_EQ(fullest->shard, 1U);
  EXPECT_EQ(fullest->at, std::vector<std::string>{"103"});
}

// It was tried for ever, and the others grew behind it.
TEST_F(FullShardsTest, OneThatCannotBeCutDoesNotHideAnother) {
  follow({{"", "cache-0", {}}, {"100", "cache-0", {}}, {"200", "cache-1", {}}});
  for (int i = 0; i < 20; ++i) put("/" + std::to_string(i), "7");
  for (int i = 100; i < 106; ++i) put("/a", std::to_string(i));
  const auto found = cut(3);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->shard, 1U);
}

TEST_F(FullShardsTest, OneThatCouldNotBeCutIsLookedAtAgainWhenItHasTwiceAsMuch) {
  follow({{"", "cache-0", {}}, {"200", "cache-1", {}}});
  for (int i = 0; i < 5; ++i) put("/" + std::to_string(i), "7");
  EXPECT_FALSE(cut(3));
  put("/a", "8");
  EXPECT_FALSE(cut(3));
  for (int i = 5; i < 10; ++i) put("/" + std::to_string(i), "7");
  const auto found = cut(3);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->at, std::vector<std::string>{"8"});
}

TEST_F(FullShardsTest, WhoIsNoMemberHasNone) {
  follow({{"", "cache-1", {}}});
  for (int i = 0; i < 5; ++i) put("/a", std::to_string(i));
  EXPECT_FALSE(cut(3));
  EXPECT_FALSE(full_.cut(*topology_, "cache-7", 3, store_));
}

}  // namespace
}  // namespace ringside::cache
