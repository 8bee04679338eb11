#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "tests/sidecar/probed_replica.h"
#include "tests/sidecar/some_sidecar.h"

namespace ringside::sidecar {
namespace {

using metrics::ProbeAnswer;
using support::always;
using support::eventually;
using support::refusing_address;
using support::ScriptedPeer;
using support::Stage;

// A replica that ends every connection while it is down.
ScriptedPeer::Script up_and_down(const std::atomic<bool>& up, std::string answer) {
  return [&up, answer = std::move(answer)](Stage& stage) {
    while (true) {
      const std::string request = stage.read_request();
      if (!up) stage.close();
      stage.send(is_probe(request) ? probe_answer : answer);
    }
  };
}

TEST(ReplicaHealth, AReplicaThatFailsIsPassedOverUntilItAnswersAProbe) {
  std::atomic<bool> up{false};
  const ScriptedPeer failing(up_and_down(up, hit_of("cache-0")));
  const ScriptedPeer alive(always(hit_of("cache-1")));
  const auto settings = settings_for({failing.address(), alive.address()});
  SomeSidecar sidecar(settings);
  const auto path = path_of(*settings, {0, 1});
  auto client = sidecar.client();
  for (unsigned i = 0; i < limits::ejection_failures; ++i) {
    EXPECT_EQ(replica_of(client.get(path)), "cache-1");
  }
  EXPECT_EQ(ejections(sidecar, "cache-0"), 1U);
  EXPECT_EQ(ejected_now(sidecar), 1U);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(replica_of(client.get(path)), "cache-1");
  EXPECT_EQ(failing.requests(), limits::ejection_failures);
  EXPECT_EQ(sidecar.totals().of("ringside_retries_total"), limits::ejection_failures);

  sidecar.clock().advance(limits::probe_interval);
  ASSERT_TRUE(will_have_probed(sidecar, ProbeAnswer::failed, 1));
  EXPECT_EQ(ejected_now(sidecar), 1U);
  up = true;
  sidecar.clock().advance(limits::probe_interval);
  ASSERT_TRUE(will_have_probed(sidecar, ProbeAnswer::answered, 1));
  EXPECT_TRUE(eventually([&] { return ejected_now(sidecar) == 0; }));
  const auto probe = failing.heads().back();
  EXPECT_EQ(support::field(probe, "host"), failing.address().text());
  EXPECT_EQ(support::field(probe, "max-forwards"), "0");

  sidecar.clock().advance(limits::slow_start);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(replica_of(client.get(path)), "cache-0");
  EXPECT_EQ(ejections(sidecar, "cache-0"), 1U);
}

TEST(ReplicaHealth, AReplicaThatReturnsGetsItsKeysByAndBy) {
  std::atomic<bool> up{false};
  const ScriptedPeer returning(up_and_down(up, hit_of("cache-0")));
  const ScriptedPeer other(always(hit_of("cache-1")));
  const auto settings = settings_for({returning.address(), other.address()});
  SomeSidecar sidecar(settings);
  auto client = sidecar.client();
  const auto path = path_of(*settings, {0, 1});
  for (unsigned i = 0; i < limits::ejection_failures; ++i) (void)client.get(path);
  up = true;
  sidecar.clock().advance(limits::probe_interval);
  ASSERT_TRUE(will_have_probed(sidecar, ProbeAnswer::answered, 1));

  for (const std::uint64_t permille : {100U, 550U, 1'000U}) {
    std::size_t here = 0;
    for (int i = 0; i < 200; ++i) {
      const std::string key = "/key-" + std::to_string(i);
      if (owners_of(*settings, key).front() != 0) continue;
      const bool takes = hash64("ZZ\n" + key + "\n") % 1'000 < permille;
      EXPECT_EQ(replica_of(client.get(key)), takes ? "cache-0" : "cache-1") << key;
      here += takes ? 1 : 0;
    }
    EXPECT_GT(here, 0U);
    sidecar.clock().advance(limits::slow_start / 2);
  }
  EXPECT_EQ(sidecar.totals().of("ringside_retries_total"), limits::ejection_failures)
      << "a detour is no retry";
}

TEST(ReplicaHealth, NoMoreThanAShareIsEjected) {
  const std::vector<Endpoint> dead(4, refusing_address());
  SomeSidecar sidecar(dead);
  auto client = sidecar.client();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(client.get("/" + std::to_string(i)).status, 503);
  EXPECT_EQ(ejected_now(sidecar), 2U);
}

// A core that probes a thousand at once answers nobody meanwhile.
TEST(ReplicaHealth, ManyNewReplicasAreProbedByAndBy) {
  constexpr std::size_t rounds = 3;
  const std::vector<Endpoint> dead(rounds * limits::probes_at_once, refusing_address());
  SomeSidecar sidecar(dead, [](Settings& change) { change.insecure_peers = true; });
  for (std::size_t round = 1; round <= rounds; ++round) {
    sidecar.clock().advance(limits::deadline_tick);
    ASSERT_TRUE(will_have_probed(sidecar, ProbeAnswer::failed, round * limits::probes_at_once));
  }
  sidecar.clock().advance(limits::deadline_tick);
  EXPECT_TRUE(will_have_probed(sidecar, ProbeAnswer::failed, rounds * limits::probes_at_once))
      << "each once";
}

TEST(ReplicaHealth, WhoIsWaitedForIsProbedBeforeManyNewOnes) {
  const ScriptedPeer silent(read_and_stall);
  std::vector<Endpoint> before{silent.address()};
  SomeSidecar sidecar(before);
  auto client = sidecar.client();
  client.send(support::get_request("/"));
  ASSERT_TRUE(eventually([&] { return silent.requests() == 1; }));
  before.insert(before.end(), 4 * limits::probes_at_once, refusing_address());
  sidecar->apply(settings_for(before, [](Settings& change) { change.insecure_peers = true; }));
  sidecar.clock().advance(limits::suspicion_after + limits::deadline_tick);
  ASSERT_TRUE(eventually([&] { return probes_of(silent) == 1; }));
  EXPECT_LT(sidecar.totals().of("ringside_replica_probes_total", ProbeAnswer::failed),
            4 * limits::probes_at_once);
}

TEST(ReplicaHealth, TheOnlyReplicaIsAskedWhateverItsHealth) {
  std::atomic<bool> up{false};
  const ScriptedPeer only(up_and_down(up, hit_of("cache-0")));
  SomeSidecar sidecar({only.address()});
  auto client = sidecar.client();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(client.get("/").status, 503);
  up = true;
  EXPECT_EQ(client.get("/").status, 200);
  EXPECT_EQ(ejections(sidecar, "cache-0"), 0U);
}

TEST(ReplicaHealth, WhereTheOthersFailTheEjectedOneIsAskedAfterAll) {
  std::atomic<bool> up{false};
  const ScriptedPeer revived(up_and_down(up, hit_of("cache-0")));
  const auto settings = settings_for({revived.address(), refusing_address()});
  SomeSidecar sidecar(settings);
  const auto path = path_of(*settings, {0, 1});
  auto client = sidecar.client();
  for (unsigned i = 0; i < limits::ejection_failures; ++i) EXPECT_EQ(client.get(path).status, 503);
  ASSERT_EQ(ejections(sidecar, "cache-0"), 1U);
  up = true;
  EXPECT_EQ(replica_of(client.get(path)), "cache-0");
}

TEST(ReplicaHealth, AReloadForgetsNothingOfWhoStays) {
  std::atomic<bool> up{false};
  const ScriptedPeer failing(up_and_down(up, hit_of("cache-0")));
  const ScriptedPeer alive(always(hit_of("cache-1")));
  const std::vector<Endpoint> addresses{failing.address(), alive.address()};
  const auto settings = settings_for(addresses);
  SomeSidecar sidecar(settings);
  const auto path = path_of(*settings, {0, 1});
  for (unsigned i = 0; i < limits::ejection_failures; ++i) (void)sidecar.get(path);
  ASSERT_EQ(ejected_now(sidecar), 1U);
  sidecar->apply(settings_for(addresses));
  EXPECT_EQ(replica_of(sidecar.get(path)), "cache-1");
  EXPECT_EQ(failing.requests(), limits::ejection_failures);
  // One that leaves is not ejected any more, and comes back as any new one.
  sidecar->apply(settings_for({alive.address()}));
  EXPECT_EQ(ejected_now(sidecar), 0U);
  up = true;
  sidecar->apply(settings_for(addresses));
  EXPECT_EQ(replica_of(sidecar.get(path)), "cache-0");
}

TEST(ReplicaHealth, RepeatsEndWithTheirBudget) {
  const ScriptedPeer sometimes([](Stage& stage) {
    while (true) {
      if (stage.read_request().starts_with("GET /bad")) stage.close();
      stage.send(hit_of("cache-0"));
    }
  });
  const ScriptedPeer other(always(hit_of("cache-1")));
  const auto settings = settings_for({sometimes.address(), other.address()});
  SomeSidecar sidecar(settings);
  std::string bad;
  for (int i = 0; bad.empty(); ++i) {
    const std::string path = "/bad-" + std::to_string(i);
    if (owners_of(*settings, path).front() == 0) bad = path;
  }
  const auto good = path_of(*settings, {0, 1});
  auto client = sidecar.client();
  unsigned repeated = 0;
  for (unsigned i = 0; i < limits::retry_budget_floor * 2; ++i) {
    EXPECT_EQ(client.get(good).status, 200);  // no failures in a row
    const auto reply = client.get(bad);
    EXPECT_EQ(reply.status, i < limits::retry_budget_floor ? 200 : 502);
    repeated += reply.status == 200 ? 1 : 0;
  }
  EXPECT_EQ(repeated, limits::retry_budget_floor);
  EXPECT_EQ(sidecar.totals().of("ringside_retries_total"), limits::retry_budget_floor);
}

TEST(ReplicaHealth, WhatWasNeverSentIsNoRepeat) {
  const ScriptedPeer alive(always(hit_of("cache-2")));
  const auto settings = settings_for({refusing_address(), refusing_address(), alive.address()});
  SomeSidecar sidecar(settings);
  const auto path = path_of(*settings, {0, 1, 2});
  auto client = sidecar.client();
  for (unsigned i = 0; i < limits::retry_budget_floor * 2; ++i) {
    EXPECT_EQ(replica_of(client.get(path)), "cache-2");
  }
  EXPECT_GT(sidecar.totals().of("ringside_retries_total"), limits::retry_budget_floor);
}

TEST(ReplicaHealth, AReplicaIsToldHowLongItsAnswerIsOfUse) {
  struct Row {
    std::int64_t first_byte_ms, deadline_ms;
    std::string request, told;
  };
  const std::string get = support::get_request("/");
  for (const Row& row : std::vector<Row>{{30'000, 60'000, get, "29500"},
                                         {30'000, 10'000, get, "9500"},
                                         {30'000, 600, get, "300"},
                                         {30'000, 60'000, post("/", "ab"), "59500"}}) {
    const ScriptedPeer replica(always(hit_of("cache-0")));
    SomeSidecar sidecar({replica.address()}, [&](Settings& change) {
      change.first_byte_timeout = Milliseconds{row.first_byte_ms};
      change.request_deadline = Milliseconds{row.deadline_ms};
    });
    EXPECT_EQ(sidecar.ask(row.request).status, 200);
    EXPECT_EQ(support::field(replica.heads().back(), "ringside-deadline-ms"), row.told);
  }
}

TEST(ReplicaHealth, TheNextOwnerIsToldWhatIsLeft) {
  const ScriptedPeer silent(read_and_stall);
  const ScriptedPeer alive(always(hit_of("cache-1")));
  const auto settings = settings_for({silent.address(), alive.address()}, [](Settings& change) {
    change.first_byte_timeout = Milliseconds{4'000};
    change.request_deadline = Milliseconds{6'000};
  });
  SomeSidecar sidecar(settings);
  auto client = sidecar.client();
  client.send(support::get_request(path_of(*settings, {0, 1})));
  ASSERT_TRUE(eventually([&] { return silent.requests() == 1; }));
  sidecar.clock().advance(Milliseconds{4'100});
  EXPECT_EQ(client.read().status, 200);
  const auto heads = alive.heads();
  ASSERT_EQ(heads.size(), 1U);
  EXPECT_EQ(support::field(heads.front(), "ringside-deadline-ms"), "1400");
  std::size_t fields = 0;
  for (auto place = heads.front().find("Ringside-Deadline-Ms"); place != std::string::npos;
       place = heads.front().find("Ringside-Deadline-Ms", place + 1)) {
    ++fields;
  }
  EXPECT_EQ(fields, 1U);
}

}  // namespace
}  // namespace ringside::sidecar
