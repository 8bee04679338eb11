#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/cache/some_replica.h"

// How a replica chooses among its origins, fails over, and spares them.
namespace ringside::cache {
namespace {

using metrics::OriginAnswer;
using support::always;
using support::answer;
using support::eventually;
using support::Gate;
using support::get_request;
using support::Reply;
using support::ScriptedPeer;
using support::Stage;
using support::TestClient;
using testing::HasSubstr;

constexpr std::string_view not_stored = "Cache-Control: no-store\r\n";

ScriptedPeer::Script says(const std::string& body) {
  return always(answer("200 OK", not_stored, body));
}

std::vector<net::Origin> origins_at(const std::vector<Endpoint>& addresses,
                                    const std::vector<std::uint32_t>& weights = {}) {
  std::vector<net::Origin> origins;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    origins.push_back({addresses[i], weights.empty() ? 1 : weights[i]});
  }
  return origins;
}

// One core, so that the order of choice is one.
class OriginsTest : public testing::Test {
 protected:
  void start(const std::vector<net::Origin>& origins, std::size_t connections = 256) {
    replica_ = std::make_unique<SomeReplica>(origins.front().address.endpoint, 16 * limits::kMiB,
                                             std::size_t{1});
    apply(origins, connections);
  }
  void apply(const std::vector<net::Origin>& origins, std::size_t connections = 256) {
    auto settings = replica_->settings();
    settings.routes[0].origins = origins;
    settings.origin_connections = connections;
    replica_->apply(std::move(settings));
  }
  SomeReplica& replica() { return *replica_; }
  metrics::OriginFigures figures() { return (*replica_)->sheet().totals().origins.value(); }
  std::uint64_t failed() {
    return (*replica_)->sheet().totals().of("ringside_origin_requests_total", OriginAnswer::failed);
  }
  void expect_queued(std::uint64_t expected) {
    EXPECT_TRUE(eventually([&] { return figures().queued == expected; })) << figures().queued;
  }
  void expect_in_use(std::uint64_t expected) {
    EXPECT_TRUE(eventually([&] { return figures().in_use == expected; })) << figures().in_use;
  }

