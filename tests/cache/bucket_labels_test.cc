#include "cache/bucket_labels.h"

#include <gtest/gtest.h>

#include "tests/shard/some_topology.h"

namespace ringside::cache {
namespace {

http::Target target_of(std::string_view text) {
  http::Target target;
  EXPECT_TRUE(http::normalise_target(text, target));
  return target;
}

CacheKey key_for(std::string_view uri, std::string_view extra_key) {
  CacheKey key;
  key.assign(http::Scheme::http, "a.test", target_of(uri), extra_key);
  return key;
}

TEST(BucketLabels, AShardKeyIsWhatTheSidecarToldAndNoPartOfTheUri) {
  struct Row {
    std::string_view uri;
    std::string_view extra_key;
    std::optional<std::string> shard_key;
  };
  for (const Row& row : std::vector<Row>{
           {"/x", "shard=DE%0A/x%0A&", "DE\n/x\n"},
           {"/x", "country=DE&shard=DE%0A/x%0A&", "DE\n/x\n"},
           {"/x?a=1&shard=zzz", "country=DE&shard=DE%0A/x%0A&", "DE\n/x\n"},
           {"/x?shard=zzz", "shard=7%0A&", "7\n"},
           {"/x&shard=zzz&", "country=DE&", std::nullopt},
           {"/x?a=1&shard=zzz", "", std::nullopt},
       }) {
    EXPECT_EQ(shard_key_in(key_for(row.uri, row.extra_key).text), row.shard_key) << row.uri;
  }
  const CacheKey object = key_for("/x?a&shard=zzz", "shard=7%0A&");
  EXPECT_EQ(shard_key_in(slice_key(object, 3, "\"v1\"").text), "7\n");
}

TEST(BucketLabels, ReplicasFindBucketsWhereTheHashAloneDoesNotSayThem) {
  const std::string bytes = "7\n";
  CacheKey key = key_for("/x", "shard=7%0A&");
  key.bucket = shard::Bucket{9};  // that the sidecar told
  for (const std::string_view scheme : {"nginx", "range", "ring,a=range"}) {
    const auto topology = shard::topology_of(shard::caches(3), scheme);
    EXPECT_EQ(bucket_by(topology.get(), key.text, key.bucket),
              topology->bucket_for(shard::key_of(bytes)));
  }
  const auto ring = shard::topology_of(shard::caches(3), "ring");
  EXPECT_EQ(bucket_by(ring.get(), key.text, key.bucket), key.bucket);
}

}  // namespace
}  // namespace ringside::cache
