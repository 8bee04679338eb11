#include "http1/introduction.h"

#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <string>

#include "base/limits.h"
#include "hop/peer_handshake.h"
#include "http1/exchange.h"
#include "http1/pool.h"
#include "net/waiter.h"
#include "tests/http1/some_connection.h"
#include "tests/http1/some_exchange.h"
#include "tests/support/proving_peer.h"

namespace ringside::http {
namespace {

using support::answer;
using support::proving_replica;
using support::ScriptedPeer;
using support::Stage;
using testing::HasSubstr;

const std::string old_key(32, 'o');
const std::string new_key(32, 'n');

std::shared_ptr<const hop::PeerIdentity> sidecar(const std::string& keys) {
  return support::peer_identity(hop::PeerRole::sidecar, "ringside-1", keys);
}

class IntroductionTest : public OneCore {
 protected:
  static constexpr Milliseconds to_connect{1'000}, far{30'000};

  struct Outcome {
    Result<void> asked = Error{};
    std::string body;
  };
  Task<void> ask(Pool& pool, const Endpoint& address, std::string_view peer, Outcome& outcome) {
    auto exchange = pool.exchange();
    hop::UpstreamRequest request = some_request("GET");
    request.peer = peer;
    outcome.asked = co_await exchange->ask(address, request, {far, far, clock_.steady_now() + far});
    outcome.body.clear();
    if (!outcome.asked) co_return;
    const auto body = co_await whole_body(*exchange);
    if (body) outcome.body = *body;
  }

  // Says in outcome_ how it went.
  [[nodiscard]] std::future<void> start_asking(const Endpoint& address,
                                               std::string_view method = "GET") {
    return support::start_on(core(), [this, address, method]() -> Task<void> {
      Pool pool(core(), ErrorSource::peer);
      pool.introduce_as(sidecar(old_key));
      hop::UpstreamRequest request = some_request(method);
      request.peer = "cache-0";
      const auto exchange = pool.exchange();
      exchange_ = exchange.get();
      if (is_given_up_) exchange->give_up();
      hop::UpstreamLimits limits{to_connect, far, clock_.steady_now() + far};
      limits.proof_timeout = far;
      outcome_ = co_await exchange->ask(address, request, limits);
    });
  }

  // The time to connect passes, and the core has seen that.
  void let_connecting_end(SteadyPoint began) {
    auto passed = support::start_on(core(), [&]() -> Task<void> {
      net::Waiter waiter(core());
      co_await waiter.wait(began + to_connect);
    });
    clock_.advance(to_connect + limits::deadline_tick);
    passed.get();
  }

