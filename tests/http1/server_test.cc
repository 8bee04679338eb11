#include "http1/server.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <optional>
#include <set>
#include <vector>

#include "base/limits.h"
#include "tests/http1/next_request.h"
#include "tests/support/fake_clock.h"
#include "tests/support/scripted_peer.h"
#include "tests/support/test_client.h"

namespace ringside::http {
namespace {

using support::eventually;
using support::RawSocket;
using support::TestClient;

// Answers every request with the index of its core.
class ServerTest : public testing::Test {
 protected:
  ~ServerTest() override { cores_.stop(); }

  void listen(const Endpoint& address = {"127.0.0.1", 0}) {
    const auto listening = server_.listen(address);
    ASSERT_TRUE(listening) << listening.error().message;
    cores_.start();
  }
  static Task<void> serve(Connection& client) {
    RequestHead head;
    bool keep_alive = true;
    while (keep_alive) {
      const auto next = co_await next_request(client, head);
      if (!next || !*next) co_return;
      keep_alive = head.keep_alive && !client.core().draining();
      std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n";
      answer += keep_alive ? "\r\n" : "Connection: close\r\n\r\n";
      answer += std::to_string(client.core().index());
      const std::array<std::string_view, 1> buffers{answer};
      const auto written = co_await client.write(buffers);
      if (!written) co_return;
    }
    co_await end_connection(client);
  }

  support::FakeClock clock_;
  net::CoreGroup cores_{"server", 2, clock_};
  Server server_{cores_, [](Connection& client) { return serve(client); }};
};

TEST_F(ServerTest, EveryCoreServesOnOnePort) {
  listen();
  EXPECT_NE(server_.address().port, 0);
  std::set<std::string> cores;
  std::vector<TestClient> clients;
  // The kernel spreads connections by a hash of their ports: 64 on one side of two is no chance.
  for (unsigned index = 0; index < 64; ++index) {
    clients.emplace_back(server_.address());
    cores.insert(clients.back().get("/").body);
  }
  EXPECT_EQ(cores, (std::set<std::string>{"0", "1"}));
  EXPECT_EQ(server_.open_connections(), 64U);
  clients.clear();
  EXPECT_TRUE(eventually([&] { return server_.open_connections() == 0; }));
}

TEST_F(ServerTest, ListensOnV6AndByTheNameLocalhost) {
  listen({"localhost", 0});
  EXPECT_EQ(TestClient(server_.address()).get("/").status, 200);
  net::CoreGroup cores("v6", 2, clock_);
  Server v6(cores, [](Connection& client) { return serve(client); });
  const auto listening = v6.listen({"::1", 0});
  if (!listening) GTEST_SKIP() << "no IPv6 here: " << listening.error().message;
  EXPECT_NE(v6.address().text().find("[::1]:"), std::string::npos);
}

TEST_F(ServerTest, SaysWhyItCantListenAndWhatToDo) {
  listen();
  net::CoreGroup cores("second", 2, clock_);
  Server second(cores, [](Connection& client) { return serve(client); });
  const auto taken = second.listen(server_.address());
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().kind, ErrorKind::invalid_input);
  EXPECT_NE(taken.error().message.find(server_.address().text()), std::string::npos);
  EXPECT_NE(taken.error().message.find("choose another port"), std::string::npos);
  const auto unknown = second.listen({"example.invalid", 80});
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("not an IP address"), std::string::npos);
}

TEST_F(ServerTest, DrainsIdleConnectionsAtOnceAndOthersAfterTheirAnswer) {
  listen();
  TestClient idle(server_.address());
  EXPECT_EQ(idle.get("/").status, 200);
  TestClient halfway(server_.address());
  halfway.send("GET / HTTP/1.1\r\n");
  ASSERT_TRUE(eventually([&] { return server_.open_connections() == 2; }));
  // What lies in a socket has been read when a core has gone round its loop a few times.
  for (unsigned round = 0; round < 4; ++round) cores_.on_each([](net::Core&) {});
  server_.drain();
  EXPECT_EQ(idle.read_to_end(), RawSocket::End::closed);
  halfway.send("Host: a\r\n\r\n");
  const auto last = halfway.read();
  EXPECT_EQ(last.status, 200);
  EXPECT_EQ(last.field("connection"), "close");
  EXPECT_EQ(halfway.read_to_end(), RawSocket::End::closed);
  halfway.socket().close();
  EXPECT_TRUE(eventually([&] { return server_.open_connections() == 0; }));
  server_.drain();
}

