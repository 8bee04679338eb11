#include "net/origin_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/origin_gates.h"
#include "tests/support/fake_clock.h"
#include "tests/support/on_core.h"
#include "tests/support/scripted_peer.h"

namespace ringside::net {
namespace {

using Outcome = CircuitBreaker::Outcome;
using Slot = std::shared_ptr<OriginGate::Slot>;

const UpstreamAddress some_origin{Endpoint{"origin.test", 80}};

class OriginGateTest : public testing::Test {
 protected:
  OriginGateTest() : cores_("gate", 2, clock_) { cores_.start(); }
  ~OriginGateTest() override { cores_.stop(); }

  std::shared_ptr<OriginGate> gate_of(const OriginGate::Terms& terms) {
    return std::make_shared<OriginGate>(some_origin, terms, counts_);
  }
  // Somebody who comes to the gate on a core and has its answer some time.
  struct Caller {
    std::optional<Result<Slot>> answer;
    std::future<void> ended;
  };
  std::unique_ptr<Caller> call(const std::shared_ptr<OriginGate>& gate, std::size_t core = 0,
                               Milliseconds patience_ms = Seconds{60},
                               const IpAddress& client = {}) {
    auto caller = std::make_unique<Caller>();
    caller->ended = support::start_on(
        cores_[core],
        [gate, core, patience_ms, client, this, answer = &caller->answer]() -> Task<void> {
          const SteadyPoint deadline = cores_[core].steady_now() + patience_ms;
          *answer = co_await gate->enter(cores_[core], deadline, client);
        });
    return caller;
  }
  // The same, and is in the queue when this returns.
  std::unique_ptr<Caller> queue(const std::shared_ptr<OriginGate>& gate, std::size_t core = 0,
                                Milliseconds patience_ms = Seconds{60},
                                const IpAddress& client = {}) {
    const auto before = counts_->queued.load();
    auto caller = call(gate, core, patience_ms, client);
    EXPECT_TRUE(support::eventually([&] { return counts_->queued.load() == before + 1; }));
    return caller;
  }
  Slot slot_of(const std::unique_ptr<Caller>& caller) {
    caller->ended.get();
    if (!caller->answer->has_value()) {
      ADD_FAILURE() << caller->answer->error().message;
      return nullptr;
    }
    return std::exchange(caller->answer->value(), nullptr);
  }
  Error refusal_of(const std::unique_ptr<Caller>& caller) {
    caller->ended.get();
    if (caller->answer->has_value()) {
      ADD_FAILURE() << "it was let in";
      return {};
    }
    return caller->answer->error();
  }
  void fail_until_open(const std::shared_ptr<OriginGate>& gate) {
    for (unsigned i = 0; i < limits::breaker_failures; ++i) {
      const auto slot = slot_of(call(gate));
      slot->settle(Outcome::failed, clock_.steady_now());
    }
  }