 private:
  std::unique_ptr<SomeReplica> replica_;
};

TEST_F(OriginsTest, EachGetsItsWeightsShare) {
  ScriptedPeer heavy(says("h")), light(says("l"));
  start(origins_at({heavy.address(), light.address()}, {3, 1}));
  std::string bodies;
  for (int i = 0; i < 8; ++i) bodies += replica().get("/").body;
  EXPECT_EQ(bodies, "hhlhhhlh");
}

TEST_F(OriginsTest, TheHostIsTheClientsWhicheverOriginIsAsked) {
  ScriptedPeer first(says("1")), second(says("2"));
  start(origins_at({first.address(), second.address()}));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(replica().get("/").status, 200);
  for (const ScriptedPeer* peer : {&first, &second}) {
    ASSERT_EQ(peer->heads().size(), 1U);
    EXPECT_EQ(support::field(peer->heads()[0], "Host"), "a.test");
  }
}

TEST_F(OriginsTest, OnAFailureTheNextOneIsAskedAndThenTheDeadOneIsLeftAlone) {
  ScriptedPeer alive(says("alive"));
  start(origins_at({support::refusing_address(), alive.address()}));
  for (int i = 0; i < 30; ++i) EXPECT_EQ(replica().get("/").body, "alive") << i;
  EXPECT_EQ(failed(), limits::breaker_failures);
  EXPECT_EQ(figures().circuits_opened, 1U);
  EXPECT_EQ(figures().circuits_open, 1U);
  // Nobody was refused: others took its requests.
  EXPECT_EQ(figures().refused_circuit_open, 0U);
  EXPECT_EQ((*replica()).sheet().totals().of("ringside_retries_total"), limits::breaker_failures);
}

TEST_F(OriginsTest, WhereAllFailTheLastFailureIsTold) {
  start(origins_at({support::refusing_address(), support::refusing_address()}));
  const Reply reply = replica().get("/");
  EXPECT_EQ(reply.status, 502);
  EXPECT_THAT(reply.field("Proxy-Status"), HasSubstr("connection_refused"));
  EXPECT_EQ(failed(), 2U);  // each was asked once
}

TEST_F(OriginsTest, OnlyWhatMayBeRepeatedIsAskedElsewhere) {
  struct Case {
    const char* request;
    int status;
    std::size_t second_asked;
  };
  const auto closing = [](Stage& stage) {
    stage.read_request();
    stage.close();
  };
  for (const Case& one : std::vector<Case>{
           {"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", 200, 1},
           {"DELETE / HTTP/1.1\r\nHost: a.test\r\n\r\n", 200, 1},
           {"POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 0\r\n\r\n", 502, 0},
           {"PUT / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 1\r\n\r\nx", 502, 0}}) {
    ScriptedPeer first(closing), second(says("second"));
    start(origins_at({first.address(), second.address()}));
    EXPECT_EQ(replica().client().ask(one.request).status, one.status) << one.request;
    EXPECT_EQ(first.requests(), 1U) << one.request;
    EXPECT_EQ(second.requests(), one.second_asked) << one.request;
  }
}

TEST_F(OriginsTest, RepeatsAreNoMoreThanTheBudget) {
  // The breaker stays closed: between two failures of the one that closes comes an answer.
  ScriptedPeer moody([](Stage& stage) {
    while (stage.read_request().find("POST") != std::string::npos) {
      stage.send(answer("200 OK", not_stored, ""));
    }
    stage.close();
  });
  ScriptedPeer steady(says("steady"));
  start(origins_at({moody.address(), steady.address()}, {1000, 1}));
  unsigned lost = 0;
  auto poster = replica().client();
  for (unsigned i = 0; i < 2 * limits::retry_budget_floor; ++i) {
    EXPECT_EQ(poster.ask("POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 0\r\n\r\n").status,
              200);
    if (replica().get("/").status == 502) ++lost;
  }
  // Of 20 failures 10 were repeated: the second's floor, which is more than a fifth of 40.
  EXPECT_EQ((*replica()).sheet().totals().of("ringside_retries_total"), limits::retry_budget_floor);
  EXPECT_EQ(lost, limits::retry_budget_floor);
}

TEST_F(OriginsTest, ADeadOriginIsNotAskedUntilAProbeBringsItBack) {
  Gate up;
  ScriptedPeer origin([&](Stage& stage) {
    stage.read_request();
    if (!up.wait(std::chrono::milliseconds{0})) return stage.close();
    stage.send(answer("200 OK", std::string(not_stored) + "Connection: close\r\n", "back"));
  });
  start(origins_at({origin.address()}));
  for (unsigned i = 0; i < limits::breaker_failures; ++i) {
    EXPECT_EQ(replica().get("/").status, 502) << i;
  }
  const Reply refused = replica().get("/");
  EXPECT_EQ(refused.status, 503);
  EXPECT_NE(refused.field("Retry-After"), "");
  EXPECT_THAT(refused.field("Proxy-Status"), HasSubstr("destination_unavailable"));
  EXPECT_EQ(origin.requests(), limits::breaker_failures);
  EXPECT_EQ(figures().refused_circuit_open, 1U);
  // The first probe fails: twice as long.
  replica().clock().advance(limits::breaker_open_start);
  EXPECT_EQ(replica().get("/").status, 502);
  replica().clock().advance(limits::breaker_open_start);
  EXPECT_EQ(replica().get("/").status, 503);
  EXPECT_EQ(origin.requests(), limits::breaker_failures + 1);
  up.open();
  replica().clock().advance(limits::breaker_open_start);
  EXPECT_EQ(replica().get("/").body, "back");
  EXPECT_EQ(figures().circuits_open, 0U);
  EXPECT_EQ(figures().circuits_opened, 2U);
}

TEST_F(OriginsTest, AnswersOfTheServersOwnFailureLeaveItsCircuitClosed) {
  ScriptedPeer origin(always(answer("500 Oh", not_stored, "")));
  start(origins_at({origin.address()}));
  for (unsigned i = 0; i < 2 * limits::breaker_failures; ++i) {
    EXPECT_EQ(replica().get("/").status, 500);
  }
  EXPECT_EQ(figures().circuits_opened, 0U);
}

TEST_F(OriginsTest, RequestsBeyondTheCapWaitForTheirTurn) {
  Gate first, second;
  ScriptedPeer origin([&](Stage& stage) {
    while (true) {
      const auto request = stage.read_request();
      stage.wait(request.find("/0") != std::string::npos ? first : second);
      stage.send(answer("200 OK", not_stored, "body"));
    }
  });
  start(origins_at({origin.address()}), 1);
  std::vector<TestClient> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(replica().client());
    clients.back().send(get_request("/" + std::to_string(i)));
    if (i == 0) expect_in_use(1);
    if (i > 0) expect_queued(static_cast<std::uint64_t>(i));
  }
  EXPECT_TRUE(eventually([&] { return origin.requests() == 1; }));
  first.open();
  second.open();
  for (TestClient& client : clients) EXPECT_EQ(client.read().body, "body");
  expect_in_use(0);
  const auto heads = origin.heads();
  ASSERT_EQ(heads.size(), 4U);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    EXPECT_THAT(heads[i], HasSubstr("GET /" + std::to_string(i) + " "));
  }
}

