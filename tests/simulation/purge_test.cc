#include <gtest/gtest.h>

#include <string>

#include "tests/simulation/scene.h"
#include "tests/simulation/seeds.h"

// A purge is complete when every replica has confirmed it: then nobody is given what was purged,
// whichever sidecar and core he comes to; else it says who is missing. The same holds for what an
// unsafe method has made invalid.

namespace ringside::simulation {
namespace {

const std::string target = target_of("page", 8'000, 12'000);

Shape obeying_all() {
  const auto all = Network::parse("0.0.0.0/0").value();
  return {.replicas = 4,
          .sidecars = 2,
          .cores = 2,
          .of_replicas = [all](cache::Settings& settings) { settings.purge_from = {all}; },
          .of_sidecars = [all](sidecar::Settings& settings) { settings.purge_from = {all}; }};
}

std::string purge_request(std::string_view path) {
  return fmt::format("PURGE {} HTTP/1.1\r\nHost: a.test\r\n\r\n", path);
}

// What was asked before may come from the origin afterwards; it must not be given any more.
void expect_forgotten(const std::string& request) {
  for (const std::uint64_t seed : seeds(20)) {
    SCOPED_TRACE(shown(seed));
    World world(seed);
    SimulatedTier tier(world, obeying_all());
    SimulatedClient client(world, "client"), author(world, "author");
    tier.origin().behave(Manner::late, Milliseconds{5});
    for (std::size_t round = 0; round < 10; ++round) {
      const auto meanwhile = client.begin(tier.address(round % 2), get_request(target));
      world.run_for(Milliseconds{world.random().below(12)});
      tier.origin().renew();
      const auto done = author.ask(tier.address(0), request);
      EXPECT_EQ(done.reply.status, 200) << done.reply.body;
      const auto after = client.get(tier.address(1), target);
      EXPECT_EQ(after.reply.status, 200);
      EXPECT_EQ(after.reply.field("x-version"), tier.origin().version());
      EXPECT_TRUE(world.run_until([&] { return meanwhile->done; }, scene_patience));
      EXPECT_TRUE(meanwhile->reply.whole);
      const auto later = client.get(tier.address(0), target);
      EXPECT_EQ(later.reply.field("x-version"), tier.origin().version());
    }
  }
}

TEST(SimulationOfPurge, NobodyIsGivenWhatWasSaidBeforeIt) {
  expect_forgotten(purge_request(target));
}

// RFC 9111 §4.4
TEST(SimulationOfPurge, NobodyIsGivenWhatAnUnsafeMethodHasMadeInvalid) {
  expect_forgotten(post_request(target));
}

TEST(SimulationOfPurge, SaysWhoIsMissing) {
  for (const std::uint64_t seed : seeds(4)) {
    SCOPED_TRACE(shown(seed));
    World world(seed);
    SimulatedTier tier(world, obeying_all());
    SimulatedClient client(world, "client");
    world.run_for(Milliseconds{100});
    if (seed % 2 == 0) {
      tier.crash_replica(2);
    } else {
      world.freeze(tier.replica_machine(2));
    }
    const auto purged = client.ask(tier.address(), purge_request("/page"));
    EXPECT_EQ(purged.reply.status, 502);
    EXPECT_NE(purged.reply.body.find("not confirmed by cache-2"), std::string::npos)
        << purged.reply.body;
    EXPECT_LT(purged.took(), limits::request_deadline + Milliseconds{200});
  }
}

}  // namespace
}  // namespace ringside::simulation
