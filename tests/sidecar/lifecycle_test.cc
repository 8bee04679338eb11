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
using support::Gate;
using support::RawSocket;
using support::ScriptedPeer;
using support::Stage;
using support::TestClient;

TEST(Settings, ARequestKeepsTheOnesThatItBeganWith) {
  const ScriptedPeer silent(read_and_stall);
  const ScriptedPeer second(always(hit_of("cache-1")));
  const ScriptedPeer newer(always(hit_of("cache-0", "newer")));
  const auto before = settings_for({silent.address(), second.address()}, [](Settings& change) {
    change.first_byte_timeout = Milliseconds{3'000};
  });
  const auto after = settings_for({newer.address()});
  const auto path = path_of(*before, {0, 1});
  SomeSidecar sidecar(before);
  auto client = sidecar.client();
  client.send(support::get_request(path));
  ASSERT_TRUE(eventually([&] { return silent.requests() == 1; }));

  sidecar->apply(after);
  EXPECT_EQ(sidecar->settings(), after);
  EXPECT_EQ(sidecar.get(path).body, "newer");
  EXPECT_EQ(support::field(newer.heads().back(), "ringside-topology"),
            after->membership->topology_id);

  sidecar.clock().advance(Milliseconds{3'100});
  EXPECT_EQ(client.read().field("cache-status"), "cache-1; hit");
  EXPECT_EQ(support::field(second.heads().back(), "ringside-topology"),
            before->membership->topology_id);
  EXPECT_EQ(client.get(path).body, "newer");
  EXPECT_EQ(sidecar.totals().topology->id, after->membership->topology_id);
}

TEST(Settings, AStreamGoesOnWhenItsReplicaLeaves) {
  Gate go_on;
  const ScriptedPeer leaving([&](Stage& stage) {
    stage.read_request();
    stage.send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\nRingside-Outcome: hit\r\n\r\n0123");
    stage.wait(go_on);
    stage.send("4567");
  });
  const ScriptedPeer newer(always(hit_of("cache-0", "newer")));
  SomeSidecar sidecar({leaving.address()});
  auto client = sidecar.client();
  client.send(support::get_request("/"));
  client.read_until("0123");
  sidecar->apply(settings_for({newer.address()}));
  sidecar->apply(settings_for({}));
  EXPECT_EQ(sidecar.get("/").status, 503);
  go_on.open();
  EXPECT_EQ(client.read_until("4567"), "4567");
  EXPECT_TRUE(sidecar.will_count(1, Outcome::hit, "cache-0"));
}

TEST(Drain, IdleConnectionsEndAndAnswersInHandAreFinished) {
  Gate go_on;
  const ScriptedPeer replica([&](Stage& stage) {
    while (true) {
      const auto target = target_of(stage.read_request());
      if (target == "/slow") stage.wait(go_on);
      stage.send(hit_of("cache-0"));
    }
  });
  SomeSidecar sidecar({replica.address()});
  auto idle = sidecar.client();
  EXPECT_EQ(idle.get("/").status, 200);
  auto fresh = sidecar.client();  // has said nothing yet
  auto busy = sidecar.client();
  busy.send(support::get_request("/slow"));
  ASSERT_TRUE(eventually([&] { return replica.requests() == 2; }));
  ASSERT_TRUE(eventually([&] { return sidecar->open_connections() == 3; }));

  sidecar->drain();
  EXPECT_EQ(idle.read_to_end(), RawSocket::End::closed);
  EXPECT_EQ(fresh.read_to_end(), RawSocket::End::closed);
  EXPECT_TRUE(eventually([&] { return sidecar->open_connections() == 1; }));
  go_on.open();
  const auto reply = busy.read();
  EXPECT_EQ(reply.status, 200);
  EXPECT_TRUE(reply.whole);
  EXPECT_EQ(reply.field("connection"), "close");
  EXPECT_EQ(busy.read_to_end(), RawSocket::End::closed);
  busy.socket().close();
  EXPECT_TRUE(eventually([&] { return sidecar->open_connections() == 0; }));
}

TEST(Stop, ReturnsWhateverHangs) {
  const ScriptedPeer replica([](Stage& stage) {
    const auto target = target_of(stage.read_head());
    if (target == "/half") stage.send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n0123");
    stage.stall();
  });
  SomeSidecar sidecar(settings_for({replica.address()}), 2);
  std::vector<TestClient> clients;
  for (const std::string& bytes :
       {support::get_request("/"), support::get_request("/half"),
        std::string("POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 10\r\n\r\n012"),
        std::string("GET / HT"), std::string()}) {
    clients.push_back(sidecar.client());
    clients.back().send(bytes);
  }
  clients[1].read_until("0123");
  ASSERT_TRUE(eventually([&] { return replica.requests() == 3; }));
  ASSERT_TRUE(eventually([&] { return sidecar->open_connections() == 5; }));
  sidecar->stop();
  for (TestClient& client : clients) {
    EXPECT_NE(client.read_to_end(), RawSocket::End::timeout);
  }
  sidecar->stop();  // and again
}

TEST(Connection, EndsAfterItsMostRequests) {
  const ScriptedPeer replica(always(hit_of("cache-0")));
  SomeSidecar sidecar({replica.address()},
                      [](Settings& change) { change.requests_per_connection = 3; });
  auto client = sidecar.client();
  EXPECT_EQ(client.get("/p").field("connection"), "");
  EXPECT_EQ(client.get("/p").field("connection"), "");
  EXPECT_EQ(client.get("/p").field("connection"), "close");
  EXPECT_EQ(client.read_to_end(), RawSocket::End::closed);
}

}  // namespace
}  // namespace ringside::sidecar
