#include "http1/pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <list>
#include <string>
#include <vector>

#include "http1/exchange.h"
#include "tests/http1/some_connection.h"
#include "tests/http1/some_exchange.h"
#include "tests/support/name_server.h"

namespace ringside::http {
namespace {

using support::answer;
using support::eventually;
using support::ScriptedPeer;
using support::Stage;

// A pool with few places, and those who want one. Everything but the peer lives on the core.
class PoolTest : public OneCore {
 protected:
  static Pool::Terms terms(std::size_t connections, std::size_t waiters) {
    Pool::Terms terms;
    terms.connections = connections;
    terms.waiters = waiters;
    terms.wait_timeout = Milliseconds{1'000};
    return terms;
  }
  struct Wanting {
    std::optional<Pool::Lease> lease;
    std::optional<Error> error;
    bool over = false;
  };
  Task<void> want(Wanting& wanting) {
    auto lease = co_await pool_->connect(peer_.address(), clock_.steady_now() + far);
    if (lease) {
      wanting.lease = std::move(*lease);
      order_.push_back(&wanting);
    } else {
      wanting.error = lease.error();
    }
    wanting.over = true;
  }
  // Somebody who wants a connection from now on.
  Wanting& begin() {
    Wanting& wanting = wanting_.emplace_back();
    on_core([&] { core().spawn(want(wanting)); });
    return wanting;
  }
  bool will_be_over(const Wanting& wanting) {
    return eventually([&] {
      bool over = false;
      on_core([&] { over = wanting.over; });
      return over;
    });
  }
  bool has_lease(const Wanting& wanting) {
    bool has = false;
    on_core([&] { has = wanting.lease.has_value(); });
    return has;
  }
  void on_core(const std::function<void()>& work) {
    cores_.on_each([&](net::Core&) { work(); });
  }
  void make_pool(std::size_t connections, std::size_t waiters,
                 const std::string& name_servers = {}) {
    auto with_names = terms(connections, waiters);
    with_names.name_servers = name_servers;
    on_core([&] { pool_ = std::make_unique<Pool>(core(), ErrorSource::origin, with_names); });
  }
  ~PoolTest() override {
    cores_.stop();
    wanting_.clear();
    pool_.reset();
  }

  static constexpr Milliseconds far{60'000};
  ScriptedPeer peer_{[](Stage& stage) { stage.stall(); }};
  std::unique_ptr<Pool> pool_;
  std::list<Wanting> wanting_;
  std::vector<Wanting*> order_;  // in which they got theirs
};

TEST_F(PoolTest, NoMoreAreInUseThanItsLimitAndWhoWaitsIsServedInOrder) {
  make_pool(2, 8);
  std::vector<Wanting*> all;
  for (unsigned count = 0; count < 5; ++count) all.push_back(&begin());
  ASSERT_TRUE(will_be_over(*all[0]) && will_be_over(*all[1]));
  for (unsigned next = 2; next < 5; ++next) {
    EXPECT_FALSE(has_lease(*all[next]));
    on_core([&] { all[next - 2]->lease.reset(); });
    ASSERT_TRUE(will_be_over(*all[next]));
    EXPECT_TRUE(has_lease(*all[next]));
  }
  EXPECT_EQ(order_, all);
  EXPECT_TRUE(eventually([&] { return peer_.connections() == 5U; }));
}

TEST_F(PoolTest, WhoWaitsTakesTheConnectionThatIsGivenBack) {
  make_pool(1, 8);
  Wanting& first = begin();
  ASSERT_TRUE(will_be_over(first));
  Wanting& second = begin();
  EXPECT_FALSE(has_lease(second));
  on_core([&] {
    pool_->give_back(peer_.address(), std::move(*first.lease));
    first.lease.reset();
    EXPECT_FALSE(pool_->take_idle(peer_.address(), false));  // it is promised
  });
  ASSERT_TRUE(will_be_over(second));
  ASSERT_TRUE(has_lease(second));
  EXPECT_TRUE(eventually([&] { return peer_.connections() == 1U; }));
}

TEST_F(PoolTest, BeyondItsWaitersItRefusesAtOnce) {
  make_pool(1, 1);
  ASSERT_TRUE(will_be_over(begin()));
  Wanting& waiting = begin();
  Wanting& refused = begin();
  ASSERT_TRUE(will_be_over(refused));
  ASSERT_TRUE(refused.error);
  EXPECT_EQ(refused.error->kind, ErrorKind::overloaded);
  EXPECT_EQ(refused.error->source, ErrorSource::ourselves);
  EXPECT_FALSE(waiting.over);
}

TEST_F(PoolTest, WhoWaitsTooLongIsRefusedAndTakesNobodysPlace) {
  make_pool(1, 8);
  Wanting& first = begin();
  ASSERT_TRUE(will_be_over(first));
  Wanting& late = begin();
  clock_.advance(Milliseconds{1'001});
  ASSERT_TRUE(will_be_over(late));
  ASSERT_TRUE(late.error);
  EXPECT_EQ(late.error->kind, ErrorKind::overloaded);
  Wanting& patient = begin();
  on_core([&] { first.lease.reset(); });
  ASSERT_TRUE(will_be_over(patient));
  EXPECT_TRUE(has_lease(patient));
}

// 1. its time runs out; 2. a place is handed to it; 3. it wakes up. Or 2 before 1.
TEST_F(PoolTest, APlaceThatIsHandedToOneWhoseTimeRunsOutIsNotLost) {
  for (const bool time_first : {true, false}) {
    order_.clear();
    make_pool(1, 8);
    Wanting& first = begin();
    ASSERT_TRUE(will_be_over(first));
    Wanting& second = begin();
    on_core([&] {
      clock_.advance(Milliseconds{1'001});
      if (time_first) core().deadlines().advance(clock_.steady_now());
      first.lease.reset();
      core().deadlines().advance(clock_.steady_now());
    });
    ASSERT_TRUE(will_be_over(second));
    on_core([&] { second.lease.reset(); });
    Wanting& third = begin();
    ASSERT_TRUE(will_be_over(third));
    EXPECT_TRUE(has_lease(third)) << time_first;
    on_core([&] { third.lease.reset(); });
  }
}

TEST_F(PoolTest, APlaceIsFreeAgainWhereNoConnectionCameAbout) {
  make_pool(1, 8);
  const Endpoint nobody = support::refusing_address();
  for (unsigned round = 0; round < 3; ++round) {
    support::run_on(core(), [&]() -> Task<void> {
      const auto refused = co_await pool_->connect(nobody, clock_.steady_now() + far);
      EXPECT_FALSE(refused);
      EXPECT_EQ(refused.error().kind, ErrorKind::refused);
    });
  }
}

TEST_F(PoolTest, AStopEndsAllWaiting) {
  make_pool(1, 8);
  Wanting& first = begin();
  ASSERT_TRUE(will_be_over(first));
  Wanting& second = begin();
  Wanting& third = begin();
  cores_.stop();
  EXPECT_TRUE(second.error);
  EXPECT_TRUE(third.error);
}

TEST_F(PoolTest, ASweepKeepsWhatIsInUseOrWaitedFor) {
  make_pool(1, 8);
  Wanting& first = begin();
  ASSERT_TRUE(will_be_over(first));
  Wanting& second = begin();
  on_core([&] { pool_->close_idle(); });
  on_core([&] { first.lease.reset(); });
  ASSERT_TRUE(will_be_over(second));
  EXPECT_TRUE(has_lease(second));
  on_core([&] {
    second.lease.reset();
    pool_->close_idle();
  });
  EXPECT_TRUE(will_be_over(begin()));
}

// The repeat on a new connection waited for the place that the stale one held.
TEST_F(PoolTest, WhoRepeatsOnANewConnectionLeavesTheStaleOnesPlaceFirst) {
  ScriptedPeer peer([](Stage& stage) {
    stage.read_request();
    stage.send(answer("200 OK", "", "hello"));
    stage.read_head();
    stage.close();
  });
  support::run_on(core(), [&]() -> Task<void> {
    Pool pool(core(), ErrorSource::origin, terms(1, 8));
    for (unsigned count = 0; count < 2; ++count) {
      Exchange exchange(core(), pool);
      const hop::UpstreamRequest request = some_request("GET");
      const hop::UpstreamLimits limits{far, far, clock_.steady_now() + far};
      const auto answered = co_await exchange.ask(peer.address(), request, limits);
      EXPECT_TRUE(answered) << answered.error().message;
      if (!answered) co_return;
      const auto body = co_await whole_body(exchange);
      EXPECT_TRUE(body);
    }
  });
  EXPECT_EQ(peer.connections(), 2U);
}

TEST_F(PoolTest, ANameThatHasNoAddressIsUnresolved) {
  const support::NameServer server;
  make_pool(1, 8, server.address());
  support::run_on(core(), [&]() -> Task<void> {
    const Endpoint nowhere{"no-such-host.example", 80};
    const auto refused = co_await pool_->connect(nowhere, clock_.steady_now() + far);
    EXPECT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::unresolved);
    EXPECT_EQ(refused.error().retry, Retry::yes);
  });
}

// Under steady traffic a connection is always given back before it is idle for too long.
TEST_F(PoolTest, AConnectionToANameIsNotKeptForever) {
  support::NameServer server;
  server.set("origin.example", {support::NameReply::Kind::records, {{"127.0.0.1"}}});
  make_pool(1, 8, server.address());
  const Endpoint named{"origin.example", peer_.address().port};
  support::run_on(core(), [&]() -> Task<void> {
    auto connected = co_await pool_->connect(named, clock_.steady_now() + far);
    EXPECT_TRUE(connected) << connected.error().message;
    if (!connected) co_return;
    std::optional<Pool::Lease> lease = std::move(*connected);
    for (Milliseconds age{0}; age < limits::named_connection_age; age += Seconds{50}) {
      pool_->give_back(named, std::move(*lease));
      lease.reset();
      lease = pool_->take_idle(named, true);
      EXPECT_TRUE(lease) << age.count();
      if (!lease) co_return;
      clock_.advance(Seconds{50});
      co_await support::NextTurn(core());
    }
    pool_->give_back(named, std::move(*lease));
    lease.reset();
    EXPECT_FALSE(pool_->take_idle(named, false));
  });
}

}  // namespace
}  // namespace ringside::http
