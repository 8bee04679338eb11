#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "tests/sidecar/some_sidecar.h"

namespace ringside::sidecar {
namespace {

using support::always;
using support::eventually;
using support::Gate;
using support::ScriptedPeer;
using support::Stage;

bool is_probe_of(std::string_view head) { return head.starts_with("OPTIONS * HTTP/1.1\r\n"); }

// Who waits for the only owner goes on waiting: there is nobody else to turn to.
TEST(DrainedReplica, TakesNobodysPlace) {
  Gate resumes;
  const ScriptedPeer slow([&](Stage& stage) {
    if (is_probe_of(stage.read_request())) stage.stall();
    stage.wait(resumes);
    stage.send(hit_of("cache-0"));
  });
  const ScriptedPeer drained(always(hit_of("cache-1")));
  const auto settings = settings_for({slow.address(), drained.address()}, [](Settings& change) {
    change.membership = std::make_shared<const tier::Membership>(
        shard::Topology::make({{"cache-0", 1, ""}, {"cache-1", 0, ""}}, "ring", 1).value(),
        change.membership->addresses);
  });
  SomeSidecar sidecar(settings);
  auto client = sidecar.client();
  client.send(support::get_request("/a"));
  ASSERT_TRUE(eventually([&] { return slow.requests() == 1; }));
  sidecar.clock().advance(limits::suspicion_after + limits::deadline_tick);
  ASSERT_TRUE(eventually([&] { return slow.requests() == 2; }));
  sidecar.clock().advance(limits::probe_timeout + limits::deadline_tick);
  ASSERT_TRUE(eventually([&] {
    return sidecar.totals().of("ringside_replica_probes_total", metrics::ProbeAnswer::failed) == 1;
  }));
  resumes.open();
  EXPECT_TRUE(client.read().field("cache-status").starts_with("cache-0"));
  EXPECT_EQ(drained.requests(), 0U);
}

}  // namespace
}  // namespace ringside::sidecar