TEST_F(OriginsTest, WhoWaitsTooLongIsTold503WithRetryAfter) {
  Gate done;
  ScriptedPeer origin([&](Stage& stage) {
    stage.read_request();
    stage.wait(done);
    stage.send(answer("200 OK", not_stored, "late"));
  });
  start(origins_at({origin.address()}), 1);
  auto served = replica().client();
  served.send(get_request("/served"));
  expect_in_use(1);
  auto waiting = replica().client();
  waiting.send(get_request("/waiting"));
  expect_queued(1);
  replica().clock().advance(limits::origin_queue_timeout + limits::deadline_tick);
  const Reply reply = waiting.read();
  EXPECT_EQ(reply.status, 503);
  EXPECT_NE(reply.field("Retry-After"), "");
  EXPECT_EQ(figures().refused_queue_timeout, 1U);
  EXPECT_EQ(figures().queued, 0U);
  done.open();
  EXPECT_EQ(served.read().body, "late");
}

TEST_F(OriginsTest, ASlotIsHeldToTheEndOfTheBodyAndFreedWhenTheClientGoes) {
  ScriptedPeer origin([&](Stage& stage) {
    const auto request = stage.read_request();
    if (request.find("/endless") == std::string::npos) {
      return stage.send(answer("200 OK", std::string(not_stored) + "Connection: close\r\n", "b"));
    }
    stage.send("HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 1000000000\r\n\r\n");
    const std::string piece(65'536, 'x');
    while (true) stage.send(piece);
  });
  start(origins_at({origin.address()}), 1);
  {
    auto leaving = replica().client();
    leaving.send(get_request("/endless"));
    leaving.read_until("xxxx");
    EXPECT_EQ(figures().in_use, 1U);
    auto next = replica().client();
    next.send(get_request("/next"));
    expect_queued(1);
    leaving.socket().reset();
    EXPECT_EQ(next.read().body, "b");
  }
  expect_in_use(0);
}

TEST_F(OriginsTest, AFillThatNobodyWaitsForHoldsItsSlotToItsEnd) {
  Gate end;
  ScriptedPeer origin([&](Stage& stage) {
    stage.read_request();
    stage.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 4\r\n\r\nbo");
    stage.wait(end);
    stage.send("dy");
  });
  start(origins_at({origin.address()}), 1);
  auto client = replica().client();
  client.send(get_request("/"));
  client.read_until("bo");
  client.socket().reset();
  EXPECT_EQ(figures().in_use, 1U);
  end.open();
  expect_in_use(0);
  replica().settle();
  EXPECT_EQ(replica().get("/").body, "body");
  EXPECT_EQ(origin.requests(), 1U);
}

TEST_F(OriginsTest, AReloadKeepsWhatIsKnownOfAnOriginThatIsStillNamed) {
  ScriptedPeer other(says("other"));
  const Endpoint dead = support::refusing_address();
  start(origins_at({dead}));
  for (unsigned i = 0; i < limits::breaker_failures; ++i) (void)replica().get("/");
  apply(origins_at({dead}), 10);
  EXPECT_EQ(replica().get("/").status, 503);
  // Forgotten with the settings that don't name it, it begins anew.
  apply(origins_at({other.address()}));
  EXPECT_EQ(replica().get("/").body, "other");
  apply(origins_at({dead}));
  EXPECT_EQ(replica().get("/").status, 502);
}

}  // namespace
}  // namespace ringside::cache
