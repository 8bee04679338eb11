#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/sidecar/probed_replica.h"
#include "tests/sidecar/some_sidecar.h"

namespace ringside::sidecar {
namespace {

using metrics::Outcome;
using support::always;
using support::eventually;
using support::refusing_address;
using support::ScriptedPeer;
using support::Stage;

void read_and_close(Stage& stage) { stage.read_request(); }

TEST(Forwarding, EveryKeyGoesToItsOwner) {
  const ScriptedPeer a(always(hit_of("cache-0")));
  const ScriptedPeer b(always(hit_of("cache-1")));
  const ScriptedPeer c(always(hit_of("cache-2")));
  const auto settings = settings_for({a.address(), b.address(), c.address()});
  SomeSidecar sidecar(settings);
  auto client = sidecar.client();
  std::vector<std::size_t> keys_of(3);
  for (int i = 0; i < 300; ++i) {
    const std::string path = "/key-" + std::to_string(i);
    const auto reply = client.get(path);
    const auto owner = owners_of(*settings, path).front();
    ++keys_of[owner];
    ASSERT_EQ(reply.status, 200);
    EXPECT_EQ(reply.field("cache-status"), "cache-" + std::to_string(owner) + "; hit") << path;
  }
  for (const auto keys : keys_of) EXPECT_GT(keys, 0U);
  EXPECT_EQ(a.requests(), keys_of[0]);
  EXPECT_EQ(a.connections() + b.connections() + c.connections(), 3U);
  EXPECT_EQ(support::field(a.heads().front(), "ringside-topology"),
            settings->membership->topology_id);
  EXPECT_EQ(sidecar.totals().of("ringside_retries_total"), 0U);
}

TEST(Forwarding, ARefusedReplicaIsMadeGoodByTheNextOwner) {
  const ScriptedPeer alive(always(hit_of("cache-1")));
  const ScriptedPeer bystander(always(hit_of("cache-2")));
  const auto settings = settings_for({refusing_address(), alive.address(), bystander.address()});
  SomeSidecar sidecar(settings);
  const auto path = path_of(*settings, {0, 1});
  const auto reply = sidecar.get(path);
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.field("cache-status"), "cache-1; hit");
  EXPECT_EQ(bystander.requests(), 0U);
  EXPECT_EQ(sidecar.totals().of("ringside_retries_total"), 1U);
  EXPECT_EQ(sidecar.errors(ErrorSource::peer), 1U);
  EXPECT_TRUE(sidecar.will_count(1, Outcome::hit, "cache-1"));
}

TEST(Forwarding, AnUploadThatWasNeverBegunGoesWholeToTheNextOwner) {
  std::string received;  // before it is told what is invalid
  const ScriptedPeer alive([&](Stage& stage) {
    const std::string request = stage.read_request();
    if (received.empty()) received = request;
    stage.send(hit_of("cache-1"));
  });
  const auto settings = settings_for({refusing_address(), alive.address()});
  SomeSidecar sidecar(settings);
  const auto reply = sidecar.ask(post(path_of(*settings, {0, 1}), "0123456789"));
  EXPECT_EQ(reply.status, 200);
  EXPECT_TRUE(received.ends_with("\r\n\r\n0123456789")) << received;
}

TEST(Forwarding, AReplicaThatClosesBeforeAByteIsMadeGoodByTheNextOwner) {
  for (const auto& ending : std::vector<ScriptedPeer::Script>{
           read_and_close,
           [](Stage& stage) {
             stage.read_request();
             stage.reset();
           },
           [](Stage& stage) { stage.close(); },
       }) {
    const ScriptedPeer closing(ending);
    const ScriptedPeer alive(always(hit_of("cache-1")));
    const auto settings = settings_for({closing.address(), alive.address()});
    SomeSidecar sidecar(settings);
    const auto reply = sidecar.get(path_of(*settings, {0, 1}));
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.field("cache-status"), "cache-1; hit");
    EXPECT_EQ(closing.connections(), 1U);
    EXPECT_EQ(sidecar.totals().of("ringside_retries_total"), 1U);
  }
}

