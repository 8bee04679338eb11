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

std::string page_of(const SimulatedTier& tier, std::size_t replica) {
  for (int number = 0;; ++number) {
    std::string path = fmt::format("/page-{}", number);
    if (tier.owner_of(fmt::format("ZZ\n{}\n", path)) == replica) return path;
  }
}

// It may be the only one that knows the leaver. It keeps what it has stored itself: the answer.
TEST(SimulationOfPurge, WhoHasAnsweredAnUnsafeMethodPassesItOnToALeaver) {
  for (const std::uint64_t seed : seeds(4)) {
    SCOPED_TRACE(shown(seed));
    World world(seed);
    Shape shape = obeying_all();
    shape.knows_peers = true;
    shape.replicas = 2;
    std::size_t move_rate_mib_s = limits::move_rate_mib_s;
    shape.of_replicas = [&](cache::Settings& settings) {
      settings.move_rate_mib_s = move_rate_mib_s;
    };
    SimulatedTier tier(world, shape);
    SimulatedClient client(world, "client");
    EXPECT_TRUE(world.run_until([&] { return tier.is_settled(); }, scene_patience));
    const std::string pages[] = {page_of(tier, 0), page_of(tier, 1)};
    for (const std::string& page : pages) {
      EXPECT_EQ(client.get(tier.address(), page).reply.status, 200);
    }
    tier.remove(1);
    move_rate_mib_s = 0;  // so that it keeps what it has
    for (const std::size_t replica : {0U, 1U}) tier.tell_replica(replica);
    const auto stored_at = [&](std::size_t replica) {
      return tier.replica(replica).sheet().totals().store->entries;
    };
    EXPECT_EQ(stored_at(0), 1U);
    EXPECT_EQ(stored_at(1), 1U);
    // What was passed on goes no further. Then as its sidecar says it.
    for (const std::string relayed : {"Ringside-Relayed: cache-9\r\n", ""}) {
      const auto told =
          client.ask(port_of(tier.replica_machine(0)),
                     fmt::format("OPTIONS {0} HTTP/1.1\r\nHost: a.test\r\nMax-Forwards: 0\r\n"
                                 "Ringside-Topology: {2}\r\nRingside-Purge: mark 1\r\n{3}"
                                 "Ringside-Invalidated: {0}\r\nRingside-Invalidated: {1}\r\n\r\n",
                                 pages[0], pages[1],
                                 tier.replica(0).settings()->membership->topology_id, relayed));
      EXPECT_EQ(told.reply.status, 200);
      EXPECT_EQ(stored_at(0), 1U);
      EXPECT_EQ(stored_at(1), relayed.empty() ? 0U : 1U);
    }
  }
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
