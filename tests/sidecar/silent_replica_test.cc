#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "http1/head_parser.h"
#include "tests/sidecar/probed_replica.h"
#include "tests/sidecar/some_sidecar.h"
#include "tests/support/proving_peer.h"

// Who waits for a replica that says nothing.
namespace ringside::sidecar {
namespace {

using metrics::ProbeAnswer;
using support::always;
using support::eventually;
using support::Gate;
using support::ScriptedPeer;
using support::Stage;

// Answers no probe.
ScriptedPeer::Script silent_until(const Gate& resumes, std::string answer) {
  return [&resumes, answer = std::move(answer)](Stage& stage) {
    if (is_probe(stage.read_request())) stage.stall();
    stage.wait(resumes);
    stage.send(answer);
  };
}

// Time passes until the replica, which is waited for, is probed and has not answered in time.
void let_a_probe_fail(SomeSidecar& sidecar, const ScriptedPeer& silent) {
  sidecar.clock().advance(limits::suspicion_after + limits::deadline_tick);
  ASSERT_TRUE(eventually([&] { return probes_of(silent) == 1; }));
  sidecar.clock().advance(limits::probe_timeout + limits::deadline_tick);
}

TEST(SilentReplica, WhoWaitsForASilentReplicaIsAnsweredByTheNextOwner) {
  const ScriptedPeer silent(read_and_stall);
  const ScriptedPeer alive(always(hit_of("cache-1")));
  const auto settings = settings_for({silent.address(), alive.address()});
  SomeSidecar sidecar(settings);
  const auto path = path_of(*settings, {0, 1});
  std::vector<support::TestClient> waiting;
  for (int i = 0; i < 3; ++i) {
    waiting.push_back(sidecar.client());
    waiting.back().send(support::get_request(path));
  }
  ASSERT_TRUE(eventually([&] { return silent.requests() == 3; }));
  sidecar.clock().advance(limits::suspicion_after + limits::deadline_tick);
  ASSERT_TRUE(eventually([&] { return probes_of(silent) == 1; }));
  EXPECT_EQ(alive.requests(), 0U);
  sidecar.clock().advance(limits::probe_timeout + limits::deadline_tick);
  for (auto& client : waiting) EXPECT_EQ(replica_of(client.read()), "cache-1");
  EXPECT_EQ(sidecar.totals().of("ringside_retries_total"), 3U);
  EXPECT_EQ(ejections(sidecar, "cache-0"), 1U);
  EXPECT_EQ(replica_of(sidecar.get(path)), "cache-1");
  EXPECT_EQ(sidecar.totals().of("ringside_retries_total"), 3U);
}

// Lets ticks pass until it is so, each with time for the cores to see it: so what is waited for
// much longer does not end.
bool ticks_until(SomeSidecar& sidecar, const std::function<bool()>& condition) {
  constexpr int ticks_most = 400;
  constexpr int looks_of_a_tick = 50;
  for (int look = 0; look < ticks_most * looks_of_a_tick; ++look) {
    if (look % looks_of_a_tick == 0) sidecar.clock().advance(limits::deadline_tick);
    if (condition()) return true;
    std::this_thread::sleep_for(Milliseconds{1});
  }
  return false;
}

// What a failed probe leads to is done before the next one.
void let_it_be_probed_again(SomeSidecar& sidecar, const ScriptedPeer& silent) {
  const std::size_t probes = probes_of(silent);
  // The next look is a tick after the last one, whenever that was.
  ASSERT_TRUE(ticks_until(sidecar, [&] { return probes_of(silent) > probes; }));
}

TEST(SilentReplica, WhereNoOtherOneAnswersItIsWaitedFor) {
  Gate resumes;
  const ScriptedPeer silent(read_and_stall);
  const ScriptedPeer late(silent_until(resumes, hit_of("cache-1")));
  const auto settings = settings_for({silent.address(), late.address()});
  SomeSidecar sidecar(settings);
  auto moved_on = sidecar.client();
  moved_on.send(support::get_request(path_of(*settings, {0, 1})));
  ASSERT_TRUE(eventually([&] { return silent.requests() == 1; }));
  let_a_probe_fail(sidecar, silent);
  ASSERT_TRUE(eventually([&] { return late.requests() == 1; }));
  auto its_own = sidecar.client();
  its_own.send(support::get_request(path_of(*settings, {1, 0})));
  ASSERT_TRUE(eventually([&] { return late.requests() == 2; }));
  let_a_probe_fail(sidecar, late);
  let_it_be_probed_again(sidecar, late);
  resumes.open();
  for (auto* client : {&moved_on, &its_own}) EXPECT_EQ(replica_of(client->read()), "cache-1");
}

TEST(SilentReplica, WhoMayAskNobodyElseWaitsThoughOthersAnswer) {
  Gate resumes;
  const ScriptedPeer silent(read_and_stall), silent_too(read_and_stall);
  const ScriptedPeer late(silent_until(resumes, hit_of("cache-2")));
  const ScriptedPeer alive(always(hit_of("cache-3")));
  static_assert(limits::owners_tried == 3);
  const auto settings =
      settings_for({silent.address(), silent_too.address(), late.address(), alive.address()});
  SomeSidecar sidecar(settings);
  auto client = sidecar.client();
  client.send(support::get_request(path_of(*settings, {0, 1, 2})));
  for (const ScriptedPeer* asked : {&silent, &silent_too, &late}) {
    ASSERT_TRUE(eventually([&] { return asked->requests() == 1; }));
    let_a_probe_fail(sidecar, *asked);
  }
  let_it_be_probed_again(sidecar, late);
  resumes.open();
  EXPECT_EQ(replica_of(client.read()), "cache-2");
  EXPECT_EQ(alive.requests(), 0U);
}

TEST(SilentReplica, WhereTheOriginMayBeAskedItAnswersInPlaceOfTheOnlyOne) {
  const ScriptedPeer silent(read_and_stall);
  const ScriptedPeer origin(always(support::answer("200 OK", "", "from the origin")));
  SomeSidecar sidecar({silent.address()}, [&](Settings& settings) {
    settings.routes[0].origins = {net::Origin{origin.address(), 1}};
    settings.without_replica = WithoutReplica::ask_origin;
  });
  auto client = sidecar.client();
  client.send(support::get_request("/"));
  ASSERT_TRUE(eventually([&] { return silent.requests() == 1; }));
  let_a_probe_fail(sidecar, silent);
  EXPECT_EQ(client.read().body, "from the origin");
}

// What is explained is what a request would meet: that this one says nothing.
TEST(SilentReplica, AnExplanationDoesNotWaitForTheOnlyOne) {
  const ScriptedPeer silent(read_and_stall);
  std::promise<Explanation> told;  // the sidecar tells it, also when it stops
  SomeSidecar sidecar({silent.address()});
  const std::string bytes = support::get_request("/");
  http::RequestHead head;
  ASSERT_TRUE(http::parse_request_head(bytes, http::HeadLimits::defaults(), head));
  sidecar->explain(
      {std::make_shared<const http::KeptRequest>(head), *IpAddress::parse("127.0.0.1")},
      [&](Explanation explanation) { told.set_value(std::move(explanation)); });
  ASSERT_TRUE(eventually([&] { return silent.requests() == 1; }));
  let_a_probe_fail(sidecar, silent);
  auto explanation = told.get_future();
  ASSERT_EQ(explanation.wait_for(support::patience), std::future_status::ready);
  EXPECT_EQ(explanation.get().in_vain.size(), 1U);
}

TEST(SilentReplica, ALateProofIsWaitedFor) {
  const std::string key(32, 'k');
  Gate ready;
  const ScriptedPeer late(support::proving_replica("cache-0", key, &ready));
  SomeSidecar sidecar({late.address()}, [&](Settings& settings) {
    settings.peer_keys = std::make_shared<const hop::PeerKeys>(*hop::PeerKeys::parse(key));
  });
  // The first probe, which is for the proof alone.
  sidecar.clock().advance(limits::deadline_tick);
  ASSERT_TRUE(eventually([&] { return late.requests() == 1; }));
  auto client = sidecar.client();
  client.send(support::get_request("/"));
  ASSERT_TRUE(eventually([&] { return late.requests() == 2; }));
  // The probe's time ends in the same turn as that for connecting.
  sidecar.clock().advance(limits::connect_timeout + limits::deadline_tick);
  ASSERT_TRUE(will_have_probed(sidecar, ProbeAnswer::failed, 1));
  ready.open();
  EXPECT_EQ(client.read().body, "member");
}

// Their requests failed, though the replica was only late, and so did all others that had to be
// repeated.
TEST(SilentReplica, WhomTheBudgetCantRepeatGoesOnWaiting) {
  Gate resumes;
  const ScriptedPeer late(silent_until(resumes, hit_of("cache-0")));
  const ScriptedPeer alive(always(hit_of("cache-1")));
  const auto settings = settings_for({late.address(), alive.address()});
  SomeSidecar sidecar(settings);
  constexpr std::size_t left_over = 5;
  std::vector<support::TestClient> waiting;
  for (std::size_t i = 0; i < limits::retry_budget_floor + left_over; ++i) {
    waiting.push_back(sidecar.client());
    waiting.back().send(support::get_request(path_of(*settings, {0, 1})));
    ASSERT_TRUE(eventually([&] { return late.requests() == waiting.size(); }));
  }
  let_a_probe_fail(sidecar, late);
  for (std::size_t i = 0; i < limits::retry_budget_floor; ++i) {
    EXPECT_EQ(replica_of(waiting[i].read()), "cache-1") << i;
  }
  EXPECT_EQ(sidecar.totals().of("ringside_retries_total"), limits::retry_budget_floor);
  resumes.open();
  for (std::size_t i = limits::retry_budget_floor; i < waiting.size(); ++i) {
    EXPECT_EQ(replica_of(waiting[i].read()), "cache-0") << i;
  }
}

TEST(SilentReplica, ASlowOriginIsNoFailedReplica) {
  Gate origin_answers;
  const ScriptedPeer waiting([&](Stage& stage) {
    if (is_probe(stage.read_request())) {
      stage.send(probe_answer);
      return;
    }
    stage.wait(origin_answers);
    stage.send(hit_of("cache-0"));
  });
  const ScriptedPeer other(always(hit_of("cache-1")));
  const auto settings = settings_for({waiting.address(), other.address()});
  SomeSidecar sidecar(settings);
  auto client = sidecar.client();
  client.send(support::get_request(path_of(*settings, {0, 1})));
  ASSERT_TRUE(eventually([&] { return waiting.requests() == 1; }));
  for (std::uint64_t probes = 1; probes <= 5; ++probes) {
    sidecar.clock().advance(limits::probe_interval + limits::deadline_tick);
    ASSERT_TRUE(will_have_probed(sidecar, ProbeAnswer::answered, probes));
  }
  origin_answers.open();
  EXPECT_EQ(replica_of(client.read()), "cache-0");
  EXPECT_EQ(ejections(sidecar, "cache-0"), 0U);
  EXPECT_EQ(other.requests(), 0U);
}

// So many that they would, by their number alone.
TEST(SilentReplica, WaitsThatRanOutForASlowOriginDoNotEject) {
  const ScriptedPeer waiting([](Stage& stage) {
    if (!is_probe(stage.read_request())) stage.stall();
    stage.send(probe_answer);
  });
  SomeSidecar sidecar({waiting.address(), waiting.address()}, [](Settings& change) {
    change.first_byte_timeout = change.request_deadline = Milliseconds{60'000};
  });
  std::vector<support::TestClient> clients;
  for (unsigned i = 0; i < limits::ejection_failures + 1; ++i) {
    clients.push_back(sidecar.client());
    clients.back().send(support::get_request("/"));
  }
  ASSERT_TRUE(eventually([&] { return waiting.requests() == clients.size(); }));
  sidecar.clock().advance(limits::suspicion_after + limits::deadline_tick);
  ASSERT_TRUE(will_have_probed(sidecar, ProbeAnswer::answered, 1));
  sidecar.clock().advance(Milliseconds{60'000});
  for (auto& client : clients) EXPECT_EQ(client.read().status, 504);
  EXPECT_EQ(ejected_now(sidecar), 0U);
}

TEST(SilentReplica, WhatMayNotBeRepeatedGoesOnWaiting) {
  Gate resumes;
  const ScriptedPeer stopped(silent_until(resumes, hit_of("cache-0")));
  const ScriptedPeer other(always(hit_of("cache-1")));
  const auto settings = settings_for({stopped.address(), other.address()});
  SomeSidecar sidecar(settings);
  auto client = sidecar.client();
  client.send(post(path_of(*settings, {0, 1}), "order"));
  ASSERT_TRUE(eventually([&] { return stopped.requests() == 1; }));
  // The wait begins when the sidecar knows that the body is out, which may be after this.
  ASSERT_TRUE(ticks_until(sidecar, [&] { return ejected_now(sidecar) == 1; }));
  resumes.open();
  const auto reply = client.read();
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(replica_of(reply), "cache-0");
  ASSERT_EQ(other.requests(), 1U);  // told what is invalid now; not the order
  EXPECT_EQ(other.heads().back().find("OPTIONS "), 0U);
}

}  // namespace
}  // namespace ringside::sidecar