TEST(Forwarding, AnUploadThatWasBegunIsNotRepeated) {
  for (const std::string method : {"POST", "PUT"}) {
    const ScriptedPeer closing(read_and_close);
    const ScriptedPeer other(always(hit_of("cache-1")));
    const auto settings = settings_for({closing.address(), other.address()});
    SomeSidecar sidecar(settings);
    const auto reply = sidecar.ask(post(path_of(*settings, {0, 1}), "0123456789", method));
    EXPECT_EQ(reply.status, 502) << method;
    EXPECT_EQ(reply.field("proxy-status").find("ringside; error=connection_terminated"), 0U);
    EXPECT_EQ(closing.requests(), 1U);
    EXPECT_EQ(other.requests(), 0U);
    EXPECT_EQ(sidecar.totals().of("ringside_retries_total"), 0U);
    EXPECT_EQ(sidecar.errors(ErrorSource::peer), 1U);
    EXPECT_TRUE(sidecar.will_count(1, Outcome::error, ""));
  }
}

TEST(Forwarding, AMethodThatMayNotBeRepeatedIsNot) {
  const ScriptedPeer closing(read_and_close);
  const ScriptedPeer other(always(hit_of("cache-1")));
  const auto settings = settings_for({closing.address(), other.address()});
  SomeSidecar sidecar(settings);
  const auto path = path_of(*settings, {0, 1});
  EXPECT_EQ(sidecar.ask("POST " + path + " HTTP/1.1\r\nHost: a.test\r\n\r\n").status, 502);
  EXPECT_EQ(other.requests(), 0U);
}

TEST(Forwarding, AConnectionThatWentStaleIsRepeatedOnceOnANewOne) {
  const ScriptedPeer replica([](Stage& stage) {
    stage.read_request();
    stage.send(hit_of("cache-0", std::to_string(stage.connection())));
  });
  SomeSidecar sidecar({replica.address()});
  auto client = sidecar.client();
  for (const char* body : {"0", "1", "2"}) {
    const auto reply = client.get("/");
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, body);
  }
  EXPECT_EQ(sidecar.errors(ErrorSource::peer), 0U);
}

TEST(Forwarding, AnswersThatAreNoHttpAreNotAskedForAgain) {
  for (const std::string garbage : {"SSH-2.0-OpenSSH_9.2\r\n\r\n", "HTTP/1.1 200 OK\r\n",
                                    "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"}) {
    const ScriptedPeer strange([&](Stage& stage) {
      stage.read_request();
      stage.send(garbage);
    });
    const ScriptedPeer other(always(hit_of("cache-1")));
    const auto settings = settings_for({strange.address(), other.address()});
    SomeSidecar sidecar(settings);
    const auto reply = sidecar.get(path_of(*settings, {0, 1}));
    EXPECT_EQ(reply.status, 502) << garbage;
    EXPECT_NE(reply.field("proxy-status"), "") << garbage;
    EXPECT_EQ(other.requests(), 0U) << garbage;
    EXPECT_EQ(sidecar.errors(ErrorSource::peer), 1U) << garbage;
  }
}

