#include "program/shard_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "program/configuration_file.h"
#include "program/settings.h"

namespace ringside::program {
namespace {

using testing::HasSubstr;

std::shared_ptr<const sidecar::Settings> settings_of(const std::string& yaml) {
  Configuration configuration = defaults(Command::shard);
  EXPECT_TRUE(overlay_yaml(configuration, yaml, "f"));
  return *make_sidecar_settings(configuration, *shard_membership(configuration), nullptr);
}

TEST(ShardReport, TellsKeyHashBucketAndOwners) {
  const auto settings = settings_of("replicas: 11");
  const auto answer = find_shard(*settings, {}, {}, "http://h/a/../b%7e?q=1");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->route, "default");
  EXPECT_EQ(answer->country, "ZZ");
  EXPECT_EQ(answer->key, "ZZ\n/b~\n");
  EXPECT_EQ(answer->hash, hash64("ZZ\n/b~\n"));
  EXPECT_EQ(answer->bucket, answer->hash >> 50);
  ASSERT_EQ(answer->owners.size(), 3U);
  const auto owner = settings->membership->topology->owner({answer->key, answer->hash});
  EXPECT_EQ(answer->owners[0], settings->membership->topology->members()[owner].name);
  // One form of the URL is as good as another.
  EXPECT_EQ(find_shard(*settings, {}, {}, "/b~")->key, answer->key);
}

TEST(ShardReport, UsesTheRoutesKey) {
  const auto settings = settings_of(
      "routes:\n - name: api\n   host: api.test\n   shard_key: [ip, 'header:x', host, query]\n");
  ShardOptions options;
  options.headers = {{"X", "1"}};
  const auto client = *IpAddress::parse("192.0.2.1");
  const auto answer = find_shard(*settings, options, client, "http://API.test:80/p?q");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->key, "192.0.2.1\n1\napi.test\nq\n");
  const auto none = find_shard(*settings, options, client, "http://other.test/");
  ASSERT_TRUE(none);
  EXPECT_EQ(none->route, "");
  EXPECT_TRUE(none->owners.empty());
}

TEST(ShardReport, TheRoutesQueryRulesGoBeforeItsKey) {
  const auto settings = settings_of(
      "shard_key: path,query\ncache: {query: {sort: true, drop: [utm_*]}}\n"
      "routes:\n - name: a\n   path: /a\n   cache: {query: {}}\n - name: b\n");
  EXPECT_EQ(find_shard(*settings, {}, {}, "/b?z&utm_id=1&c")->key, "/b\nc&z\n");
  EXPECT_EQ(find_shard(*settings, {}, {}, "/a?z&utm_id=1&c")->key, "/a\nz&utm_id=1&c\n");
}

TEST(ShardReport, ShowsTheIdTheFallbackAndWhatIsRefused) {
  const auto settings = settings_of(
      "routes:\n - name: users\n   path: /users/{id}\n   shard_key: 'id:{id}'\n"
      "   key_fallback: country,path\n - name: items\n   path: /items\n   shard_key: id:2\n");
  const auto user = find_shard(*settings, {}, {}, "/users/anna/x");
  ASSERT_TRUE(user) << user.error().message;
  EXPECT_EQ(user->key, "anna\n");
  EXPECT_EQ(user->keyed_by, "id:{id}");
  const auto list = find_shard(*settings, {}, {}, "/users");
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_EQ(list->key, "ZZ\n/users\n");
  EXPECT_EQ(list->keyed_by, "country,path");
  EXPECT_THAT(to_table({*list}), HasSubstr("users (fallback)"));
  EXPECT_TRUE(nlohmann::json::parse(to_json({*list}))[0]["is_fallback"].get<bool>());
  const auto refused = find_shard(*settings, {}, {}, "/items");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("the path has no segment 2, the id:2"));
}

TEST(ShardReport, RefusesWhatIsNoUrl) {
  const auto settings = settings_of("replicas: 2");
  for (const char* const url : {"", "a", "http://", "http://h h/", "/a b", "ftp://h/"}) {
    EXPECT_FALSE(find_shard(*settings, {}, {}, url)) << url;
  }
}

TEST(ShardReport, TableIsAlignedAndJsonIsJson) {
  const auto settings = settings_of("replicas: 2");
  const std::vector<ShardAnswer> answers{*find_shard(*settings, {}, {}, "/a"),
                                         *find_shard(*settings, {}, {}, "/a/longer/path")};
  const std::string table = to_table(answers);
  EXPECT_THAT(table, HasSubstr("  ZZ /a  "));
  std::istringstream lines(table);
  std::string head;
  std::string first;
  std::getline(lines, head);
  std::getline(lines, first);
  EXPECT_EQ(head.find("OWNER"), first.find("cache-"));

  const auto page = nlohmann::json::parse(to_json(answers));
  ASSERT_EQ(page.size(), 2U);
  EXPECT_EQ(page[0]["key"], "ZZ /a");
  EXPECT_EQ(page[0]["hash"].get<std::string>().size(), 16U);
  EXPECT_EQ(page[0]["owners"].size(), 2U);
}

}  // namespace
}  // namespace ringside::program
