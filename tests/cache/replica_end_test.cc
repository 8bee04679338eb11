#include <gtest/gtest.h>

#include <future>
#include <vector>

#include "cache/holders.h"
#include "http1/wire.h"
#include "tests/cache/some_replica.h"

namespace ringside::cache {
namespace {

using metrics::Outcome;
using support::always;
using support::answer;
using support::eventually;
using support::Gate;
using support::get_request;
using support::RawSocket;
using support::Reply;
using support::ScriptedPeer;
using support::Stage;

std::string purge_request(std::string_view target) {
  return "PURGE " + std::string(target) + " HTTP/1.1\r\nHost: a.test\r\n\r\n";
}

TEST(ReplicaPurge, RemovesAUriWithAllItsKeysAndVariants) {
  ScriptedPeer origin(
      always(answer("200 OK", "Cache-Control: max-age=60\r\nVary: Accept\r\n", "hello")));
  SomeReplica replica(origin.address());
  auto client = replica.client();
  for (const auto* fields :
       {"", "Accept: a\r\n", "Ringside-Topology: t\r\nRingside-Extra-Key: DE\r\n",
        "Ringside-Topology: t\r\nRingside-Extra-Key: FR\r\n",
        "Ringside-Topology: t\r\nRingside-Extra-Key: FR\r\nRingside-Scheme: https\r\n"}) {
    EXPECT_EQ(client.get("/a", fields).status, 200);
  }
  EXPECT_EQ(client.get("/ab").status, 200);
  EXPECT_EQ(client.get("/a?b").status, 200);
  replica.settle();
  EXPECT_EQ(replica.store().entries, 7U);
  const Reply purged = client.ask(purge_request("/b/../a"));
  EXPECT_EQ(purged.status, 200);
  EXPECT_EQ(purged.body, "purged 5 stored responses\n");
  EXPECT_EQ(replica.store().entries, 2U);
  EXPECT_EQ(client.get("/a").field("cache-status"),
            "cache-7; fwd=uri-miss; fwd-status=200; stored");
  replica.settle();
  EXPECT_EQ(replica->purge({.host = "a.test", .path_and_query = "/a?b"}), 1U);
  EXPECT_EQ(replica->purge(http::PurgeTarget::all()), 2U);
  EXPECT_TRUE(eventually([&] { return replica.store().used_bytes == 0; }));
}

// `POST /purge` looked for the URI as it was written, which is not where its answers are.
TEST(ReplicaPurge, ByAnAdminFindsWhatTheRulesMadeOfTheQuery) {
  ScriptedPeer origin(always(answer("200 OK", lives, "hello")));
  SomeReplica replica(origin.address());
  auto settings = replica.settings();
  settings.routes[0].rules.query.sort = true;
  settings.routes[0].rules.query.drop = {"utm_*"};
  replica.apply(settings);
  EXPECT_EQ(replica.get("/a?b=1&a=2&utm_source=x").status, 200);
  replica.settle();
  EXPECT_EQ(replica->purge({.host = "a.test", .path_and_query = "/a?utm_medium=y&b=1&a=2"}), 1U);
  EXPECT_EQ(replica->purge({.host = "a.test", .path_and_query = "/a?a=2&b=1"}), 0U);
}

// The name in Cache-Status lay in what new settings replace; a short one did not show it.
TEST(ReplicaSettings, NewOnesFreedTheNameThatARequestInFlightWasToTell) {
  Gate go_on;
  ScriptedPeer origin([&](Stage& stage) {
    stage.read_request();
    stage.wait(go_on);
    stage.send(answer("200 OK", lives, "hello"));
  });
  SomeReplica replica(origin.address(), 16 * limits::kMiB, 1, "a-replica-with-a-long-name-7");
  auto reply = std::async(std::launch::async, [&] { return replica.get("/"); });
  ASSERT_TRUE(eventually([&] { return origin.requests() == 1; }));
  for (const auto* name : {"one-name-in-via-that-is-long", "another-name-in-via-that-is-long"}) {
    auto settings = replica.settings();
    settings.via_name = name;
    replica.apply(settings);
  }
  go_on.open();
  EXPECT_EQ(reply.get().field("cache-status"),
            "a-replica-with-a-long-name-7; fwd=uri-miss; fwd-status=200; stored");
}

TEST(ReplicaPurge, IsForThoseWhoMay) {
  ScriptedPeer origin(always(answer("200 OK", lives, "hello")));
  SomeReplica replica(origin.address());
  auto strict = replica.settings();
  strict.purge_from = {Network::parse("10.0.0.0/8").value()};
  replica.apply(strict);
  EXPECT_EQ(replica.get("/").status, 200);
  replica.settle();
  EXPECT_EQ(replica.client().ask(purge_request("/")).status, 403);
  EXPECT_EQ(replica.store().entries, 1U);
  EXPECT_EQ(origin.requests(), 1U);
}

TEST(ReplicaPurge, IsNotUndoneByAFlightInProgress) {
  Gate rest;
  ScriptedPeer origin([&](Stage& stage) {
    stage.read_request();
    stage.send(
        "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 6\r\n"
        "Connection: close\r\n\r\n");
    stage.send(stage.connection() == 0 ? "old" : "new");
    if (stage.connection() == 0) stage.wait(rest);
    stage.send("...");
    stage.stall();
  });
  SomeReplica replica(origin.address());
  auto before = replica.client();
  before.send(get_request("/"));
  before.read_until("old");
  EXPECT_EQ(replica.client().ask(purge_request("/")).body, "purged 0 stored responses\n");
  // Who asks after the purge does not get what was fetched before it.
  EXPECT_EQ(replica.get("/").body, "new...");
  rest.open();
  EXPECT_EQ(before.read_until("..."), "...");
  ASSERT_TRUE(replica.counts(Outcome::miss, 2));
  const Reply now = replica.get("/");
  EXPECT_EQ(now.body, "new...");
  EXPECT_EQ(now.field("cache-status"), "cache-7; hit; ttl=60");
}

TEST(ReplicaDrain, ClosesIdleConnectionsAndFinishesAnswers) {
  Gate go;
  ScriptedPeer origin([&](Stage& stage) {
    stage.read_request();
    stage.wait(go);
    stage.send(answer("200 OK", lives, "hello"));
    stage.stall();
  });
  SomeReplica replica(origin.address());
  auto idle = replica.client();
  auto asking = replica.client();
  asking.send(get_request("/"));
  ASSERT_TRUE(
      eventually([&] { return origin.requests() == 1 && replica->open_connections() == 2; }));
  replica->drain();
  EXPECT_EQ(idle.read_to_end(), RawSocket::End::closed);
  go.open();
  const Reply last = asking.read();
  EXPECT_EQ(last.body, "hello");
  EXPECT_EQ(last.field("connection"), "close");
  asking.socket().close();
  EXPECT_TRUE(eventually([&] { return replica->open_connections() == 0; }));
}

// The answer's head had gone out, without `Connection: close`, before the drain.
TEST(ReplicaDrain, EndsConnectionsWhoseAnswerHadBegun) {
  Gate rest;
  ScriptedPeer origin([&](Stage& stage) {
    stage.read_request();
    stage.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 6\r\n\r\nabc");
    stage.wait(rest);
    stage.send("def");
    stage.stall();
  });
  SomeReplica replica(origin.address());
  auto client = replica.client();
  client.send(get_request("/"));
  client.read_until("abc");
  replica->drain();
  rest.open();
  EXPECT_EQ(client.read_until("def"), "def");
  EXPECT_EQ(client.read_to_end(), RawSocket::End::closed);
  EXPECT_TRUE(eventually([&] { return replica->open_connections() == 0; }));
}

TEST(ReplicaDrain, RefusesNewConnections) {
  SomeReplica replica(support::refusing_address());
  const Endpoint address = replica->address();
  replica->drain();
  // The port is free again: somebody else may have it.
  EXPECT_TRUE(eventually([&] { return replica->open_connections() == 0; }));
  Replica::Start start;
  start.name = "cache-8";
  start.setup.wire = &http::wire();
  start.setup.listen = address;
  start.settings = replica->settings();
  EXPECT_TRUE(Replica::start(std::move(start), replica.clock()));
}

TEST(ReplicaStop, EndsPromptlyWhateverHangs) {
  ScriptedPeer origin([](Stage& stage) {
    const auto request = stage.read_head();
    if (request.starts_with("GET /head")) stage.stall();
    stage.send("HTTP/1.1 200 OK\r\nCache-Control: " +
               std::string(request.starts_with("GET /kept") ? "max-age=60" : "no-store") +
               "\r\nContent-Length: 10\r\n\r\nhello");
    stage.stall();
  });
  auto replica = std::make_unique<SomeReplica>(origin.address());
  std::vector<support::TestClient> clients;
  const auto begin = [&](std::string_view bytes) {
    clients.push_back(replica->client());
    clients.back().send(bytes);
  };
  for (unsigned count = 0; count < 8; ++count) {
    begin(get_request("/head"));  // a leader, and followers on both cores
    begin(get_request("/kept"));
    clients.back().read_until("hello");
    begin(get_request("/relayed/" + std::to_string(count)));
    clients.back().read_until("hello");
    begin("POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 10\r\n\r\nhel");
    begin("GET / HT");
    begin("");
  }
  ASSERT_TRUE(eventually([&] { return origin.requests() >= 8 + 2 + 8; }));
  // As time stands still, no deadline ends any of it.
  auto stopped = std::async(std::launch::async, [&] { replica.reset(); });
  ASSERT_EQ(stopped.wait_for(support::patience), std::future_status::ready);
  for (auto& client : clients) EXPECT_NE(client.read_to_end(), RawSocket::End::timeout);
}

// The time of a core that stops stands still, and the fill waited for it to pass.
TEST(ReplicaStop, EndsAFillThatAwaitsTheNumberOfAPurge) {
  const ScriptedPeer origin(always(answer("200 OK", lives, "hello")));
  const ScriptedPeer holder(
      always(answer("200 OK", "Ringside-Holdings: 7 1\r\n", "7 1\n0 16383 1\n")));
  auto replica = std::make_unique<SomeReplica>(origin.address());
  Settings settings = replica->settings();
  settings.membership = tier::make_membership({{{"cache-7", 1, ""}, {"127.0.0.1", 1}},
                                               {{"cache-8", 1, ""}, holder.address()}},
                                              "ring", 1)
                            .value();
  replica->apply(settings);
  const std::string_view by_sidecar =
      "Ringside-Topology: t\r\nRingside-Bucket: 5\r\nRingside-Instead-Of: cache-9\r\n";
  ASSERT_TRUE(eventually([&] { return (*replica)->holders().unheard() == 0; }));
  auto client = replica->client();
  // The sidecar tells the number of what this makes invalid, or would.
  const std::string post = "POST /1 HTTP/1.1\r\nHost: a.test\r\n" + std::string(by_sidecar) +
                           "Content-Length: 0\r\n\r\n";
  EXPECT_EQ(client.ask(post).status, 200);
  client.send(get_request("/2", by_sidecar));
  ASSERT_TRUE(eventually([&] { return replica->store().flights == 1; }));
  auto stopped = std::async(std::launch::async, [&] { replica.reset(); });
  EXPECT_EQ(stopped.wait_for(support::patience), std::future_status::ready);
}

TEST(ReplicaStop, AddressInUseIsToldWithItsRemedy) {
  SomeReplica first(support::refusing_address());
  Replica::Start start;
  start.name = "cache-8";
  start.setup.wire = &http::wire();
  start.setup.listen = first->address();
  start.setup.cores = 2;
  start.settings = first->settings();
  const auto second = Replica::start(std::move(start), first.clock());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::invalid_input);
  EXPECT_NE(second.error().message.find(first->address().text()), std::string::npos);
}

TEST(ReplicaEnd, AConnectionEndsAfterItsMostRequests) {
  const ScriptedPeer origin([](Stage& stage) {
    stage.read_request();
    stage.send(answer("200 OK", "Cache-Control: max-age=60\r\n", "page"));
    stage.stall();
  });
  SomeReplica replica(origin.address());
  Settings settings = replica.settings();
  settings.requests_per_connection = 3;
  replica.apply(std::move(settings));
  auto client = replica.client();
  EXPECT_EQ(client.get("/p").field("connection"), "");
  EXPECT_EQ(client.get("/p").field("connection"), "");
  EXPECT_EQ(client.get("/p").field("connection"), "close");
  EXPECT_EQ(client.read_to_end(), RawSocket::End::closed);
}

}  // namespace
}  // namespace ringside::cache