TEST(Forwarding, ASilentReplicaIsLeftWhenItsTimeIsOver) {
  const ScriptedPeer silent(read_and_stall);
  const ScriptedPeer alive(always(hit_of("cache-1")));
  const auto settings = settings_for({silent.address(), alive.address()}, [](Settings& change) {
    change.first_byte_timeout = Milliseconds{3'000};
  });
  SomeSidecar sidecar(settings);
  const auto path = path_of(*settings, {0, 1});
  auto client = sidecar.client();
  client.send(support::get_request(path));
  ASSERT_TRUE(eventually([&] { return silent.requests() == 1; }));
  EXPECT_EQ(alive.requests(), 0U);
  sidecar.clock().advance(Milliseconds{3'100});
  EXPECT_EQ(client.read().field("cache-status"), "cache-1; hit");
}

TEST(Forwarding, AnUploadToASilentReplicaEndsThere) {
  support::Gate received;
  const ScriptedPeer silent([&](Stage& stage) {
    stage.read_request();
    received.open();
    stage.stall();
  });
  const ScriptedPeer other(always(hit_of("cache-1")));
  const auto settings = settings_for({silent.address(), other.address()}, [](Settings& change) {
    change.first_byte_timeout = Milliseconds{3'000};
  });
  SomeSidecar sidecar(settings);
  auto client = sidecar.client();
  client.send(post(path_of(*settings, {0, 1}), "0123456789"));
  ASSERT_TRUE(received.wait());
  // The time runs from when the sidecar knows that the body is out, which may be after this.
  EXPECT_TRUE(eventually([&] {
    sidecar.clock().advance(Milliseconds{100});
    return sidecar.counted(Outcome::error, "") == 1;
  }));
  const auto reply = client.read();
  EXPECT_EQ(reply.status, 504);
  EXPECT_EQ(reply.field("proxy-status").find("ringside; error=http_response_timeout"), 0U);
  EXPECT_EQ(other.requests(), 0U);
}

TEST(Forwarding, TheWholeRequestHasADeadline) {
  const ScriptedPeer one(read_and_stall);
  const ScriptedPeer two(read_and_stall);
  const ScriptedPeer three(always(hit_of("cache-2")));
  const auto settings =
      settings_for({one.address(), two.address(), three.address()}, [](Settings& change) {
        change.first_byte_timeout = Milliseconds{3'000};
        change.request_deadline = Milliseconds{5'000};
      });
  SomeSidecar sidecar(settings);
  auto client = sidecar.client();
  client.send(support::get_request(path_of(*settings, {0, 1, 2})));
  ASSERT_TRUE(eventually([&] { return one.requests() == 1; }));
  sidecar.clock().advance(Milliseconds{3'100});
  ASSERT_TRUE(eventually([&] { return two.requests() == 1; }));
  sidecar.clock().advance(Milliseconds{2'000});
  const auto reply = client.read();
  EXPECT_EQ(reply.status, 504);
  EXPECT_EQ(reply.field("proxy-status").find("ringside; error=http_response_timeout"), 0U);
  EXPECT_EQ(three.requests(), 0U);
}

TEST(Forwarding, NoMoreThanThreeOwnersAreAsked) {
  const std::vector<Endpoint> dead(5, refusing_address());
  SomeSidecar sidecar(dead);
  const auto reply = sidecar.get("/");
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.field("proxy-status").find("ringside; error=destination_unavailable"), 0U);
  EXPECT_EQ(reply.field("retry-after"), "1");
  EXPECT_EQ(sidecar.errors(ErrorSource::peer), 3U);
  EXPECT_EQ(sidecar.errors(ErrorSource::ourselves), 1U);
  EXPECT_EQ(sidecar.totals().of("ringside_retries_total"), 2U);
  EXPECT_TRUE(sidecar.will_count(1, Outcome::error, ""));
}

TEST(Forwarding, WithoutMembersNothingIsFound) {
  SomeSidecar sidecar(std::vector<Endpoint>{});
  auto client = sidecar.client();
  for (const char* target : {"/a", "/b"}) {  // The connection goes on.
    const auto reply = client.get(target);
    EXPECT_EQ(reply.status, 503);
    EXPECT_EQ(reply.field("proxy-status").find("ringside; error=destination_unavailable"), 0U);
  }
  // The answer to HEAD has no body.
  client.send("HEAD / HTTP/1.1\r\nHost: a.test\r\n\r\n" + support::get_request("/c"));
  EXPECT_EQ(client.read("HEAD").status, 503);
  EXPECT_EQ(client.read().status, 503);
}

TEST(Forwarding, WhatIsMalformedOrForNobodyNeverLeaves) {
  const ScriptedPeer replica(always(hit_of("cache-0")));
  SomeSidecar sidecar({replica.address()}, [](Settings& change) {
    change.routes = {route_of("only", "a.test", "/only", "path")};
  });
  auto client = sidecar.client();
  EXPECT_EQ(client.get("/other").status, 404);
  EXPECT_EQ(client.get("/only/a").status, 200);
  EXPECT_EQ(sidecar.errors(ErrorSource::ourselves), 1U);

  const auto refused = client.get("/only/%00");
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.field("connection"), "close");
  EXPECT_EQ(client.read_to_end(), support::RawSocket::End::closed);
  EXPECT_EQ(sidecar.ask("GET /only HTTP/1.1\r\nHost : a.test\r\n\r\n").status, 400);
  EXPECT_EQ(sidecar.errors(ErrorSource::client), 2U);
  EXPECT_EQ(replica.requests(), 1U);
}

class StraightToTheOrigin : public ::testing::Test {
 protected:
  [[nodiscard]] static Change origin_at(const Endpoint& address) {
    return [address](Settings& settings) {
      settings.routes[0].origins = {net::Origin{address, 1}};
      settings.routes[0].near_ttl = Milliseconds{60'000};
      settings.without_replica = WithoutReplica::ask_origin;
    };
  }
  // A liar: what it says in our own fields is for nobody.
  const std::string answer_ = support::answer(
      "200 OK", "Ringside-Outcome: hit\r\nRingside-Near-Ttl-Ms: 60000\r\n", "from the origin");
};

TEST_F(StraightToTheOrigin, GoesWhatNoReplicaCanTake) {
  const ScriptedPeer origin(always(answer_));
  for (const auto& replicas :
       {std::vector<Endpoint>{}, std::vector<Endpoint>(2, refusing_address())}) {
    SomeSidecar sidecar(replicas, origin_at(origin.address()));
    const auto reply = sidecar.get("/a/../b");
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.body, "from the origin");
    EXPECT_EQ(reply.head.find("Ringside-"), std::string::npos) << reply.head;
    const auto head = origin.heads().back();
    EXPECT_EQ(target_of(head), "/b");
    EXPECT_EQ(head.find("Ringside-"), std::string::npos) << head;
    EXPECT_EQ(support::field(head, "x-country"), "ZZ");
    EXPECT_EQ(sidecar.errors(ErrorSource::peer), replicas.size());
    EXPECT_EQ(sidecar.errors(ErrorSource::ourselves), 0U);
    EXPECT_EQ(
        sidecar.totals().of("ringside_origin_requests_total", metrics::OriginAnswer::status_2xx),
        1U);
  }
}

TEST_F(StraightToTheOrigin, AMissCountsAsAMiss) {
  const ScriptedPeer origin(always(answer_));
  SomeSidecar sidecar(std::vector<Endpoint>{}, origin_at(origin.address()));
  struct Row {
    std::string request;
    std::string_view status;
  };
  const std::string host = " HTTP/1.1\r\nHost: a.test\r\n";
  auto client = sidecar.client();
  for (const Row& row : std::vector<Row>{
           {"GET /" + host + "\r\n", "ringside; fwd=miss"},
           {"GET /" + host + "Cache-Control: no-cache\r\n\r\n", "ringside; fwd=miss"},
           {"GET /" + host + "Cache-Control: no-store\r\n\r\n", "ringside; fwd=bypass"},
           {"GET /" + host + "Range: bytes=0-3\r\n\r\n", "ringside; fwd=bypass"},
           {"GET /" + host + "Content-Length: 2\r\n\r\nab", "ringside; fwd=bypass"},
           {post("/", "ab"), "ringside; fwd=bypass"},
       }) {
    EXPECT_EQ(client.ask(row.request).field("cache-status"), row.status) << row.request;
  }
  EXPECT_TRUE(sidecar.will_count(2, Outcome::miss, ""));
  EXPECT_TRUE(sidecar.will_count(4, Outcome::bypass, ""));
  EXPECT_EQ(sidecar.counted(Outcome::hit, ""), 0U);
}

TEST_F(StraightToTheOrigin, TheOriginsWordOnOurFieldsIsNotHeard) {
  const ScriptedPeer origin(always(answer_));
  SomeSidecar sidecar(std::vector<Endpoint>{}, origin_at(origin.address()));
  auto client = sidecar.client();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.get("/").body, "from the origin");
  EXPECT_EQ(origin.requests(), 3U);  // No near cache was told that it may keep it.
  EXPECT_TRUE(sidecar.will_count(3, Outcome::miss, ""));
}

TEST_F(StraightToTheOrigin, NothingGoesWhereThatIsNotAllowed) {
  const ScriptedPeer origin(always(answer_));
  SomeSidecar sidecar({refusing_address()}, [&](Settings& settings) {
    settings.routes[0].origins = {net::Origin{origin.address(), 1}};
  });
  EXPECT_EQ(sidecar.get("/").status, 503);
  EXPECT_EQ(origin.connections(), 0U);
}

TEST_F(StraightToTheOrigin, AnUploadThatWasBegunDoesNotGoThereToo) {
  const ScriptedPeer closing(read_and_close);
  const ScriptedPeer origin(always(answer_));
  SomeSidecar sidecar({closing.address()}, origin_at(origin.address()));
  EXPECT_EQ(sidecar.ask(post("/", "0123456789")).status, 502);
  EXPECT_EQ(origin.connections(), 0U);
}

TEST_F(StraightToTheOrigin, AnOriginThatIsDownIsCounted) {
  SomeSidecar sidecar(std::vector<Endpoint>{}, origin_at(refusing_address()));
  const auto reply = sidecar.get("/");
  EXPECT_EQ(reply.status, 502);
  EXPECT_EQ(reply.field("proxy-status").find("ringside; error=connection_refused"), 0U);
  EXPECT_EQ(sidecar.totals().of("ringside_origin_requests_total", metrics::OriginAnswer::failed),
            1U);
  EXPECT_EQ(sidecar.errors(ErrorSource::origin), 1U);
}

}  // namespace
}  // namespace ringside::sidecar
