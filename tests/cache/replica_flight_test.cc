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
using support::Reply;
using support::ScriptedPeer;
using support::Stage;
using support::TestClient;

// The head and the first half of a body of 200,000 bytes, then, once the gate opens, the rest.
struct InTwoHalves {
  std::string body = std::string(100'000, 'a') + std::string(99'997, 'b') + "end";
  std::string head;
  Gate rest;

  explicit InTwoHalves(std::string_view field_lines = lives) {
    head.append("HTTP/1.1 200 OK\r\n").append(field_lines).append("Content-Length: 200000\r\n\r\n");
  }
  void play(Stage& stage) {
    stage.read_request();
    stage.send(head + body.substr(0, 100'000));
    stage.wait(rest);
    stage.send(body.substr(100'000));
    stage.stall();
  }
};

TEST(ReplicaFlight, SimultaneousRequestsForAColdKeyCostOneFetchAndStreamWhileItFills) {
  constexpr std::size_t clients = 200;
  InTwoHalves halves;
  ScriptedPeer origin([&](Stage& stage) { halves.play(stage); });
  SomeReplica replica(origin.address());
  std::vector<TestClient> waiting;
  for (std::size_t index = 0; index < clients; ++index) {
    waiting.push_back(replica.client());
    waiting.back().send(get_request("/cold"));
  }
  // All have the first half while the origin keeps the second.
  std::vector<std::string> got(clients);
  for (std::size_t index = 0; index < clients; ++index) {
    while (std::count(got[index].begin(), got[index].end(), 'a') < 100'000) {
      ASSERT_FALSE(waiting[index].socket().receive(got[index])) << index;
    }
  }
  EXPECT_EQ(origin.requests(), 1U);
  EXPECT_EQ(replica.store().flights, 1U);
  halves.rest.open();
  for (std::size_t index = 0; index < clients; ++index) {
    while (got[index].size() < got[index].find("\r\n\r\n") + 4 + 200'000) {
      ASSERT_FALSE(waiting[index].socket().receive(got[index])) << index;
    }
    EXPECT_TRUE(got[index].ends_with("\r\n\r\n" + halves.body)) << index;
  }
  replica.settle();
  EXPECT_EQ(origin.requests(), 1U);
  EXPECT_TRUE(eventually([&] {
    return replica.counted(Outcome::miss) + replica.counted(Outcome::collapsed) == clients;
  }));
  EXPECT_TRUE(replica.counts(Outcome::miss, 1));
  EXPECT_EQ(replica.get("/cold").field("cache-status"), "cache-7; hit; ttl=60");
}

TEST(ReplicaFlight, FollowersAreServedWhenTheLeadersClientGoes) {
  for (const bool before_the_head : {false, true}) {
    InTwoHalves halves;
    Gate head;
    ScriptedPeer origin([&](Stage& stage) {
      stage.read_request();
      stage.wait(head);
      stage.send(halves.head + halves.body.substr(0, 100'000));
      stage.wait(halves.rest);
      stage.send(halves.body.substr(100'000));
      stage.stall();
    });
    SomeReplica replica(origin.address());
    auto leader = replica.client();
    leader.send(get_request("/"));
    ASSERT_TRUE(eventually([&] { return origin.requests() == 1; }));
    auto follower = replica.client();
    follower.send(get_request("/"));
    if (before_the_head) leader.socket().reset();
    head.open();
    EXPECT_NE(follower.read_until("aaaa").find("200 OK"), std::string::npos);
    if (!before_the_head) leader.socket().reset();
    halves.rest.open();
    EXPECT_TRUE(follower.read_until("end").ends_with(halves.body.substr(100'000)));
    replica.settle();
    EXPECT_EQ(replica.get("/").body, halves.body);
    EXPECT_EQ(origin.requests(), 1U);
  }
}

TEST(ReplicaFlight, AFetchThatNobodyWaitsForIsStored) {
  InTwoHalves halves;
  ScriptedPeer origin([&](Stage& stage) { halves.play(stage); });
  SomeReplica replica(origin.address());
  auto only = replica.client();
  only.send(get_request("/"));
  only.read_until("aaaa");
  only.socket().reset();
  halves.rest.open();
  replica.settle();
  EXPECT_EQ(replica.get("/").field("cache-status"), "cache-7; hit; ttl=60");
  EXPECT_EQ(origin.requests(), 1U);
}

TEST(ReplicaFlight, AFailedLeaderStrandsNobody) {
  Gate go;
  ScriptedPeer origin([&](Stage& stage) {
    stage.read_request();
    stage.wait(go);
    if (stage.connection() == 0) stage.reset();
    stage.send(answer("200 OK", lives, "hello"));
    stage.stall();
  });
  SomeReplica replica(origin.address());
  std::vector<TestClient> waiting;
  for (unsigned index = 0; index < 10; ++index) {
    waiting.push_back(replica.client());
    waiting.back().send(get_request("/"));
  }
  ASSERT_TRUE(eventually([&] { return origin.requests() == 1; }));
  go.open();
  for (TestClient& client : waiting) {
    const Reply reply = client.read();
    // Who came after the failure began a fetch of its own.
    EXPECT_TRUE(reply.status == 502 || reply.status == 200) << reply.status;
    EXPECT_TRUE(reply.whole);
  }
  EXPECT_EQ(replica.get("/").status, 200);
}

TEST(ReplicaFlight, WhatIsNotForSharingIsReleased) {
  Gate go;
  ScriptedPeer origin([&](Stage& stage) {
    while (true) {
      stage.read_request();
      if (stage.connection() == 0) stage.wait(go);
      stage.send(
          answer("200 OK", "Cache-Control: private\r\n", std::to_string(stage.connection())));
    }
  });
  SomeReplica replica(origin.address());
  std::vector<TestClient> waiting;
  for (unsigned index = 0; index < 10; ++index) {
    waiting.push_back(replica.client());
    waiting.back().send(get_request("/"));
    ASSERT_TRUE(eventually([&] { return origin.requests() == 1; }));
  }
  go.open();
  for (TestClient& client : waiting) EXPECT_EQ(client.read().status, 200);
  EXPECT_EQ(origin.requests(), 10U);
  EXPECT_EQ(replica.store().entries, 0U);
  EXPECT_TRUE(replica.counts(Outcome::miss, 10));
}

TEST(ReplicaFlight, VariantsAtOnceAreOneFetchEach) {
  const std::vector<std::string> languages{"de", "fr", "en"};
  Gate rest;
  ScriptedPeer origin([&](Stage& stage) {
    const auto language = support::field(stage.read_request(), "accept-language");
    stage.send(
        "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nVary: Accept-Language\r\n"
        "Content-Length: 4\r\n\r\n" +
        language);
    stage.wait(rest);
    stage.send("..");
    stage.stall();
  });
  SomeReplica replica(origin.address());
  std::vector<TestClient> waiting;
  for (unsigned index = 0; index < 30; ++index) {
    waiting.push_back(replica.client());
    waiting.back().send(get_request("/", "Accept-Language: " + languages[index % 3] + "\r\n"));
  }
  // Each has the beginning of its own variant while all three are under way.
  for (unsigned index = 0; index < 30; ++index) {
    const auto beginning = waiting[index].read_until("\r\n\r\n" + languages[index % 3]);
    EXPECT_TRUE(beginning.starts_with("HTTP/1.1 200 OK\r\n")) << beginning;
  }
  rest.open();
  for (TestClient& client : waiting) EXPECT_EQ(client.read_until(".."), "..");
  replica.settle();
  EXPECT_EQ(replica.store().entries, 3U);
  EXPECT_EQ(origin.requests(), 3U);
}

TEST(ReplicaFlight, WhatIsTooLargeStreamsAndIsNotStored) {
  const std::string body(3 * limits::kMiB, 'l');
  for (const bool length_known : {true, false}) {
    ScriptedPeer origin(always(length_known ? answer("200 OK", lives, body)
                                            : "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n"
                                              "Transfer-Encoding: chunked\r\n\r\n" +
                                                  support::chunked(body, 50'000)));
    SomeReplica replica(origin.address(), 8 * limits::kMiB);
    for (unsigned count = 1; count <= 2; ++count) {
      auto client = replica.client();
      client.send(get_request("/"));
      const Reply reply = client.read();
      EXPECT_TRUE(reply.whole);
      EXPECT_TRUE(reply.body == body);
      EXPECT_LE(replica.store().used_bytes, replica.store().limit_bytes);
      EXPECT_EQ(origin.requests(), count);
    }
    replica.settle();
    EXPECT_EQ(replica.store().entries, 0U);
    EXPECT_TRUE(eventually([&] { return replica.store().used_bytes == 0; }));
  }
}

TEST(ReplicaFlight, TheBudgetHoldsWhileManyFlightsFill) {
  const std::string body(200'000, 'm');
  ScriptedPeer origin(
      always("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n"
             "Transfer-Encoding: chunked\r\n\r\n" +
             support::chunked(body, 3'000)));
  SomeReplica replica(origin.address(), 4 * limits::kMiB);
  std::vector<TestClient> waiting;
  for (unsigned index = 0; index < 60; ++index) {
    waiting.push_back(replica.client());
    waiting.back().send(get_request("/" + std::to_string(index)));
  }
  for (TestClient& client : waiting) {
    EXPECT_TRUE(client.read().body == body);
    EXPECT_LE(replica.store().used_bytes, replica.store().limit_bytes);
  }
  replica.settle();
  EXPECT_GE(replica.store().entries, 5U);
  EXPECT_GT(replica.store().evictions, 0U);
  (*replica).purge(http::PurgeTarget::all());
  EXPECT_TRUE(eventually([&] { return replica.store().used_bytes == 0; }));
}

// The leader of a flight had hardly any time left, and all who waited with it got its 504.
TEST(ReplicaFlight, AFetchFailedTheOthersAtItsLeadersDeadline) {
  Gate go;
  ScriptedPeer origin([&](Stage& stage) {
    stage.read_request();
    stage.wait(go);
    stage.send(answer("200 OK", "Cache-Control: max-age=3600\r\n", "late"));
    stage.stall();
  });
  SomeReplica replica(origin.address(), 16 * limits::kMiB, 1);
  auto patient = replica.settings();
  patient.first_byte_timeout = patient.request_deadline = Milliseconds{1'000'000};
  replica.apply(patient);
  WheelWatch wheel(replica);
  auto leader = replica.client();
  leader.send(
      "GET /x HTTP/1.1\r\nHost: a.test\r\nRingside-Topology: t\r\nRingside-Deadline-Ms: "
      "100\r\n\r\n");
  ASSERT_TRUE(eventually([&] { return origin.requests() == 1; }));
  auto follower = replica.client();
  follower.send(get_request("/x"));
  // By the time of this answer the one core has seen the follower.
  EXPECT_EQ(replica.get("/never", "Cache-Control: only-if-cached\r\n").status, 504);
  replica.clock().advance(Milliseconds{80'000});
  wheel.expect_turned();
  go.open();
  const Reply reply = follower.read();
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(reply.body, "late");
  EXPECT_EQ(origin.requests(), 1U);
}

}  // namespace
}  // namespace ringside::cache
