#include <gtest/gtest.h>

#include <vector>

#include "tests/cache/some_replica.h"

namespace ringside::cache {
namespace {

using metrics::Outcome;
using support::always;
using support::answer;
using support::eventually;
using support::Gate;
using support::get_request;
using support::ScriptedPeer;
using support::Stage;

// Gives its answers in turn, the last one again and again.
ScriptedPeer::Script in_turn(std::vector<std::string> answers) {
  const auto next = std::make_shared<std::atomic<std::size_t>>(0);
  return [answers = std::move(answers), next](Stage& stage) {
    while (true) {
      stage.read_request();
      stage.send(answers[std::min(next->fetch_add(1), answers.size() - 1)]);
    }
  };
}

TEST(ReplicaValidation, AStaleResponseIsConfirmedBy304) {
  ScriptedPeer origin(
      in_turn({answer("200 OK",
                      "Cache-Control: max-age=60\r\nETag: \"1\"\r\nX-New: old\r\nX-Kept: k\r\n"
                      "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n",
                      "hello"),
               "HTTP/1.1 304 Not Modified\r\nCache-Control: max-age=90\r\nETag: \"1\"\r\nX-New: "
               "new\r\n\r\n"}));
  SomeReplica replica(origin.address());
  EXPECT_EQ(replica.get("/").field("x-new"), "old");
  replica.settle();
  replica.clock().advance(Milliseconds{61'000});
  const auto confirmed = replica.get("/", "If-None-Match: \"mine\"\r\nIf-Range: \"mine\"\r\n");
  EXPECT_EQ(confirmed.status, 200);
  EXPECT_EQ(confirmed.body, "hello");
  EXPECT_EQ(confirmed.field("cache-status"), "cache-7; fwd=stale; fwd-status=304; stored; ttl=90");
  EXPECT_EQ(confirmed.field("x-new"), "new");
  EXPECT_EQ(confirmed.field("x-kept"), "k");
  EXPECT_EQ(confirmed.field("age"), "0");
  EXPECT_EQ(support::field(origin.heads().at(1), "if-none-match"), "\"1\"");
  EXPECT_EQ(support::field(origin.heads().at(1), "if-modified-since"),
            "Sun, 06 Nov 1994 08:49:37 GMT");
  replica.clock().advance(Milliseconds{89'000});
  const auto hit = replica.get("/");
  EXPECT_EQ(hit.field("cache-status"), "cache-7; hit; ttl=1");
  EXPECT_EQ(hit.field("x-new"), "new");
  EXPECT_EQ(origin.requests(), 2U);
  EXPECT_TRUE(replica.counts(Outcome::revalidated, 1));
  EXPECT_EQ(replica.store().entries, 1U);
}

TEST(ReplicaValidation, AStaleResponseIsReplacedBy200) {
  ScriptedPeer origin(
      in_turn({answer("200 OK", "Cache-Control: max-age=60\r\nETag: \"1\"\r\n", "one"),
               answer("200 OK", "Cache-Control: max-age=60\r\nETag: \"2\"\r\n", "two!")}));
  SomeReplica replica(origin.address());
  EXPECT_EQ(replica.get("/").body, "one");
  replica.settle();
  replica.clock().advance(Milliseconds{60'000});
  const auto replaced = replica.get("/");
  EXPECT_EQ(replaced.body, "two!");
  EXPECT_EQ(replaced.field("cache-status"), "cache-7; fwd=stale; fwd-status=200; stored");
  replica.settle();
  EXPECT_EQ(replica.get("/").body, "two!");
  EXPECT_EQ(replica.store().entries, 1U);
  EXPECT_EQ(origin.requests(), 2U);
}

TEST(ReplicaValidation, AnErrorOnValidationLeavesWhatIsStored) {
  ScriptedPeer origin(in_turn(
      {answer("200 OK", "Cache-Control: max-age=60\r\nETag: \"1\"\r\n", "one"),
       answer("503 Service Unavailable", "", "down"), "HTTP/1.1 304 Not Modified\r\n\r\n"}));
  SomeReplica replica(origin.address());
  EXPECT_EQ(replica.get("/").body, "one");
  replica.settle();
  replica.clock().advance(Milliseconds{60'000});
  EXPECT_EQ(replica.get("/").status, 503);
  const auto confirmed = replica.get("/");
  EXPECT_EQ(confirmed.body, "one");
  EXPECT_EQ(confirmed.field("cache-status"), "cache-7; fwd=stale; fwd-status=304; stored; ttl=60");
}

TEST(ReplicaValidation, WhatTheOriginTakesBackIsGone) {
  ScriptedPeer origin(
      in_turn({answer("200 OK", "Cache-Control: max-age=60\r\nETag: \"1\"\r\n", "one"),
               answer("200 OK", "Cache-Control: no-store\r\n", "secret"),
               answer("200 OK", lives, "three")}));
  SomeReplica replica(origin.address());
  EXPECT_EQ(replica.get("/").body, "one");
  replica.settle();
  replica.clock().advance(Milliseconds{60'000});
  EXPECT_EQ(replica.get("/").body, "secret");
  EXPECT_EQ(replica.store().entries, 0U);
  EXPECT_EQ(replica.get("/", "Cache-Control: max-stale\r\n").body, "three");
}

TEST(ReplicaValidation, ARequestMayTakeStaleOnesOrAskForFreshOnes) {
  ScriptedPeer origin(
      in_turn({answer("200 OK", "Cache-Control: max-age=60\r\nETag: \"1\"\r\n", "one"),
               "HTTP/1.1 304 Not Modified\r\n\r\n"}));
  SomeReplica replica(origin.address());
  EXPECT_EQ(replica.get("/").body, "one");
  replica.settle();
  replica.clock().advance(Milliseconds{70'000});
  const auto stale = replica.get("/", "Cache-Control: max-stale=10\r\n");
  EXPECT_EQ(stale.field("cache-status"), "cache-7; hit; ttl=-10");
  EXPECT_EQ(stale.field("age"), "70");
  EXPECT_TRUE(replica.counts(Outcome::stale, 1));
  EXPECT_EQ(origin.requests(), 1U);
  EXPECT_EQ(replica.get("/").body, "one");
  EXPECT_EQ(origin.requests(), 2U);
  EXPECT_EQ(replica.get("/", "Cache-Control: no-cache\r\n").field("cache-status"),
            "cache-7; fwd=request; fwd-status=304; stored; ttl=60");
  EXPECT_EQ(origin.requests(), 3U);
}

TEST(ReplicaValidation, ManyAtOnceCostOneValidation) {
  Gate go;
  ScriptedPeer origin([&](Stage& stage) {
    stage.read_request();
    stage.send(answer("200 OK", "Cache-Control: max-age=60\r\nETag: \"1\"\r\n", "one"));
    stage.read_request();
    stage.wait(go);
    stage.send("HTTP/1.1 304 Not Modified\r\n\r\n");
    stage.stall();
  });
  SomeReplica replica(origin.address(), 16 * limits::kMiB, 1);  // one core, so one connection
  EXPECT_EQ(replica.get("/").body, "one");
  replica.settle();
  replica.clock().advance(Milliseconds{60'000});
  std::vector<support::TestClient> waiting;
  for (unsigned index = 0; index < 30; ++index) {
    waiting.push_back(replica.client());
    waiting.back().send(get_request("/"));
  }
  ASSERT_TRUE(eventually([&] { return origin.requests() == 2; }));
  go.open();
  for (auto& client : waiting) EXPECT_EQ(client.read().body, "one");
  EXPECT_EQ(origin.requests(), 2U);
}

TEST(ReplicaValidation, VariantsAreKeptApart) {
  ScriptedPeer origin([](Stage& stage) {
    while (true) {
      const auto language = support::field(stage.read_request(), "accept-language");
      stage.send(
          answer("200 OK", "Cache-Control: max-age=60\r\nVary: Accept-Language\r\n", language));
    }
  });
  SomeReplica replica(origin.address());
  auto client = replica.client();
  const std::string_view german = "Accept-Language: de, en\r\n";
  const std::string_view french = "Accept-Language: fr\r\n";
  EXPECT_EQ(client.get("/", german).body, "de, en");
  replica.settle();
  const auto other = client.get("/", french);
  EXPECT_EQ(other.body, "fr");
  EXPECT_EQ(other.field("cache-status"), "cache-7; fwd=vary-miss; fwd-status=200; stored");
  replica.settle();
  EXPECT_EQ(client.get("/", "accept-language: de\r\nAccept-Language: en\r\n").field("cache-status"),
            "cache-7; hit; ttl=60");
  EXPECT_EQ(client.get("/", french).body, "fr");
  EXPECT_EQ(client.get("/").body, "");
  EXPECT_EQ(origin.requests(), 3U);
}

struct UnstoredRow {
  std::string fields;   // of the answer
  std::string request;  // further field lines
  std::string detail;   // in Cache-Status
};

TEST(ReplicaValidation, WhatMayNotBeStoredIsPassedOn) {
  const std::vector<UnstoredRow> rows{
      {"Cache-Control: no-store\r\n", "", "no-store"},
      {"Cache-Control: max-age=60, private\r\n", "", "private"},
      {"Cache-Control: max-age=60\r\nSet-Cookie: a=b\r\n", "", "set-cookie"},
      {"Cache-Control: max-age=60\r\n", "Authorization: x\r\n", "authorization"},
      {"Cache-Control: max-age=60\r\nVary: *\r\n", "", "vary-any"},
      {"", "", "no-lifetime"},
  };
  for (const UnstoredRow& row : rows) {
    ScriptedPeer origin(always(answer("200 OK", row.fields, "hello")));
    SomeReplica replica(origin.address());
    auto client = replica.client();
    for (unsigned count = 1; count <= 2; ++count) {
      const auto reply = client.get("/", row.request);
      EXPECT_EQ(reply.body, "hello");
      EXPECT_EQ(reply.field("cache-status"),
                "cache-7; fwd=uri-miss; fwd-status=200; detail=" + row.detail);
      EXPECT_EQ(reply.field("set-cookie"), row.detail == "set-cookie" ? "a=b" : "");
      EXPECT_EQ(origin.requests(), count) << row.detail;
    }
    EXPECT_EQ(replica.store().entries, 0U) << row.detail;
    EXPECT_TRUE(eventually([&] { return replica.store().used_bytes == 0; })) << row.detail;
  }
}

// 1. a request finds a stale response; 2. a purge takes it; 3. the origin confirms it.
// RFC 9111 §4.3.4: it took the other tag over, and with it called old bytes new.
TEST(ReplicaValidation, A304WithAnotherStrongTagConfirmsNothing) {
  ScriptedPeer origin(
      in_turn({answer("200 OK", "Cache-Control: max-age=60\r\nETag: \"1\"\r\n", "old"),
               "HTTP/1.1 304 Not Modified\r\nCache-Control: max-age=60\r\nETag: \"2\"\r\n\r\n",
               answer("200 OK", "Cache-Control: max-age=60\r\nETag: \"2\"\r\n", "new")}));
  SomeReplica replica(origin.address());
  EXPECT_EQ(replica.get("/").body, "old");
  replica.settle();
  replica.clock().advance(Milliseconds{61'000});
  EXPECT_EQ(replica.get("/").body, "new");
  EXPECT_EQ(support::field(origin.heads().at(1), "if-none-match"), "\"1\"");
  EXPECT_EQ(support::field(origin.heads().at(2), "if-none-match"), "");
  EXPECT_EQ(replica.store().entries, 0U);  // the next request begins anew
}

TEST(ReplicaValidation, A304DoesNotBringBackWhatAPurgeTook) {
  Gate go;
  ScriptedPeer origin([&](Stage& stage) {
    stage.read_request();
    stage.send(answer("200 OK", "Cache-Control: max-age=60\r\nETag: \"1\"\r\n", "one"));
    stage.read_request();
    stage.wait(go);
    stage.send("HTTP/1.1 304 Not Modified\r\n\r\n");
    stage.stall();
  });
  SomeReplica replica(origin.address());
  EXPECT_EQ(replica.get("/").body, "one");
  replica.settle();
  replica.clock().advance(Milliseconds{60'000});
  auto client = replica.client();
  client.send(get_request("/"));
  ASSERT_TRUE(eventually([&] { return origin.requests() == 2; }));
  EXPECT_EQ(replica->purge({.host = "a.test", .path_and_query = "/"}), 1U);
  go.open();
  EXPECT_EQ(client.read().body, "one");
  EXPECT_EQ(replica.store().entries, 0U);
}

}  // namespace
}  // namespace ringside::cache
