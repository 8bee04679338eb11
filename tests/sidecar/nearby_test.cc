#include "sidecar/nearby.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "tests/sidecar/keeping_replica.h"

namespace ringside::sidecar {
namespace {

using metrics::Outcome;
using support::always;
using support::eventually;
using support::Gate;
using support::ScriptedPeer;
using support::Stage;

constexpr Milliseconds second{1'000};

TEST(NearCacheOnTheWay, AnswersAgainUntilItsTimeIsOver) {
  const ScriptedPeer replica(keeping());
  SomeSidecar sidecar({replica.address()}, with_near_cache);
  auto client = sidecar.client();
  EXPECT_EQ(client.get("/a").body, "1");  // asked for once, it is not worth a place
  const auto kept = client.get("/a");
  EXPECT_EQ(kept.body, "2");
  EXPECT_EQ(kept.field("age"), "5");
  EXPECT_EQ(kept.field("cache-status"), "cache-0; hit");
  EXPECT_EQ(kept.head.find("Ringside-"), std::string::npos) << kept.head;

  sidecar.clock().advance(3 * second);
  const auto again = client.get("/a");
  EXPECT_EQ(again.body, "2");
  EXPECT_EQ(again.field("age"), "8");
  EXPECT_EQ(again.field("cache-status"), "cache-0; hit, ringside; hit");
  EXPECT_EQ(again.field("content-length"), "1");
  EXPECT_EQ(again.head.find("Ringside-"), std::string::npos) << again.head;
  EXPECT_EQ(replica.requests(), 2U);
  EXPECT_TRUE(sidecar.will_count(3, Outcome::hit, "cache-0"));
  EXPECT_EQ(sidecar.totals().of("ringside_near_hits_total"), 1U);

  const auto old = client.ask("GET /b/../a HTTP/1.0\r\nHost: A.TEST\r\n\r\n");
  EXPECT_EQ(old.body, "2");
  EXPECT_EQ(old.field("connection"), "close");
  EXPECT_EQ(replica.requests(), 2U);

  sidecar.clock().advance(7 * second);
  EXPECT_EQ(sidecar.get("/a").body, "3");
}

TEST(NearCacheOnTheWay, Rfc9111Section4Point4AnUnsafeMethodMakesItForget) {
  const ScriptedPeer replica(keeping());
  SomeSidecar sidecar({replica.address()}, with_near_cache);
  auto client = sidecar.client();
  for (const auto* path : {"/a", "/b"}) make_frequent(client, path);
  EXPECT_EQ(client.get("/a").body, "3");
  EXPECT_EQ(client.get("/b").body, "4");
  EXPECT_EQ(client.get("/a").body, "3");
  EXPECT_EQ(client.ask(post("/a", "x", "DELETE")).body, "5");
  EXPECT_EQ(client.get("/a").body, "6");
  EXPECT_EQ(client.get("/b").body, "4") << "is another URI";
}

TEST(NearCacheOnTheWay, TheShorterTimeCounts) {
  struct Row {
    std::string replica_ms;
    Milliseconds route;
    Milliseconds kept;
  };
  for (const Row& row : std::vector<Row>{{"2000", 10 * second, 2 * second},
                                         {"60000", 3 * second, 3 * second},
                                         {"60000", Milliseconds{0}, Milliseconds{0}},
                                         {"0", 10 * second, Milliseconds{0}},
                                         {"-5", 10 * second, Milliseconds{0}},
                                         {"5s", 10 * second, Milliseconds{0}},
                                         {"99999999999999999999", 10 * second, Milliseconds{0}}}) {
    const ScriptedPeer replica(keeping(row.replica_ms));
    SomeSidecar sidecar({replica.address()},
                        [&](Settings& settings) { settings.routes[0].near_ttl = row.route; });
    auto client = sidecar.client();
    make_frequent(client);
    EXPECT_EQ(client.get("/a").body, "2");
    if (row.kept.count() > 0) {
      sidecar.clock().advance(row.kept - Milliseconds{1});
      EXPECT_EQ(client.get("/a").body, "2") << row.replica_ms;
      sidecar.clock().advance(Milliseconds{1});
    }
    EXPECT_EQ(client.get("/a").body, "3") << row.replica_ms;
  }
}

TEST(NearCacheOnTheWay, DifferentThingsAreKeptApart) {
  const ScriptedPeer replica(keeping());
  SomeSidecar sidecar({replica.address()}, [](Settings& settings) {
    settings.routes = {route_of("all", "", "/", "path,header:accept-language")};
    settings.trusted = {Network::parse("127.0.0.1/32").value()};
    with_near_cache(settings);
  });
  auto client = sidecar.client();
  const std::vector<std::string> requests = {
      support::get_request("/a"),
      support::get_request("/a?"),
      support::get_request("/a?b"),
      support::get_request("/a", "Accept-Language: de\r\n"),
      support::get_request("/a", "X-Forwarded-Proto: https\r\n"),
      "GET /a HTTP/1.1\r\nHost: b.test\r\n\r\n"};
  for (const auto& request : requests) EXPECT_EQ(client.ask(request).status, 200) << request;
  std::size_t number = requests.size();
  for (int round = 0; round < 2; ++round) {
    number = requests.size();
    for (const auto& request : requests) {
      EXPECT_EQ(client.ask(request).body, std::to_string(++number)) << request;
    }
  }
}

TEST(NearCacheOnTheWay, WhoWantsAFresherAnswerRenewsIt) {
  const ScriptedPeer replica(keeping());
  SomeSidecar sidecar({replica.address()}, with_near_cache);
  auto client = sidecar.client();
  make_frequent(client);
  EXPECT_EQ(client.get("/a").body, "2");
  EXPECT_EQ(client.get("/a", "Cache-Control: no-cache\r\n").body, "3");
  EXPECT_EQ(client.get("/a").body, "3");
  EXPECT_EQ(client.get("/a", "Pragma: no-cache\r\n").body, "4");
  EXPECT_EQ(client.get("/a").body, "4");
  // These leave alone what is kept.
  EXPECT_EQ(client.get("/a", "Cache-Control: no-store\r\n").body, "5");
  EXPECT_EQ(client.get("/a", "Range: bytes=0-0\r\n").body, "6");
  EXPECT_EQ(client.get("/a").body, "4");
}

// What was fetched for somebody who wanted it fresh may not be kept. What is kept is older.
TEST(NearCacheOnTheWay, AnAnswerThatIsNotKeptEndsAnOlderOne) {
  const auto answers = std::make_shared<std::atomic<int>>(0);
  const ScriptedPeer replica([=](Stage& stage) {
    while (true) {
      const std::string number = std::to_string(++*answers);
      const bool wants_fresh = !support::field(stage.read_request(), "cache-control").empty();
      stage.send(hit_of("cache-0", number, wants_fresh ? "" : "Ringside-Near-Ttl-Ms: 10000\r\n"));
    }
  });
  SomeSidecar sidecar({replica.address()}, with_near_cache);
  auto client = sidecar.client();
  make_frequent(client);
  EXPECT_EQ(client.get("/a").body, "2");
  EXPECT_EQ(client.get("/a").body, "2");
  EXPECT_EQ(client.get("/a", "Cache-Control: max-age=0\r\n").body, "3");
  EXPECT_EQ(client.get("/a").body, "4");
}

TEST(NearCacheOnTheWay, VaryKeepsVariantsApart) {
  const ScriptedPeer replica(keeping("10000", "Vary: Accept-Language\r\nVary: x-flavour\r\n"));
  SomeSidecar sidecar({replica.address()}, with_near_cache);
  auto client = sidecar.client();
  make_frequent(client);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(client.get("/a").body, "2");
    EXPECT_EQ(client.get("/a", "Accept-Language: de\r\n").body, "3");
    EXPECT_EQ(client.get("/a", "Accept-Language: fr\r\nX-Flavour: a\r\n").body, "4");
    EXPECT_EQ(client.get("/a", "Accept-Language: DE;q=1.0\r\nX-Other: 1\r\n").body, "3")
        << "says the same as de";
  }
}

// We write these fields for each client: the request as it came does not have what they will say.
TEST(NearCacheOnTheWay, WhatVariesOnFieldsThatWeWriteIsNotKept) {
  for (const std::string vary : {"*", "X-Forwarded-For", "Accept, Forwarded", "X-Forwarded-Proto",
                                 "X-Country", "X-Real-Ip"}) {
    const ScriptedPeer replica(keeping("10000", "Vary: " + vary + "\r\n"));
    SomeSidecar sidecar({replica.address()}, with_near_cache);
    auto client = sidecar.client();
    for (const auto* body : {"1", "2", "3"}) EXPECT_EQ(client.get("/a").body, body) << vary;
  }
}

TEST(NearCacheOnTheWay, WhatIsOneClientsIsNotKept) {
  for (const std::string line : {"Set-Cookie: a=b", "Cache-Control: private",
                                 "Cache-Control: no-store", "Cache-Control: no-cache"}) {
    const ScriptedPeer replica(keeping("10000", line + "\r\n"));
    SomeSidecar sidecar({replica.address()}, with_near_cache);
    auto client = sidecar.client();
    for (const auto* body : {"1", "2", "3"}) EXPECT_EQ(client.get("/a").body, body) << line;
  }
}

TEST(NearCacheOnTheWay, WhoHasTheAnswerIsToldSo) {
  const ScriptedPeer replica(
      keeping("10000",
              "ETag: \"x\"\r\nLast-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
              "Content-Type: text/plain\r\nContent-Location: /c\r\n"));
  SomeSidecar sidecar({replica.address()}, with_near_cache);
  auto client = sidecar.client();
  make_frequent(client);
  EXPECT_EQ(client.get("/a").body, "2");
  sidecar.clock().advance(2 * second);
  for (const std::string condition :
       {"If-None-Match: \"x\"\r\n", "If-None-Match: \"y\", W/\"x\"\r\n",
        "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n"}) {
    const auto answer = client.get("/a", condition);
    EXPECT_EQ(answer.status, 304) << condition;
    EXPECT_EQ(answer.body, "");
    EXPECT_EQ(answer.field("etag"), "\"x\"");
    EXPECT_EQ(answer.field("content-location"), "/c");
    EXPECT_EQ(answer.field("content-type"), "");
    EXPECT_EQ(answer.field("content-length"), "");
    EXPECT_EQ(answer.field("age"), "7");
    EXPECT_EQ(answer.field("cache-status"), "cache-0; hit, ringside; hit");
  }
  EXPECT_EQ(client.get("/a", "If-None-Match: \"y\"\r\n").body, "2");
  EXPECT_EQ(replica.requests(), 2U);
  // The origin's own conditions are not ours to judge.
  EXPECT_EQ(client.get("/a", "If-Match: \"x\"\r\n").body, "3");
}

TEST(NearCacheOnTheWay, LargeAndChunkedAnswersAreNotKept) {
  const std::string kept = "Ringside-Near-Ttl-Ms: 10000\r\n";
  for (const auto& answer :
       {hit_of("cache-0", std::string(limits::near_object_size_bytes + 1, 'x'), kept),
        "HTTP/1.1 200 OK\r\n" + kept + "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"}) {
    const ScriptedPeer replica(always(answer));
    SomeSidecar sidecar({replica.address()}, with_near_cache);
    auto client = sidecar.client();
    for (int i = 0; i < 3; ++i) {
      const auto reply = client.get("/a");
      EXPECT_TRUE(reply.whole);
      EXPECT_EQ(reply.body.find_first_not_of('x'), std::string::npos);
      EXPECT_FALSE(reply.body.empty());
    }
    EXPECT_EQ(replica.requests(), 3U);
  }
}

TEST(NearCacheOnTheWay, TheTimeOfAnAnswerRunsFromItsHead) {
  Gate go_on;
  const ScriptedPeer replica(halting(go_on, "old"));
  SomeSidecar sidecar({replica.address()}, with_near_cache);
  auto client = sidecar.client();
  make_frequent(client);
  client.send(support::get_request("/a"));
  ASSERT_TRUE(eventually([&] { return replica.requests() == 2; }));
  EXPECT_EQ(sidecar.get("/b").body, "new");  // By then the core has read that head.
  sidecar.clock().advance(9 * second);
  go_on.open();
  EXPECT_EQ(client.read().body, "oldold");
  sidecar.clock().advance(second / 2);
  EXPECT_EQ(client.get("/a").field("age"), "9");
  sidecar.clock().advance(second / 2);
  EXPECT_EQ(client.get("/a").body, "new");
}

TEST(NearCacheOnTheWay, HalfAnAnswerIsRefusedCountedAndNotKept) {
  Gate go_on;
  const ScriptedPeer replica(halting(go_on, ""));
  SomeSidecar sidecar({replica.address()}, with_near_cache);
  auto client = sidecar.client();
  make_frequent(client);
  client.send(support::get_request("/a"));
  ASSERT_TRUE(eventually([&] { return replica.requests() == 2; }));
  go_on.open();
  EXPECT_EQ(client.read().status, 502);
  EXPECT_EQ(sidecar.errors(ErrorSource::peer), 1U);
  EXPECT_EQ(client.get("/a").body, "new");
}

}  // namespace
}  // namespace ringside::sidecar
