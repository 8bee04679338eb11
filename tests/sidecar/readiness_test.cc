// What the source of the members says of them goes before what we see of them.
#include <gtest/gtest.h>

#include <string>

#include "tests/sidecar/probed_replica.h"
#include "tests/sidecar/some_sidecar.h"

namespace ringside::sidecar {
namespace {

using support::always;
using support::eventually;
using support::Gate;
using support::refusing_address;
using support::ScriptedPeer;
using support::Stage;

// It keeps its keys, and is asked for them when nobody else is left.
TEST(Readiness, AMemberThatIsNotReadyIsAskedLast) {
  const ScriptedPeer unready(always(hit_of("cache-0")));
  const ScriptedPeer ready(always(hit_of("cache-1")));
  const auto settings = settings_for({unready.address(), ready.address()});
  const auto path = path_of(*settings, {0, 1});
  SomeSidecar sidecar(settings_for({unready.address(), ready.address()}, [](Settings& s) {
    set_ready(s, {false, true});
  }));
  EXPECT_EQ(replica_of(sidecar.get(path)), "cache-1");
  EXPECT_EQ(unready.requests(), 0U);
  EXPECT_EQ(sidecar.totals().of("ringside_retries_total"), 0U);

  sidecar->apply(settings);
  EXPECT_EQ(replica_of(sidecar.get(path)), "cache-0") << "its keys are its own again";

  sidecar->apply(settings_for({unready.address(), refusing_address()}, [](Settings& s) {
    set_ready(s, {false, true});
  }));
  EXPECT_EQ(replica_of(sidecar.get(path)), "cache-0") << "better than nobody";
}

TEST(Readiness, AMemberThatIsNowhereIsNeverAsked) {
  const ScriptedPeer there(always(hit_of("cache-1")));
  const auto settings = settings_for({Endpoint{}, there.address()}, [](Settings& s) {
    set_ready(s, {false, true});
  });
  SomeSidecar sidecar(settings);
  EXPECT_EQ(replica_of(sidecar.get(path_of(*settings, {0, 1}))), "cache-1");
  EXPECT_EQ(sidecar.totals().of("ringside_retries_total"), 0U);

  sidecar->apply(settings_for({Endpoint{}, refusing_address()}, [](Settings& s) {
    set_ready(s, {false, true});
  }));
  EXPECT_EQ(sidecar.get("/").status, 503);
  EXPECT_EQ(sidecar.totals().of("ringside_retries_total"), 0U) << "there was nobody else to ask";
  sidecar->apply(settings_for({Endpoint{}, Endpoint{}}, [](Settings& s) {
    set_ready(s, {false, false});
  }));
  EXPECT_EQ(sidecar.get("/").status, 503);
}

// Of two members one is restarting and the other is slow to answer a probe: it was taken out of
// service, and who waited for it was told 503.
TEST(Readiness, TheOnlyOneThatIsThereIsWaitedFor) {
  Gate answers;
  const ScriptedPeer slow([&](Stage& stage) {
    if (stage.read_request().starts_with("OPTIONS")) stage.close();
    stage.wait(answers);
    stage.send(hit_of("cache-1"));
  });
  SomeSidecar sidecar(settings_for({Endpoint{}, slow.address()}, [](Settings& s) {
    set_ready(s, {false, true});
  }));
  auto client = sidecar.client();
  client.send(support::get_request("/"));
  ASSERT_TRUE(eventually([&] { return slow.requests() == 1; }));
  sidecar.clock().advance(limits::suspicion_after + limits::deadline_tick);
  ASSERT_TRUE(eventually([&] {
    return sidecar.totals().of("ringside_replica_probes_total", metrics::ProbeAnswer::failed) == 1;
  }));
  for (const auto& shard : sidecar.totals().shards)
    EXPECT_EQ(shard.of("ringside_replica_ejections_total"), 0U);
  answers.open();
  EXPECT_EQ(replica_of(client.read()), "cache-1");
}

TEST(Readiness, APurgeIsIncompleteWhereAMemberIsNowhere) {
  const ScriptedPeer there(
      always("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nRingside-Purged: 2\r\n\r\n"));
  SomeSidecar sidecar(settings_for({Endpoint{}, there.address()}, [](Settings& s) {
    set_ready(s, {false, true});
  }));
  const auto report = sidecar.purge("a.test", "/");
  EXPECT_EQ(report.removed, 2U);
  ASSERT_EQ(report.missing.size(), 1U);
  EXPECT_EQ(report.missing.front(), "cache-0: has no address at present");
}

}  // namespace
}  // namespace ringside::sidecar
