#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/cache/some_origin.h"

// What a replica tells a sidecar that it would do.

namespace ringside::cache {
namespace {

using nlohmann::json;
using support::answer;
using support::ScriptedPeer;
using testing::HasSubstr;

constexpr std::string_view sidecars = "Ringside-Topology: t\r\n";

support::Reply ask(SomeReplica& replica, std::string_view target, std::string_view lines = {},
                   std::string_view method = "GET") {
  std::string text = "OPTIONS ";
  text.append(target).append(" HTTP/1.1\r\nHost: a.test\r\nMax-Forwards: 0\r\n");
  text.append("Ringside-Explain: ").append(method).append("\r\n").append(sidecars).append(lines);
  return replica.client().ask(text.append("\r\n"));
}

json explained(SomeReplica& replica, std::string_view target, std::string_view lines = {}) {
  const auto reply = ask(replica, target, lines);
  EXPECT_EQ(reply.status, 200) << reply.body;
  return json::parse(reply.body);
}

support::Reply get(SomeReplica& replica, std::string_view target, std::string_view lines = {}) {
  return replica.get(target, std::string(sidecars).append(lines));
}

TEST(ReplicaExplain, TellsOfAMissAndDoesNothing) {
  const ScriptedPeer origin(support::always(answer("200 OK", lives, "page")));
  SomeReplica replica(origin.address());
  const json told = explained(replica, "/a", "Cookie: a=1\r\nAccept: x\r\n");
  EXPECT_EQ(told["outcome"], "miss");
  EXPECT_EQ(told["cache_status"], "cache-7; fwd=uri-miss");
  EXPECT_TRUE(told["stored"].is_null());
  EXPECT_EQ(told["route"], "all");
  EXPECT_EQ(told["cache_key"], "http a.test /a");
  EXPECT_EQ(told["may_be_stored"], true);
  EXPECT_EQ(told["asks"]["method"], "GET");
  EXPECT_EQ(told["asks"]["target"], "/a");
  EXPECT_EQ(told["asks"]["fields"][1], "Cookie: a=1");
  EXPECT_EQ(replica.store().entries, 0U);
  EXPECT_EQ(get(replica, "/a").field("ringside-outcome"), "miss");
  EXPECT_TRUE(replica.counts(metrics::Outcome::miss, 1));
  EXPECT_EQ(replica.counted(metrics::Outcome::bypass), 0U) << "it is not counted";
}

TEST(ReplicaExplain, TellsWhatDecidesOfWhatIsStored) {
  const ScriptedPeer origin(support::always(
      answer("200 OK", "Cache-Control: max-age=60, stale-while-revalidate=30\r\nETag: \"1\"\r\n",
             "page")));
  SomeReplica replica(origin.address());
  get(replica, "/a");
  replica.settle();
  struct Row {
    Seconds passes;
    std::string_view lines;
    std::string_view outcome;
    std::string_view because;
  };
  for (const Row& row : std::vector<Row>{
           {Seconds{10}, "", "hit", "it is fresh for 50 s more, by max-age of the response"},
           {Seconds{0}, "Cache-Control: no-cache\r\n", "revalidated", "no-cache of the request"},
           {Seconds{0}, "Cache-Control: max-age=9\r\n", "revalidated",
            "max-age=9 of the request: it is 10 s old"},
           {Seconds{0}, "Cache-Control: no-store\r\n", "hit", "by max-age of the response"},
           {Seconds{0}, "If-Match: x\r\n", "bypass", "If-Match"},
           {Seconds{60}, "", "stale", "stale-while-revalidate=30 of the response"},
           {Seconds{20}, "", "revalidated", "it is stale for 30 s"},
           {Seconds{0}, "Cache-Control: max-stale=40\r\n", "stale", "max-stale of the request"},
           {Seconds{0}, "Cache-Control: only-if-cached\r\n", "error", "only-if-cached"}}) {
    pass(replica, row.passes);
    const json told = explained(replica, "/a", row.lines);
    EXPECT_EQ(told["outcome"], row.outcome) << row.lines;
    EXPECT_THAT(told["because"].get<std::string>(), HasSubstr(std::string(row.because)));
    const bool is_validated = row.outcome == "revalidated";
    if (is_validated) {
      EXPECT_EQ(told["asks"]["fields"].back(), "If-None-Match: \"1\"");
    }
    EXPECT_EQ(told["refreshes"], row.because.starts_with("stale-while")) << row.because;
  }
  EXPECT_EQ(replica.counted(metrics::Outcome::miss), 1U);
}

TEST(ReplicaExplain, AMissedPurgeIsNotHeededByIt) {
  const ScriptedPeer origin(support::always(answer("200 OK", lives, "page")));
  SomeReplica replica(origin.address());
  get(replica, "/a");
  replica.settle();
  const json told = explained(replica, "/a", "Ringside-Missed: front 1\r\n");
  EXPECT_EQ(told["outcome"], "miss");
  EXPECT_THAT(told["because"].get<std::string>(), HasSubstr("a purge was missed"));
  EXPECT_EQ(replica.store().entries, 1U);
  EXPECT_EQ(explained(replica, "/a")["outcome"], "hit");
}

TEST(ReplicaExplain, SaysWhyTheLastAnswerWasNotStored) {
  const ScriptedPeer origin(
      support::always(answer("200 OK", "Cache-Control: private\r\n", "page")));
  SomeReplica replica(origin.address());
  get(replica, "/a");
  EXPECT_EQ(explained(replica, "/a")["not_stored_because"],
            "the last answer for it could not be stored: private");
}

TEST(ReplicaExplain, RefusesStrangersAndWhatIsNoGet) {
  const ScriptedPeer origin(support::always(answer("200 OK", lives, "page")));
  SomeReplica replica(origin.address());
  EXPECT_EQ(ask(replica, "/a", {}, "POST").status, 400);
  EXPECT_EQ(ask(replica, "http://a.test/a", {}, "HEAD").status, 200);
  Settings settings = replica.settings();
  settings.insecure_peers = false;
  replica.apply(std::move(settings));
  EXPECT_EQ(ask(replica, "/a").status, 403);
}

}  // namespace
}  // namespace ringside::cache
