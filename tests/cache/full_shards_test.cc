#include "cache/full_shards.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "shard/directory.h"
#include "tests/cache/some_response.h"

namespace ringside::cache {
namespace {

std::shared_ptr<const shard::Topology> topology_of(const char* scheme,
                                                   std::vector<shard::Shard> shards) {
  auto made = shard::Topology::make({{"cache-0", 1, ""}, {"cache-1", 1, ""}}, scheme, 1,
                                    {std::move(shards), {}});
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return *made;
}

// A store that has what a replica of this tier has.
class FullShardsTest : public testing::Test {
 protected:
  void follow(std::vector<shard::Shard> shards, const char* scheme = "range") {
    topology_ = topology_of(scheme, std::move(shards));
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
    return full_.cut(*topology_, "cache-0", {responses_most, false}, store_);
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
  EXPECT_FALSE(full_.cut(*topology_, "cache-7", {3, false}, store_));
}

TEST_F(FullShardsTest, KeysThatTheDirectoryDoesNotHaveAreAskedForByWhoHasThem) {
  follow({{"7", "cache-1", {}}}, "directory");
  for (int i = 0; i < 20; ++i) put("/a", std::to_string(i));
  put("/a", "%C3%A4");  // no state can name it
  const auto asked_by = [this](const char* name, bool places_keys = true) {
    const auto cut = full_.cut(*topology_, name, {0, places_keys}, store_);
    return cut ? cut->at : std::vector<std::string>{};
  };
  std::vector<std::string> keys = asked_by("cache-0");
  const auto others = asked_by("cache-1");
  EXPECT_FALSE(keys.empty());
  EXPECT_FALSE(others.empty());
  keys.insert(keys.end(), others.begin(), others.end());
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::unique(keys.begin(), keys.end()), keys.end());
  EXPECT_EQ(keys.size(), 19U) << "all but the one that is placed";
  EXPECT_TRUE(asked_by("cache-0", false).empty());
}

TEST_F(FullShardsTest, KeysArePlacedSoManyAtATimeUntilTheDirectoryIsFull) {
  const auto keys_at_once = [this](std::size_t placed) {
    std::vector<shard::Shard> shards;
    for (std::size_t i = 0; i < placed; ++i)
      shards.push_back({fmt::format("k{}", i), "cache-1", {}});
    follow(std::move(shards), "directory");
    const auto cut = full_.cut(*topology_, "cache-0", {0, true}, store_);
    EXPECT_TRUE(!cut || cut->only_new);
    return cut ? cut->at.size() : 0;
  };
  follow({}, "directory");
  for (std::size_t i = 0; i < 4 * limits::keys_placed_at_once; ++i)
    put("/a", fmt::format("n{}", i));
  EXPECT_EQ(keys_at_once(0), limits::keys_placed_at_once);
  EXPECT_EQ(keys_at_once(shard::directory_keys - 3), 3U);
  EXPECT_EQ(keys_at_once(shard::directory_keys), 0U);
}

}  // namespace
}  // namespace ringside::cache