  support::FakeClock clock_;
  std::shared_ptr<OriginCounts> counts_ = std::make_shared<OriginCounts>();
  CoreGroup cores_;
};

TEST_F(OriginGateTest, LetsSoManyInAtOnceOfAllCoresTogether) {
  const auto gate = gate_of({2, 10, Seconds{5}});
  auto first = slot_of(call(gate, 0));
  auto second = slot_of(call(gate, 1));
  auto third = queue(gate, 0);
  EXPECT_EQ(counts_->in_use.load(), 2u);
  second.reset();
  const auto slot = slot_of(third);
  EXPECT_EQ(counts_->in_use.load(), 2u);
  EXPECT_EQ(counts_->queued.load(), 0u);
}

TEST_F(OriginGateTest, WhoWaitsIsServedInOrderOnWhicheverCore) {
  const auto gate = gate_of({1, 10, Seconds{5}});
  auto held = slot_of(call(gate));
  std::vector<std::unique_ptr<Caller>> waiting;
  for (std::size_t i = 0; i < 6; ++i) waiting.push_back(queue(gate, i % 2));
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    held.reset();
    held = slot_of(waiting[i]);
    ASSERT_NE(held, nullptr) << i;
    EXPECT_EQ(counts_->queued.load(), waiting.size() - i - 1);
  }
}

// 256 slow uploads from one address took all slots, and every other miss was told 503.
TEST_F(OriginGateTest, OneClientNeverHasAllSlotsNorAllOfTheQueue) {
  const IpAddress greedy = *IpAddress::try_parse("192.0.2.1");
  const IpAddress other = *IpAddress::try_parse("192.0.2.2");
  const auto gate = gate_of({4, 4, Seconds{5}});
  std::vector<Slot> held;
  for (int i = 0; i < 3; ++i) held.push_back(slot_of(call(gate, 0, Seconds{60}, greedy)));
  std::vector<std::unique_ptr<Caller>> waiting;
  for (int i = 0; i < 3; ++i) waiting.push_back(queue(gate, 0, Seconds{60}, greedy));
  EXPECT_EQ(refusal_of(call(gate, 0, Seconds{60}, greedy)).kind, ErrorKind::overloaded);
  auto others = slot_of(call(gate, 0, Seconds{60}, other));  // past those who wait
  ASSERT_NE(others, nullptr);
  auto last = queue(gate, 1, Seconds{60}, other);
  others.reset();
  others = slot_of(last);
  ASSERT_NE(others, nullptr);
  held.pop_back();  // the greedy one's own go to its own
  ASSERT_NE(slot_of(waiting.front()), nullptr);
  held.clear();
  for (std::size_t i = 1; i < waiting.size(); ++i) EXPECT_NE(slot_of(waiting[i]), nullptr);
  EXPECT_EQ(counts_->queued.load(), 0u);
}

// 256 idle WebSockets did, too.
TEST_F(OriginGateTest, TunnelsHaveAPlaceOfTheirOwnAndClientsAShareOfThem) {
  const IpAddress greedy = *IpAddress::try_parse("192.0.2.1");
  OriginGate::Terms terms;
  terms.connections = 1;
  terms.tunnels = 4;
  const auto gate = gate_of(terms);
  std::vector<std::shared_ptr<OriginGate::Tunnel>> tunnels;
  for (int i = 0; i < 3; ++i) tunnels.push_back(gate->open_tunnel(greedy).value());
  EXPECT_EQ(gate->open_tunnel(greedy).error().kind, ErrorKind::overloaded);
  tunnels.push_back(gate->open_tunnel({}).value());
  EXPECT_EQ(gate->open_tunnel({}).error().kind, ErrorKind::overloaded);
  EXPECT_NE(slot_of(call(gate)), nullptr);
  tunnels.clear();
  EXPECT_TRUE(gate->open_tunnel(greedy));
}

TEST_F(OriginGateTest, RefusesAtOnceWhereTheQueueIsFull) {
  const auto gate = gate_of({1, 2, Seconds{5}});
  auto held = slot_of(call(gate));
  const auto first = queue(gate);
  const auto second = queue(gate);
  EXPECT_FALSE(gate->would_admit(clock_.steady_now()));
  const Error refusal = refusal_of(call(gate, 1));
  EXPECT_EQ(refusal.kind, ErrorKind::overloaded);
  EXPECT_EQ(refusal.source, ErrorSource::ourselves);
  EXPECT_EQ(counts_->refused_queue_full.load(), 1u);
  held.reset();
  slot_of(first).reset();
  slot_of(second).reset();
  EXPECT_EQ(counts_->in_use.load(), 0u);
}

TEST_F(OriginGateTest, WhoWaitsTooLongLeavesTheQueueToTheOthers) {
  struct Case {
    const char* what;
    Milliseconds queue_timeout, patience;
  };
  for (const Case& one : std::vector<Case>{{"the queue's time", Seconds{5}, Seconds{60}},
                                           {"the request's own", Seconds{60}, Seconds{5}}}) {
    const auto gate = gate_of({1, 10, one.queue_timeout});
    auto held = slot_of(call(gate));
    const auto leaving = queue(gate, 0, one.patience);
    clock_.advance(Seconds{4});
    const auto staying = queue(gate, 1, Seconds{60});
    clock_.advance(Milliseconds{1'500});
    const Error refusal = refusal_of(leaving);
    EXPECT_EQ(refusal.kind, ErrorKind::overloaded) << one.what;
    EXPECT_EQ(refusal.retry, Retry::no) << one.what;
    EXPECT_EQ(counts_->queued.load(), 1u) << one.what;
    held.reset();
    EXPECT_NE(slot_of(staying), nullptr) << one.what;
  }
  EXPECT_EQ(counts_->refused_queue_timeout.load(), 2u);
}

TEST_F(OriginGateTest, AnOpenCircuitRefusesAtOnceAndTellsThoseWhoWait) {
  const auto gate = gate_of({limits::breaker_failures, 10, Seconds{60}});
  std::vector<Slot> slots;
  for (unsigned i = 0; i < limits::breaker_failures; ++i) slots.push_back(slot_of(call(gate)));
  const auto waiting = queue(gate, 1);
  for (const Slot& slot : slots) slot->settle(Outcome::failed, clock_.steady_now());
  EXPECT_EQ(refusal_of(waiting).kind, ErrorKind::circuit_open);
  const Error refusal = refusal_of(call(gate));
  EXPECT_EQ(refusal.kind, ErrorKind::circuit_open);
  EXPECT_EQ(refusal.source, ErrorSource::ourselves);
  EXPECT_NE(refusal.message.find("again in 500 ms"), std::string::npos) << refusal.message;
  EXPECT_EQ(counts_->refused_circuit_open.load(), 2u);
  EXPECT_EQ(counts_->circuits_opened.load(), 1u);
  EXPECT_EQ(counts_->queued.load(), 0u);
}

TEST_F(OriginGateTest, AHalfOpenCircuitLetsOneProbeInAndClosesWithItsSuccess) {
  const auto gate = gate_of({});
  fail_until_open(gate);
  clock_.advance(limits::breaker_open_start);
  auto probe = slot_of(call(gate));
  EXPECT_EQ(refusal_of(call(gate, 1)).kind, ErrorKind::circuit_open);
  probe.reset();  // given up: the next one is the probe
  probe = slot_of(call(gate));
  probe->settle(Outcome::answered, clock_.steady_now());
  EXPECT_EQ(gate->circuit(clock_.steady_now()), CircuitBreaker::State::closed);
  EXPECT_NE(slot_of(call(gate, 1)), nullptr);
}

TEST_F(OriginGateTest, WhoWaitedWhileACircuitOpenedAndHalfClosedIsNoSecondProbe) {
  const auto gate = gate_of({1, 10, Seconds{60}});
  fail_until_open(gate);
  clock_.advance(limits::breaker_open_start);
  auto probe = slot_of(call(gate));
  EXPECT_EQ(refusal_of(call(gate)).kind, ErrorKind::circuit_open);
  probe->settle(Outcome::failed, clock_.steady_now());
  probe.reset();
  EXPECT_EQ(counts_->in_use.load(), 0u);
  EXPECT_EQ(counts_->circuits_opened.load(), 2u);
  EXPECT_NE(refusal_of(call(gate)).message.find("in 1000 ms"), std::string::npos);
}

TEST_F(OriginGateTest, AChangedCapHoldsAtOnce) {
  const auto gate = gate_of({1, 10, Seconds{60}});
  auto first = slot_of(call(gate));
  const auto waiting = queue(gate);
  gate->set_connections(2);
  auto second = slot_of(waiting);
  gate->set_connections(1);
  const auto later = queue(gate);
  first.reset();  // one is in still
  EXPECT_EQ(counts_->queued.load(), 1u);
  second.reset();
  EXPECT_NE(slot_of(later), nullptr);
}

TEST_F(OriginGateTest, AStopEndsAllWaits) {
  const auto gate = gate_of({1, 10, Seconds{60}});
  const auto held = slot_of(call(gate));
  const auto waiting = queue(gate);
  cores_.stop();
  EXPECT_EQ(refusal_of(waiting).kind, ErrorKind::overloaded);
  EXPECT_EQ(counts_->queued.load(), 0u);
}

TEST(OriginGates, KeepTheGatesOfOriginsThatAreStillNamed) {
  OriginGates gates;
  const UpstreamAddress plain{Endpoint{"a", 1}};
  const UpstreamAddress secure{Endpoint{"a", 1}, true};
  const auto first = gates.at(plain);
  const auto second = gates.at(secure);
  EXPECT_NE(first, second);
  gates.keep({secure}, 7);
  EXPECT_EQ(gates.at(secure), second);
  EXPECT_NE(gates.at(plain), first);
}

TEST(OriginGates, CountWhatForgottenGatesHaveCounted) {
  const support::FakeClock clock;
  CoreGroup cores("gates", 1, clock);
  cores.start();
  OriginGates gates;
  const auto gate = gates.at(some_origin);
  support::run_on(cores[0], [&]() -> Task<void> {
    for (unsigned i = 0; i < limits::breaker_failures; ++i) {
      auto slot = co_await gate->enter(cores[0], clock.steady_now());
      if (slot) (*slot)->settle(Outcome::failed, clock.steady_now());
    }
  });
  EXPECT_EQ(gates.figures(clock.steady_now()).circuits_open, 1u);
  gates.keep({}, limits::origin_connections);
  EXPECT_EQ(gates.figures(clock.steady_now()).circuits_opened, 1u);
  EXPECT_EQ(gates.figures(clock.steady_now()).circuits_open, 0u);
  cores.stop();
}

}  // namespace
}  // namespace ringside::net