// The kernel had completed these connections before the drain: closing the listener would reset
// them.
TEST_F(ServerTest, ADrainServesWhatWaitsInTheAcceptQueue) {
  const auto listening = server_.listen({"127.0.0.1", 0});
  ASSERT_TRUE(listening) << listening.error().message;
  std::vector<TestClient> clients;
  for (unsigned index = 0; index < 8; ++index) {
    clients.emplace_back(server_.address());
    clients.back().send(support::get_request("/"));
  }
  server_.drain();  // The cores do not run yet, so nothing has been accepted.
  cores_.start();
  for (TestClient& client : clients) {
    const auto reply = client.read();
    EXPECT_EQ(reply.status, 200);
    EXPECT_EQ(reply.field("connection"), "close");
  }
}

TEST_F(ServerTest, AnIdleConnectionIsClosedInTime) {
  listen();
  TestClient idle(server_.address());
  EXPECT_EQ(idle.get("/").status, 200);
  EXPECT_TRUE(eventually([&] {
    clock_.advance(limits::client_idle_timeout);
    return server_.open_connections() == 0;
  }));
  EXPECT_EQ(idle.read_to_end(), RawSocket::End::closed);
}

TEST_F(ServerTest, AStopEndsAllConnections) {
  listen();
  std::vector<TestClient> clients;
  for (unsigned index = 0; index < 16; ++index) {
    clients.emplace_back(server_.address());
    clients.back().send(index % 2 == 0 ? "GET / HT" : "");
  }
  ASSERT_TRUE(eventually([&] { return server_.open_connections() == 16; }));
  cores_.stop();
  EXPECT_EQ(server_.open_connections(), 0U);
  for (TestClient& client : clients) EXPECT_NE(client.read_to_end(), RawSocket::End::timeout);
}

// One core for 2 connections in all.
TEST_F(ServerTest, TurnsAwayConnectionsBeyondItsLimitUntilOneLeaves) {
  net::CoreGroup cores("full", 1, clock_);
  Server full(cores, [](Connection& client) { return serve(client); }, {.connections_per_core = 2});
  ASSERT_TRUE(full.listen({"127.0.0.1", 0}));
  cores.start();
  TestClient first(full.address());
  std::optional<TestClient> second(full.address());
  EXPECT_EQ(first.get("/").status, 200);
  EXPECT_EQ(second->get("/").status, 200);
  TestClient third(full.address());
  const auto refusal = third.read();  // at once, before it has asked for anything
  EXPECT_EQ(refusal.status, 503);
  EXPECT_NE(refusal.field("retry-after"), "");
  EXPECT_EQ(third.read_to_end(), RawSocket::End::closed);
  EXPECT_EQ(first.get("/").status, 200);
  second.reset();
  EXPECT_TRUE(eventually([&] { return full.open_connections() == 1; }));
  EXPECT_EQ(TestClient(full.address()).get("/").status, 200);
  cores.stop();
}

// 127.0.0.1 may have one connection of the core, everybody else as many as there is room for.
TEST_F(ServerTest, TurnsAwayAnAddressThatHasItsShare) {
  net::CoreGroup cores("shares", 1, clock_);
  const auto one_each = [](net::Core&, const IpAddress& from) -> std::optional<std::size_t> {
    if (from.text() == "127.0.0.1") return 1;
    return std::nullopt;
  };
  Server server(cores, [](Connection& client) { return serve(client); },
                {.address_limit = one_each});
  ASSERT_TRUE(server.listen({"127.0.0.1", 0}));
  cores.start();
  std::optional<TestClient> first(server.address());
  EXPECT_EQ(first->get("/").status, 200);
  TestClient second(server.address());
  EXPECT_EQ(second.read().status, 503);
  EXPECT_EQ(second.read_to_end(), RawSocket::End::closed);
  EXPECT_EQ(first->get("/").status, 200);
  first.reset();
  EXPECT_TRUE(eventually([&] { return server.open_connections() == 0; }));
  EXPECT_EQ(TestClient(server.address()).get("/").status, 200);
  cores.stop();
}

TEST_F(ServerTest, AConnectionThatIsKnownTakesNobodysShare) {
  net::CoreGroup cores("known", 1, clock_);
  const auto one_each = [](net::Core&, const IpAddress&) { return std::optional<std::size_t>(1); };
  Server server(cores,
                [](Connection& client) {
                  client.leave_place();
                  return serve(client);
                },
                {.address_limit = one_each});
  ASSERT_TRUE(server.listen({"127.0.0.1", 0}));
  cores.start();
  std::vector<TestClient> clients;
  for (int count = 0; count < 5; ++count) {
    clients.emplace_back(server.address());
    EXPECT_EQ(clients.back().get("/").status, 200);
  }
  cores.stop();
}

}  // namespace
}  // namespace ringside::http
