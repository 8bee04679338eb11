#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program/explain_command.h"
#include "program/explain_page.h"

namespace ringside::program {
namespace {

using nlohmann::json;
using sidecar::Explanation;
using testing::HasSubstr;

TEST(ExplainRequest, IsReadAsAClientsIs) {
  const auto asked = parse_explain_request(
      R"({"url": "https://Host.test/a/../b", "ip": "192.0.2.7", "headers": ["A: 1", "A: 2"]})");
  ASSERT_TRUE(asked) << asked.error().message;
  const http::RequestHead& head = asked->request->head();
  EXPECT_EQ(head.method, "GET");
  EXPECT_EQ(head.target, "/b");
  EXPECT_EQ(head.host, "host.test");
  EXPECT_EQ(head.fields.combined("a"), "1, 2");
  EXPECT_EQ(asked->peer.text(), "192.0.2.7");
  EXPECT_EQ(asked->scheme, http::Scheme::https);
}

TEST(ExplainRequest, RefusesWhatIsNone) {
  for (const char* const body :
       {"", "[]", "{}", R"({"url": 1})", R"({"url": "/a"})", R"({"url": "http://a/", "x": ""})",
        R"({"url": "http://a/", "method": "POST"})", R"({"url": "http://a/", "ip": "a"})",
        R"({"url": "http://a/", "headers": "A: 1"})", R"({"url": "http://a/", "headers": [1]})",
        R"({"url": "http://a/", "headers": ["A"]})",
        R"({"url": "http://a/", "headers": ["Host: b"]})",
        R"({"url": "http://a/", "headers": ["A: b\r\nC: d"]})",
        R"({"url": "http://a/", "headers": ["Content-Length: 2"]})",
        R"({"url": "http://a/", "headers": ["Transfer-Encoding: chunked"]})",
        R"({"url": "http://a/", "headers": ["Upgrade: websocket"]})"}) {
    EXPECT_FALSE(parse_explain_request(body)) << body;
  }
}

Explanation some_explanation() {
  Explanation told;
  told.client = told.peer = *IpAddress::parse("81.2.69.160");
  told.country = geo::Country::from("GB");
  told.country_prefix_bits = 96 + 18;
  told.host = "a.test";
  told.target = "/a";
  told.route = "all";
  told.keyed_by = "country,path";
  told.shard_key = "GB\n/a\n";
  told.owners = {{"cache-0"}, {"cache-1", sidecar::HealthWatch::Standing::ejected}};
  told.near.cores = 2;
  told.answered_by = "cache-0";
  told.replica_status = 200;
  told.replica_page = R"({"name": "cache-0", "route": "all", "cache_key": "http a.test /a",
    "outcome": "hit", "cache_status": "cache-0; hit; ttl=5", "because": "it is fresh",
    "stored": {"status": 200, "fresh": true, "age_s": 3, "left_s": 5,
               "lifetime_by": "max-age of the response", "whole": true},
    "refreshes": false, "may_be_stored": true, "not_stored_because": null, "asks": null})";
  return told;
}

json verdict_of(const Explanation& told) { return json::parse(to_json(told))["verdict"]; }

TEST(ExplainPage, TheVerdictIsTheReplicas) {
  const json verdict = verdict_of(some_explanation());
  EXPECT_EQ(verdict["outcome"], "hit");
  EXPECT_EQ(verdict["by"], "cache-0");
  EXPECT_EQ(verdict["age_s"], 3);
  EXPECT_EQ(verdict["asks_origin"], false);
}

TEST(ExplainPage, ElseItIsTheSidecars) {
  Explanation near = some_explanation();
  near.near.holders = 1;
  EXPECT_EQ(verdict_of(near)["by"], "cache-0") << "another core would ask";
  near.near.holders = 2;
  EXPECT_EQ(verdict_of(near)["by"], "ringside");
  EXPECT_EQ(verdict_of(near)["outcome"], "hit");

  Explanation failed = some_explanation();
  failed.failure = Error{ErrorKind::not_found, ErrorSource::ourselves, Retry::no, "no route"};
  EXPECT_EQ(verdict_of(failed)["outcome"], "error");
  EXPECT_EQ(verdict_of(failed)["status"], 404);
  EXPECT_EQ(verdict_of(failed)["because"], "no route");

  Explanation alone = some_explanation();
  alone.asks_origin = true;
  EXPECT_EQ(verdict_of(alone)["outcome"], "miss");
  EXPECT_EQ(verdict_of(alone)["asks_origin"], true);

  Explanation older = some_explanation();
  older.replica_page.clear();
  EXPECT_EQ(verdict_of(older)["outcome"], "error");
  EXPECT_THAT(verdict_of(older)["because"].get<std::string>(), HasSubstr("same release"));

  Explanation refused = some_explanation();
  refused.replica_status = 404;
  refused.replica_detail = "no route for it";
  EXPECT_EQ(verdict_of(refused)["status"], 404);
}

TEST(ExplainCommand, TellsPeopleInLines) {
  const auto lines = explain_lines(to_json(some_explanation()));
  ASSERT_TRUE(lines) << lines.error().message;
  EXPECT_EQ(*lines,
            "url        http://a.test/a\n"
            "client     81.2.69.160\n"
            "country    GB, by the first 18 bits of the address in the database\n"
            "route      all\n"
            "key        country,path: GB /a\n"
            "bucket     0 of scheme , topology version 0\n"
            "owner      cache-0, then cache-1 (ejected)\n"
            "replica    cache-0\n"
            "cache key  http a.test /a\n"
            "stored     200, 3 s old, fresh for 5 s by max-age of the response\n"
            "verdict    hit by cache-0: it is fresh\n"
            "           Cache-Status: cache-0; hit; ttl=5\n"
            "origin     not asked\n");
  EXPECT_FALSE(explain_lines("{}"));
  EXPECT_FALSE(explain_lines("no JSON"));
}

}  // namespace
}  // namespace ringside::program
