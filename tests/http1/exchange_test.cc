#include "http1/exchange.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "base/limits.h"
#include "tests/http1/some_connection.h"
#include "tests/http1/some_exchange.h"

namespace ringside::http {
namespace {

using support::answer;
using support::eventually;
using support::Gate;
using support::ScriptedPeer;
using support::Stage;

// What asking one upstream came to.
struct ExchangeOutcome {
  int status = 0;
  std::string body;
  std::optional<Error> error;
};

class ExchangeTest : public OneCore {
 protected:
  hop::UpstreamLimits far_limits() {
    return {Milliseconds{1'000}, Milliseconds{10'000}, clock_.steady_now() + Milliseconds{60'000}};
  }
  // One request and its whole answer. `pool` is made anew for each test, on its core.
  Task<void> ask(Pool& pool, const Endpoint& address, std::string_view method,
                 ExchangeOutcome& outcome) {
    const hop::UpstreamRequest request = some_request(method);
    Exchange exchange(core(), pool);
    const hop::UpstreamLimits limits = far_limits();
    const auto answered = co_await exchange.ask(address, request, limits);
    if (!answered) {
      outcome.error = answered.error();
      co_return;
    }
    outcome.status = exchange.head().status;
    const auto body = co_await whole_body(exchange);
    if (body) {
      outcome.body = *body;
    } else {
      outcome.error = body.error();
    }
  }
  ExchangeOutcome asked(const Endpoint& address, std::string_view method = "GET") {
    ExchangeOutcome outcome;
    support::run_on(core(), [&]() -> Task<void> {
      Pool pool(core(), ErrorSource::origin);
      co_await ask(pool, address, method, outcome);
    });
    return outcome;
  }
};

TEST_F(ExchangeTest, UsesAConnectionAgain) {
  ScriptedPeer peer(support::always(answer("200 OK", "", "hello")));
  support::run_on(core(), [&]() -> Task<void> {
    Pool pool(core(), ErrorSource::origin);
    for (unsigned count = 0; count < 5; ++count) {
      ExchangeOutcome outcome;
      co_await ask(pool, peer.address(), "GET", outcome);
      EXPECT_EQ(outcome.body, "hello");
    }
  });
  EXPECT_EQ(peer.connections(), 1U);
  EXPECT_EQ(peer.requests(), 5U);
}

TEST_F(ExchangeTest, DoesNotUseAgainWhatMayNotBe) {
  const std::vector<std::string> answers{
      answer("200 OK", "Connection: close\r\n", "hello"),
      "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello",
      "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n",
  };
  for (const std::string& each : answers) {
    ScriptedPeer peer(support::always(each));
    support::run_on(core(), [&]() -> Task<void> {
      Pool pool(core(), ErrorSource::origin);
      for (unsigned count = 0; count < 2; ++count) {
        ExchangeOutcome outcome;
        co_await ask(pool, peer.address(), "GET", outcome);
        EXPECT_FALSE(outcome.error);
      }
    });
    EXPECT_EQ(peer.connections(), 2U) << each;
  }
}

TEST_F(ExchangeTest, FindsAHostByItsName) {
  ScriptedPeer peer(support::always(answer("200 OK", "", "hello")));
  EXPECT_EQ(asked({"localhost", peer.address().port}).body, "hello");
}

TEST_F(ExchangeTest, RefusalMayBeTriedElsewhere) {
  for (const auto* method : {"GET", "POST"}) {
    const auto outcome = asked(support::refusing_address(), method);
    ASSERT_TRUE(outcome.error);
    EXPECT_EQ(outcome.error->kind, ErrorKind::refused);
    EXPECT_EQ(outcome.error->source, ErrorSource::origin);
    EXPECT_EQ(outcome.error->retry, Retry::yes);
  }
}

struct FailureRow {
  std::string method;
  std::string sent;  // before the peer closes
  ErrorKind kind;
  Retry retry;
};

TEST_F(ExchangeTest, SaysWhetherItMayBeTriedElsewhere) {
  std::string interim;
  for (unsigned count = 0; count < 17; ++count) interim += "HTTP/1.1 103 Early\r\n\r\n";
  const std::vector<FailureRow> rows{
      {"GET", "", ErrorKind::disconnected, Retry::yes},
      {"PUT", "", ErrorKind::disconnected, Retry::yes},
      {"POST", "", ErrorKind::disconnected, Retry::no},
      {"PATCH", "", ErrorKind::disconnected, Retry::no},
      {"GET", "H", ErrorKind::disconnected, Retry::no},
      {"GET", "junk\r\n\r\n", ErrorKind::malformed, Retry::no},
      {"GET", interim, ErrorKind::malformed, Retry::no},
      {"GET", "HTTP/1.1 101 Switching Protocols\r\n\r\n", ErrorKind::malformed, Retry::no},
  };
  for (const FailureRow& row : rows) {
    ScriptedPeer peer([&row](Stage& stage) {
      stage.read_request();
      stage.send(row.sent);
      stage.close();
    });
    const auto outcome = asked(peer.address(), row.method);
    ASSERT_TRUE(outcome.error) << row.sent;
    EXPECT_EQ(outcome.error->kind, row.kind) << row.sent;
    EXPECT_EQ(outcome.error->retry, row.retry) << row.method << " " << row.sent;
    EXPECT_EQ(outcome.error->source, ErrorSource::origin);
    EXPECT_EQ(peer.requests(), 1U);
  }
}

TEST_F(ExchangeTest, ASilentUpstreamTimesOut) {
  ScriptedPeer peer([](Stage& stage) {
    stage.read_request();
    stage.stall();
  });
  ExchangeOutcome outcome;
  auto end = support::start_on(core(), [&]() -> Task<void> {
    Pool pool(core(), ErrorSource::peer);
    co_await ask(pool, peer.address(), "GET", outcome);
  });
  ASSERT_TRUE(eventually([&] { return peer.requests() == 1; }));
  clock_.advance(Milliseconds{10'001});
  end.get();
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->kind, ErrorKind::timeout);
  EXPECT_EQ(outcome.error->source, ErrorSource::peer);
  EXPECT_EQ(outcome.error->retry, Retry::yes);
}

// Rows of: what a pooled connection does with its second request, and what then becomes of it.
TEST_F(ExchangeTest, RepeatsOnceOnAStaleConnectionWhatNobodyHasSeen) {
  struct Row {
    std::string method;
    std::string sent;  // for the second request on a connection, before it closes
    int status;        // 0: an error
    std::size_t connections;
  };
  const std::vector<Row> rows{
      {"GET", "", 200, 2}, {"DELETE", "", 200, 2}, {"POST", "", 0, 1}, {"GET", "HTTP", 0, 1}};
  for (const Row& row : rows) {
    ScriptedPeer peer([&row](Stage& stage) {
      stage.read_request();
      stage.send(answer("200 OK", "", "hello"));
      stage.read_request();
      stage.send(row.sent);
      stage.close();
    });
    ExchangeOutcome second;
    support::run_on(core(), [&]() -> Task<void> {
      Pool pool(core(), ErrorSource::origin);
      ExchangeOutcome first;
      co_await ask(pool, peer.address(), row.method, first);
      EXPECT_EQ(first.status, 200);
      co_await ask(pool, peer.address(), row.method, second);
    });
    EXPECT_EQ(second.status, row.status) << row.method << " " << row.sent;
    EXPECT_EQ(peer.connections(), row.connections) << row.method << " " << row.sent;
  }
}

// A pooled connection that is known to be closed is not used for what can't be repeated.
TEST_F(ExchangeTest, LooksBeforeItSendsWhatCantBeRepeated) {
  Gate closed;
  ScriptedPeer peer([&](Stage& stage) {
    stage.read_request();
    stage.send(answer("200 OK", "", "hello"));
    if (stage.connection() > 0) stage.stall();
    stage.close();
  });
  support::run_on(core(), [&]() -> Task<void> {
    Pool pool(core(), ErrorSource::origin);
    ExchangeOutcome first;
    co_await ask(pool, peer.address(), "POST", first);
    auto idle = pool.take_idle(peer.address(), false);
    EXPECT_TRUE(idle);
    EXPECT_TRUE(eventually([&] { return idle->connection->is_stale(); }));
    pool.give_back(peer.address(), std::move(*idle));
    ExchangeOutcome second;
    co_await ask(pool, peer.address(), "POST", second);
    EXPECT_EQ(second.status, 200);
  });
  EXPECT_EQ(peer.connections(), 2U);
}

TEST_F(ExchangeTest, APoolKeepsConnectionsForAWhileOnly) {
  ScriptedPeer peer(support::always(answer("200 OK", "", "hello")));
  support::run_on(core(), [&]() -> Task<void> {
    Pool pool(core(), ErrorSource::origin);
    ExchangeOutcome outcome;
    co_await ask(pool, peer.address(), "GET", outcome);
    clock_.advance(limits::upstream_idle_timeout - Milliseconds{1});
    co_await support::NextTurn(core());
    pool.close_idle();
    auto idle = pool.take_idle(peer.address(), true);
    EXPECT_TRUE(idle && idle->reused);
    EXPECT_FALSE(pool.take_idle(peer.address(), true));
    pool.give_back(peer.address(), std::move(*idle));
    clock_.advance(limits::upstream_idle_timeout);
    co_await support::NextTurn(core());
    pool.close_idle();
    EXPECT_FALSE(pool.take_idle(peer.address(), true));
    EXPECT_FALSE(pool.take_idle(Endpoint{"127.0.0.1", 1}, true));
  });
}

TEST_F(ExchangeTest, APoolKeepsNoMoreThanItsLimitAndNoneInADrain) {
  ScriptedPeer peer([](Stage& stage) { stage.stall(); });
  support::run_on(core(), [&]() -> Task<void> {
    Pool pool(core(), ErrorSource::origin);
    std::vector<Pool::Lease> leases;
    for (std::size_t count = 0; count < limits::idle_upstream_per_address + 1; ++count) {
      auto lease = co_await pool.connect(peer.address(), clock_.steady_now() + Milliseconds{1'000});
      EXPECT_TRUE(lease && !lease->reused);
      leases.push_back(std::move(*lease));
    }
    for (auto& lease : leases) pool.give_back(peer.address(), std::move(lease));
    std::size_t kept = 0;
    leases.clear();
    while (auto idle = pool.take_idle(peer.address(), true)) {
      leases.push_back(std::move(*idle));
      ++kept;
    }
    EXPECT_EQ(kept, limits::idle_upstream_per_address);
    core().set_draining();
    pool.give_back(peer.address(), std::move(leases.back()));
    EXPECT_FALSE(pool.take_idle(peer.address(), true));
  });
}

TEST_F(ExchangeTest, AStopEndsItWithoutARepeat) {
  ScriptedPeer peer([](Stage& stage) {
    stage.read_request();
    stage.send(answer("200 OK", "", "hello"));
    stage.read_request();
    stage.stall();
  });
  ExchangeOutcome second;
  auto end = support::start_on(core(), [&]() -> Task<void> {
    Pool pool(core(), ErrorSource::origin);
    ExchangeOutcome first;
    co_await ask(pool, peer.address(), "GET", first);
    co_await ask(pool, peer.address(), "GET", second);
  });
  ASSERT_TRUE(eventually([&] { return peer.requests() == 2; }));
  cores_.stop();
  end.get();
  ASSERT_TRUE(second.error);
  EXPECT_EQ(second.error->source, ErrorSource::ourselves);
  EXPECT_EQ(peer.connections(), 1U);
}

}  // namespace
}  // namespace ringside::http