  bool is_given_up_ = false;  // before it asks
  std::atomic<hop::Exchange*> exchange_{nullptr};
  Result<void> outcome_ = Error{};
};

TEST_F(IntroductionTest, AConnectionIsProvedOnceAndThenUsedAgain) {
  ScriptedPeer peer(proving_replica("cache-0", old_key));
  support::run_on(core(), [&]() -> Task<void> {
    Pool pool(core(), ErrorSource::peer);
    pool.introduce_as(sidecar(old_key));
    Outcome outcome;
    for (int turn = 0; turn < 3; ++turn) {
      co_await ask(pool, peer.address(), "cache-0", outcome);
      EXPECT_EQ(outcome.body, "member");
    }
  });
  EXPECT_EQ(peer.connections(), 1U);
  EXPECT_EQ(peer.requests(), 2U + 3U);
}

// Replicas that were late with many proofs at once were taken for unreachable.
TEST_F(IntroductionTest, AProofMayTakeLongerThanAConnection) {
  support::Gate ready;
  ScriptedPeer late(proving_replica("cache-0", old_key, &ready));
  const SteadyPoint began = clock_.steady_now();
  const auto asked = start_asking(late.address());
  ASSERT_TRUE(support::eventually([&] { return late.requests() == 1; }));
  let_connecting_end(began);
  ready.open();
  asked.wait();
  EXPECT_TRUE(outcome_);
}

// Nothing of it was sent, so it can go elsewhere, and nobody can break it off.
TEST_F(IntroductionTest, ForWhatMayNotBeRepeatedAProofIsAPartOfConnecting) {
  support::Gate ready;
  ScriptedPeer late(proving_replica("cache-0", old_key, &ready));
  const SteadyPoint began = clock_.steady_now();
  const auto asked = start_asking(late.address(), "POST");
  ASSERT_TRUE(support::eventually([&] { return late.requests() == 1; }));
  let_connecting_end(began);
  const bool is_over = asked.wait_for(support::patience) == std::future_status::ready;
  ready.open();
  ASSERT_TRUE(is_over) << "it waits for the proof";
  ASSERT_FALSE(outcome_);
  EXPECT_EQ(outcome_.error().kind, ErrorKind::timeout);
  EXPECT_EQ(outcome_.error().retry, Retry::yes);
}

TEST_F(IntroductionTest, WhoWasGivenUpBeforeTheProofWaitsForNone) {
  ScriptedPeer peer(proving_replica("cache-0", old_key));
  is_given_up_ = true;
  start_asking(peer.address()).wait();
  ASSERT_FALSE(outcome_);
  EXPECT_EQ(outcome_.error().kind, ErrorKind::timeout);
  EXPECT_EQ(outcome_.error().retry, Retry::yes);
  EXPECT_EQ(peer.requests(), 0U);
}

TEST_F(IntroductionTest, AProofThatIsGivenUpIsWaitedForNoLonger) {
  ScriptedPeer silent([](Stage& stage) {
    stage.read_request();
    stage.stall();
  });
  const auto asked = start_asking(silent.address());
  ASSERT_TRUE(support::eventually([&] { return silent.requests() == 1; }));
  cores_.on_each([this](net::Core&) { exchange_.load()->give_up(); });
  asked.wait();
  ASSERT_FALSE(outcome_);
  EXPECT_EQ(outcome_.error().kind, ErrorKind::timeout);
  EXPECT_EQ(outcome_.error().retry, Retry::yes);  // nobody has seen the request
}

TEST_F(IntroductionTest, WithoutAnIdentityNothingIsSaidOfIt) {
  ScriptedPeer peer(proving_replica("cache-0", old_key));
  support::run_on(core(), [&]() -> Task<void> {
    Pool pool(core(), ErrorSource::peer);
    Outcome outcome;
    co_await ask(pool, peer.address(), "cache-0", outcome);
    EXPECT_EQ(outcome.body, "stranger");
  });
  EXPECT_EQ(peer.requests(), 1U);
}

TEST_F(IntroductionTest, WhoProvesNothingIsAskedNothing) {
  ScriptedPeer other_key(proving_replica("cache-0", new_key));
  ScriptedPeer no_replica(support::always(answer("200 OK", "", "hello")));
  ScriptedPeer gone([](Stage& stage) { stage.close(); });
  ScriptedPeer gone_later([](Stage& stage) {
    stage.read_request();
    stage.close();
  });
  support::run_on(core(), [&]() -> Task<void> {
    Pool pool(core(), ErrorSource::peer);
    pool.introduce_as(sidecar(old_key));
    Outcome outcome;
    for (const auto* peer : {&other_key, &no_replica}) {
      co_await ask(pool, peer->address(), "cache-0", outcome);
      EXPECT_FALSE(outcome.asked);
      EXPECT_EQ(outcome.asked.error().kind, ErrorKind::untrusted);
      EXPECT_EQ(outcome.asked.error().source, ErrorSource::peer);
      EXPECT_EQ(outcome.asked.error().retry, Retry::yes);  // nobody has seen the request
    }
    for (const auto* peer : {&gone, &gone_later}) {
      co_await ask(pool, peer->address(), "cache-0", outcome);
      EXPECT_FALSE(outcome.asked);
      EXPECT_EQ(outcome.asked.error().kind, ErrorKind::disconnected);
      EXPECT_EQ(outcome.asked.error().retry, Retry::yes);
    }
  });
  for (const auto* peer : {&other_key, &no_replica, &gone_later}) {
    for (const std::string& head : peer->heads()) {
      EXPECT_THAT(head, HasSubstr("OPTIONS * HTTP/1.1\r\n"));
    }
  }
}

// An address that another replica has now was asked on the connection to the one before it.
TEST_F(IntroductionTest, AConnectionIsOfThePeerThatProvedItself) {
  ScriptedPeer peer(proving_replica("cache-0", old_key));
  support::run_on(core(), [&]() -> Task<void> {
    Pool pool(core(), ErrorSource::peer);
    pool.introduce_as(sidecar(old_key));
    Outcome outcome;
    co_await ask(pool, peer.address(), "cache-0", outcome);
    EXPECT_TRUE(outcome.asked);
    co_await ask(pool, peer.address(), "cache-1", outcome);
    EXPECT_FALSE(outcome.asked);
    EXPECT_THAT(outcome.asked.error().message, HasSubstr("another member than cache-1"));
  });
}

TEST_F(IntroductionTest, WhatAnOldKeyHasProvedIsNotUsedAgain) {
  ScriptedPeer peer(proving_replica("cache-0", old_key + "\n" + new_key));
  support::run_on(core(), [&]() -> Task<void> {
    Pool pool(core(), ErrorSource::peer);
    Outcome outcome;
    std::size_t connections = 0;
    for (const auto& [keys, opens] :
         std::vector<std::pair<std::string, bool>>{{old_key, true},
                                                   {old_key + "\n" + new_key, false},
                                                   {new_key, true},
                                                   {new_key, false}}) {
      pool.introduce_as(sidecar(keys));
      co_await ask(pool, peer.address(), "cache-0", outcome);
      EXPECT_EQ(outcome.body, "member");
      connections += opens ? 1 : 0;
      EXPECT_EQ(peer.connections(), connections) << keys;
    }
    // In use while the key went.
    auto lease = pool.take_idle(peer.address(), false, "cache-0");
    EXPECT_TRUE(lease);
    pool.introduce_as(sidecar(old_key));
    pool.give_back(peer.address(), std::move(*lease));
    EXPECT_FALSE(pool.take_idle(peer.address(), false, "cache-0"));
  });
}

}  // namespace
}  // namespace ringside::http
