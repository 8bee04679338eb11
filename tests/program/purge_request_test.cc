#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/process.h"

namespace ringside::program {
namespace {

using Scope = http::PurgeTarget::Scope;

TEST(PurgeRequest, NormalisesAsRequestsAre) {
  const auto target = parse_purge_request(R"({"url": "http://Host.test:80/a/../b%7e?q=%2f"})");
  ASSERT_TRUE(target) << target.error().message;
  EXPECT_EQ(target->scope, Scope::uri);
  EXPECT_EQ(target->host, "host.test");
  EXPECT_EQ(target->path_and_query, "/b~?q=%2F");
  EXPECT_EQ(parse_purge_request(R"({"all": true})")->scope, Scope::everything);
  const auto below = parse_purge_request(R"({"prefix": "http://Host.test:80/a/../films"})");
  ASSERT_TRUE(below) << below.error().message;
  EXPECT_EQ(below->scope, Scope::below);
  EXPECT_EQ(below->host, "host.test");
  EXPECT_EQ(below->path_and_query, "/films");
}

// Nothing but a plain wish may empty a store.
TEST(PurgeRequest, RefusesEverythingElse) {
  for (const char* const body : {"",
                                 "{}",
                                 "[]",
                                 "true",
                                 R"({"all": false})",
                                 R"({"all": "true"})",
                                 R"({"all": 1})",
                                 R"({"all": true, "url": "http://h/"})",
                                 R"({"url": 1})",
                                 R"({"url": ""})",
                                 R"({"url": "/only/a/path"})",
                                 R"({"prefix": "/a"})",
                                 R"({"prefix": "http://h/."})",
                                 R"({"prefix": "http://h/docs/.."})",
                                 R"({"prefix": "http://h/a/%2e%2E"})",
                                 R"({"prefix": "http://h/a?b"})",
                                 R"({"prefix": "http://h/a", "all": true})",
                                 R"({"url": "http:///x"})",
                                 R"({"uri": "http://h/"})",
                                 R"({"url": "http://h/a", "url": "http://h/b"})"}) {
    EXPECT_FALSE(parse_purge_request(body)) << body;
  }
}

}  // namespace
}  // namespace ringside::program
