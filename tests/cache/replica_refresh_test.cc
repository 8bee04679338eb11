#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "tests/cache/some_origin.h"

namespace ringside::cache {
namespace {

using metrics::Outcome;
using support::answer;
using support::eventually;
using support::Gate;
using support::get_request;
using support::Reply;
using support::ScriptedPeer;
using support::Stage;
using support::TestClient;
using testing::StartsWith;

std::string body_with(std::string_view cache_control, std::string_view body) {
  return answer("200 OK", "ETag: \"1\"\r\nCache-Control: " + std::string(cache_control) + "\r\n",
                body);
}

constexpr std::string_view revalidates = "max-age=60, stale-while-revalidate=30";

// Something stored that has been stale for 10 of its 30 seconds.
void make_stale(SomeReplica& replica) {
  EXPECT_EQ(replica.get("/").body, "one");
  replica.settle();
  pass(replica, Seconds{70});
}

// Waits until a refresh has asked the origin and what it brought is where it belongs.
void await_refresh(SomeReplica& replica, const ScriptedPeer& origin, std::size_t requests) {
  ASSERT_TRUE(eventually([&] { return origin.requests() >= requests; }));
  replica.settle();
}

TEST(ReplicaRefresh, Rfc5861Section3AStaleOneIsGivenAtOnceToAllAndRefreshedOnce) {
  const std::string new_one = body_with(revalidates, "two");
  for (const std::string& refreshed : {std::string(not_modified), new_one}) {
    Gate go;
    ScriptedPeer origin(answers_then(body_with(revalidates, "one"), refreshed, go));
    SomeReplica replica(origin.address());
    make_stale(replica);
    std::vector<TestClient> clients;
    for (unsigned index = 0; index < 50; ++index) {
      clients.push_back(replica.client());
      clients.back().send(get_request("/", "Ringside-Topology: t\r\n"));
    }
    for (TestClient& client : clients) {  // while the origin says nothing
      const Reply reply = client.read();
      EXPECT_EQ(reply.body, "one");
      EXPECT_EQ(reply.field("cache-status"), "cache-7; hit; ttl=-10");
      EXPECT_EQ(reply.field("age"), "70");
      EXPECT_EQ(reply.field("ringside-outcome"), "stale");
      EXPECT_EQ(reply.field("ringside-near-ttl-ms"), "");
    }
    ASSERT_TRUE(eventually([&] { return origin.requests() == 2; }));
    EXPECT_EQ(support::field(origin.heads().at(1), "if-none-match"), "\"1\"");
    EXPECT_EQ(replica.store().flights, 1U);
    go.open();
    replica.settle();
    const Reply next = replica.get("/");
    EXPECT_EQ(next.body, refreshed == new_one ? "two" : "one");
    EXPECT_EQ(next.field("cache-status"), "cache-7; hit; ttl=60");
    EXPECT_EQ(next.field("age"), "0");
    EXPECT_EQ(origin.requests(), 2U);
    EXPECT_TRUE(replica.counts(Outcome::stale, 50));
    EXPECT_TRUE(replica.counts(Outcome::hit, 1));
  }
}

// The client's Range and conditions are its own.
TEST(ReplicaRefresh, Rfc5861Section3TheWholeIsFetchedWhateverTheClientAskedFor) {
  Gate go;
  go.open();
  ScriptedPeer origin(
      answers_then(body_with(revalidates, "one"), body_with(revalidates, "two"), go));
  SomeReplica replica(origin.address());
  make_stale(replica);
  const Reply part = replica.get("/", "Range: bytes=1-1\r\nX-Kept: k\r\n");
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "n");
  await_refresh(replica, origin, 2);
  const std::string head = origin.heads().at(1);
  EXPECT_EQ(support::field(head, "range"), "");
  EXPECT_EQ(support::field(head, "if-none-match"), "\"1\"");
  EXPECT_EQ(support::field(head, "x-kept"), "k");
  EXPECT_EQ(support::field(head, "host"), "a.test");
  EXPECT_EQ(replica.get("/").body, "two");
  pass(replica, Seconds{70});
  EXPECT_EQ(replica.get("/", "If-None-Match: \"1\"\r\n").status, 304);
  await_refresh(replica, origin, 3);
  EXPECT_EQ(replica.get("/").field("cache-status"), "cache-7; hit; ttl=60");
}

TEST(ReplicaRefresh, Rfc5861Section3WhereItFailsTheStaleOneIsGivenWithinItsWindow) {
  for (const std::string& failure : {std::string(closes), answer("503 No", "", "failed")}) {
    ScriptedPeer origin(answers_in_turn({body_with(revalidates, "one"), failure}));
    SomeReplica replica(origin.address());
    make_stale(replica);
    for (std::size_t staleness = 10; staleness < 30; staleness += 19) {
      const std::size_t before = origin.requests();
      const Reply reply = replica.get("/");
      EXPECT_EQ(reply.body, "one");
      EXPECT_EQ(reply.field("cache-status"), "cache-7; hit; ttl=-" + std::to_string(staleness));
      await_refresh(replica, origin, before + 1);
      pass(replica, Seconds{19});
    }
    // From here on somebody waits for the origin.
    const Reply late = replica.get("/");
    EXPECT_THAT(late.field("cache-status"), StartsWith("cache-7; fwd=stale"));
    EXPECT_EQ(late.status, failure == closes ? 200 : 503);
  }
}

struct TakenBackRow {
  std::string refreshed;
  std::string then;  // what the next request gets
  std::string cache_status;
};

TEST(ReplicaRefresh, Rfc5861Section3WhatTheOriginSaysNowIsGivenFromThenOn) {
  const std::vector<TakenBackRow> rows{
      {answer("200 OK", "Cache-Control: no-store\r\n", "own"), "own",
       "cache-7; fwd=uri-miss; fwd-status=200; detail=no-store"},
      {answer("404 Not Found", "", "gone"), "gone",
       "cache-7; fwd=uri-miss; fwd-status=404; detail=no-lifetime"},
      {answer("404 Not Found", lives, "gone"), "gone", "cache-7; hit; ttl=60"},
      {answer("500 Internal Server Error", "", "down"), "one", "cache-7; hit; ttl=-10"},
      {answer("200 OK", "Cache-Control: max-age=60\r\nSet-Cookie: a=b\r\n", "own"), "own",
       "cache-7; fwd=uri-miss; fwd-status=200; detail=set-cookie"},
  };
  for (const TakenBackRow& row : rows) {
    ScriptedPeer origin(answers_in_turn({body_with(revalidates, "one"), row.refreshed}));
    SomeReplica replica(origin.address());
    make_stale(replica);
    EXPECT_EQ(replica.get("/").body, "one");
    await_refresh(replica, origin, 2);
    const Reply next = replica.get("/");
    EXPECT_EQ(next.body, row.then);
    EXPECT_EQ(next.field("cache-status"), row.cache_status);
  }
}

struct ForbiddenRow {
  std::string cache_control;
  std::string request;
};

TEST(ReplicaRefresh, Rfc5861Section3WhatForbidsStaleOnesIsHeeded) {
  const std::string base(revalidates);
  const std::vector<ForbiddenRow> rows{
      {base + ", must-revalidate", ""},
      {base + ", proxy-revalidate", ""},
      {base + ", s-maxage=60", ""},
      {base + ", no-cache", ""},
      {base, "Cache-Control: no-cache\r\n"},
      {base, "Pragma: no-cache\r\n"},
      {base, "Cache-Control: max-age=1000\r\n"},
      {base, "Cache-Control: max-age=65\r\n"},
      {base, "Cache-Control: min-fresh=0\r\n"},
      {base, "Cache-Control: max-stale=9\r\n"},
  };
  for (const ForbiddenRow& row : rows) {
    ScriptedPeer origin(answers_in_turn(
        {body_with(row.cache_control, "one"), body_with(row.cache_control, "two")}));
    SomeReplica replica(origin.address());
    make_stale(replica);
    const Reply reply = replica.get("/", row.request);
    EXPECT_EQ(reply.body, "two") << row.cache_control << row.request;
    EXPECT_THAT(reply.field("cache-status"), StartsWith("cache-7; fwd="));
    EXPECT_EQ(origin.requests(), 2U);
  }
}

TEST(ReplicaRefresh, Rfc9111Section5_2_1_2MaxStaleAllowsItWithinBoth) {
  ScriptedPeer origin(answers_in_turn({body_with(revalidates, "one"), std::string(not_modified)}));
  SomeReplica replica(origin.address());
  make_stale(replica);
  EXPECT_EQ(replica.get("/", "Cache-Control: max-stale=10\r\n").field("cache-status"),
            "cache-7; hit; ttl=-10");
  await_refresh(replica, origin, 2);
  EXPECT_EQ(replica.get("/").field("cache-status"), "cache-7; hit; ttl=60");
}

TEST(ReplicaRefresh, TheRoutesWindowCountsWhereTheResponseNamesNone) {
  ScriptedPeer origin(answers_in_turn({body_with("max-age=60", "one"), std::string(not_modified)}));
  SomeReplica replica(origin.address());
  Rules rules;
  rules.stale_while_revalidate = Seconds{11};
  set_rules(replica, rules);
  make_stale(replica);
  EXPECT_EQ(replica.get("/").field("cache-status"), "cache-7; hit; ttl=-10");
  await_refresh(replica, origin, 2);
  pass(replica, Seconds{71});
  EXPECT_EQ(replica.get("/").field("cache-status"),
            "cache-7; fwd=stale; fwd-status=304; stored; ttl=60");
}

TEST(ReplicaRefresh, NoMoreAreInTheAirThanMayBe) {
  constexpr std::size_t most = limits::background_refreshes;
  Gate go;
  std::atomic<std::size_t> first{0};
  ScriptedPeer origin([&](Stage& stage) {
    while (true) {
      stage.read_request();
      if (first.fetch_add(1) > most) stage.wait(go);
      stage.send(body_with(revalidates, "one"));
    }
  });
  SomeReplica replica(origin.address(), 16 * limits::kMiB, 1);
  auto settings = replica.settings();
  settings.origin_connections = 2 * most;
  replica.apply(settings);
  auto client = replica.client();
  const auto target = [](std::size_t number) { return "/" + std::to_string(number); };
  for (std::size_t number = 0; number <= most; ++number) {
    EXPECT_EQ(client.get(target(number)).body, "one");
  }
  replica.settle();
  pass(replica, Seconds{70});
  for (std::size_t number = 0; number <= most; ++number) {
    EXPECT_EQ(client.get(target(number)).field("cache-status"), "cache-7; hit; ttl=-10");
  }
  let_core_catch_up(replica);
  EXPECT_EQ(replica.store().flights, most);
  ASSERT_TRUE(eventually([&] { return origin.requests() == 2 * most + 1; }));
  go.open();
  replica.settle();
  EXPECT_EQ(client.get(target(most)).field("cache-status"), "cache-7; hit; ttl=-10");
  await_refresh(replica, origin, 2 * most + 2);
  EXPECT_EQ(client.get(target(most)).field("cache-status"), "cache-7; hit; ttl=60");
}

TEST(ReplicaRefresh, IsNotBegunWhileDraining) {
  ScriptedPeer origin(answers_in_turn({body_with(revalidates, "one")}));
  SomeReplica replica(origin.address(), 16 * limits::kMiB, 1);
  make_stale(replica);
  auto client = replica.client();
  client.send("GET / HTTP/1.1\r\nHost: a.t");
  let_core_catch_up(replica);
  replica->drain();
  client.send("est\r\n\r\n");
  EXPECT_EQ(client.read().field("cache-status"), "cache-7; hit; ttl=-10");
  client.socket().close();
  ASSERT_TRUE(eventually([&] { return replica->open_connections() == 0; }));
  EXPECT_EQ(replica.store().flights, 0U);
  EXPECT_EQ(origin.requests(), 1U);
}

// When a key that is asked for each second is refreshed, in seconds since it was stored.
int second_of_refresh(std::string_view target, std::string_view cache_control) {
  Gate go;
  ScriptedPeer origin(
      answers_then(body_with(cache_control, "one"), body_with(cache_control, "two"), go));
  SomeReplica replica(origin.address(), 16 * limits::kMiB, 1);
  auto settings = replica.settings();
  settings.routes.front().rules.early_refresh_percent = 50;
  settings.first_byte_timeout = settings.request_deadline = Milliseconds{1'000'000};
  replica.apply(settings);
  EXPECT_EQ(replica.get(target).body, "one");
  replica.settle();
  int began = 0;
  for (int second = 1; second < 100; ++second) {
    pass(replica, Seconds{1});
    const Reply hit = replica.get(target);
    EXPECT_EQ(hit.body, "one");
    EXPECT_EQ(hit.field("cache-status"), "cache-7; hit; ttl=" + std::to_string(100 - second));
    let_core_catch_up(replica);
    if (began == 0 && replica.store().flights == 1) began = second;
  }
  EXPECT_EQ(replica.store().flights, began == 0 ? 0U : 1U);
  const std::size_t expected = began == 0 ? 1 : 2;  // however many came
  EXPECT_TRUE(eventually([&] { return origin.requests() >= expected; }));
  EXPECT_EQ(origin.requests(), expected);
  go.open();
  replica.settle();
  if (began > 0) {
    EXPECT_EQ(replica.get(target).body, "two");
    // RFC 9111 §4.2.3: its age counts from when it was asked for.
    EXPECT_EQ(replica.get(target).field("cache-status"),
              "cache-7; hit; ttl=" + std::to_string(1 + began));
  }
  return began;
}

TEST(ReplicaRefresh, AFreshOneNearItsEndIsRefreshedOnceAndEachKeyAtItsOwnTime) {
  std::set<int> seconds;
  // Of keys whose time is a second that is looked at, and not between the last one and the end.
  for (const auto* target : {"/e", "/f", "/g", "/h"}) {
    const int second = second_of_refresh(target, "max-age=100");
    EXPECT_GE(second, 50);
    EXPECT_LE(second, 99);
    seconds.insert(second);
  }
  EXPECT_GT(seconds.size(), 1U);
}

TEST(ReplicaRefresh, Rfc8246WhatIsImmutableIsNeverRefreshedEarly) {
  EXPECT_EQ(second_of_refresh("/a", "max-age=100, immutable"), 0);
}

}  // namespace
}  // namespace ringside::cache
