#include "replay/tier_key.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ringside::replay {
namespace {

std::string config(const std::string& routes) { return "{\"routes\": [" + routes + "]}"; }

TEST(TierKey, IsWhatAllRoutesHave) {
  struct Row {
    std::string routes;
    bool has_country;
    bool has_address;
    std::string text;
    std::string unknown;  // a part of it
  };
  for (const Row& row : std::vector<Row>{
           {R"({"name": "a", "shard_key": "country,path"})", true, false, "country,path", ""},
           {R"({"name": "a", "shard_key": "ip,id:2"})", false, true, "ip,id:2", ""},
           {R"({"shard_key": "path"}, {"shard_key": "host,path,query"})", false, false, "path", ""},
           {R"({"shard_key": "path"}, {"shard_key": "country"})", true, false, "country",
            "different shard keys"},
           {R"({"shard_key": "path,header:x-plan"})", false, false, "path,header:x-plan",
            "has header:x-plan, which a log does not tell"},
           {R"({"shard_key": "cookie:a,path"})", false, false, "cookie:a,path", "cookie:a"},
           {R"({"name": "b", "shard_key": "path", "cache": {"query": {"sort": true}}})", false,
            false, "path", "route b makes one request of several"},
           {R"({"name": "a"})", false, false, "", "it is no sidecar"},
       }) {
    const auto key = tier_key_from(config(row.routes));
    ASSERT_TRUE(key) << row.routes;
    EXPECT_EQ(key->has_country, row.has_country) << row.routes;
    EXPECT_EQ(key->has_address, row.has_address) << row.routes;
    EXPECT_EQ(key->text, row.text) << row.routes;
    EXPECT_EQ(key->unknown.empty(), row.unknown.empty()) << key->unknown;
    EXPECT_NE(key->unknown.find(row.unknown), std::string::npos) << key->unknown;
  }
}

TEST(TierKey, IsInNoOtherPage) {
  for (const char* text : {"", "{}", "[]", "{\"routes\": {}}", "{\"routes\": []}", "<html>"}) {
    EXPECT_FALSE(tier_key_from(text)) << text;
  }
}

}  // namespace
}  // namespace ringside::replay
