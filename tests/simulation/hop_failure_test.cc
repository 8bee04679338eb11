#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "tests/simulation/scene.h"
#include "tests/simulation/seeds.h"

// What docs/failure-modes.md says of replicas that fail, and of the network to them, in simulated
// time.

namespace ringside::simulation {
namespace {

constexpr Milliseconds late_most{800 + slack.count()};  // where nothing is noticed but that
constexpr Milliseconds found_again{2'000};

// A tier whose pages are all stored, and a client who knows whose they are.
struct HopScene {
  explicit HopScene(std::uint64_t seed, Shape shape = {.replicas = 4, .cores = 2})
      : world(seed), tier(world, std::move(shape)), client(world, "client") {
    for (std::size_t number = 0; number < pages; ++number) {
      owners.push_back(expect_page(number, at_once));
    }
    struck = owners.front();
  }

  // Returns who answers.
  std::size_t expect_page(std::size_t number, Milliseconds soon) {
    const auto asked = client.get(tier.address(), page(number));
    EXPECT_EQ(asked.reply.status, 200);
    EXPECT_TRUE(asked.reply.whole && asked.reply.body == body_of(page(number)));
    EXPECT_LT(asked.took(), soon);
    return tier.named_in(asked.reply.field("cache-status"));
  }
  void expect_all_pages(Milliseconds soon) {
    for (std::size_t number = 0; number < pages; ++number) expect_page(number, soon);
  }
  // Within so long all pages are with their owners, and on every core.
  void expect_return(Milliseconds soon) {
    world.run_for(soon);
    for (int round = 0; round < 3; ++round) {
      for (std::size_t number = 0; number < pages; ++number) {
        EXPECT_EQ(expect_page(number, at_once), owners[number]) << page(number);
      }
    }
    EXPECT_EQ(ejected(tier), 0U);
  }
  std::uint64_t retries() { return tier.sidecar().sheet().totals().of("ringside_retries_total"); }
  std::uint64_t errors_told() {
    return tier.sidecar().sheet().totals().shards.at(0).of("ringside_requests_total",
                                                           metrics::Outcome::error);
  }

  World world;
  SimulatedTier tier;
  SimulatedClient client;
  std::vector<std::size_t> owners;  // of the pages
  std::size_t struck = 0;
};

TEST(SimulationOfReplica, KilledGoesUnnoticedAndIsFoundWhenItIsBack) {
  for (const std::uint64_t seed : seeds(3)) {
    SCOPED_TRACE(shown(seed));
    HopScene scene(seed);
    scene.tier.crash_replica(scene.struck);
    for (int round = 0; round < 4; ++round) scene.expect_all_pages(at_once);
    EXPECT_GT(scene.retries(), 0U);
    EXPECT_GT(ejections(scene.tier), 0U);
    EXPECT_EQ(ejected(scene.tier), 2U) << "a core knows nothing of it";
    scene.tier.start_replica(scene.struck);
    EXPECT_TRUE(scene.world.run_until([&] { return ejected(scene.tier) == 0; },
                                      limits::probe_interval + slack));
    scene.expect_return(found_again);
    EXPECT_EQ(scene.errors_told(), 0U);
  }
}

TEST(SimulationOfReplica, StoppedGoesUnnoticedAndWhatMayNotBeRepeatedIsNot) {
  for (const std::uint64_t seed : seeds(3)) {
    SCOPED_TRACE(shown(seed));
    HopScene scene(seed);
    scene.world.freeze(scene.tier.replica_machine(scene.struck));
    const auto order = scene.client.begin(scene.tier.address(), post_request(page(0)));
    for (int round = 0; round < 4; ++round) scene.expect_all_pages(late_most);
    EXPECT_EQ(ejected(scene.tier), 2U) << "a core knows nothing of it";
    EXPECT_EQ(scene.errors_told(), 0U);
    EXPECT_TRUE(scene.world.run_until([&] { return order->done; }, scene_patience));
    EXPECT_EQ(order->reply.status, 504);
    EXPECT_NE(order->reply.field("proxy-status").find("error=http_response_timeout"),
              std::string::npos);
    EXPECT_EQ(scene.tier.origin().others(page(0)), 0U);
    scene.world.thaw(scene.tier.replica_machine(scene.struck));
    scene.expect_return(limits::probe_interval + found_again);
    EXPECT_LE(scene.tier.origin().others(page(0)), 1U);  // it has read what was sent to it
  }
}

// What a replica does in place of its answers, or the network to it. Probes fare no better.
struct HopRow {
  std::string_view name;
  Manner manner;
  Milliseconds soon;
};

void PrintTo(const HopRow& row, std::ostream* out) { *out << row.name; }

constexpr HopRow rows[] = {
    {"Resets", Manner::resets, at_once},
    {"HalfCloses", Manner::half_closes, at_once},
    {"IsSilent", Manner::silent, late_most},
    {"IsLate", Manner::late, late_most},
};

class SimulationOfHop : public testing::TestWithParam<HopRow> {};

TEST_P(SimulationOfHop, GoesUnnoticed) {
  for (const std::uint64_t seed : seeds(3)) {
    SCOPED_TRACE(shown(seed));
    HopScene scene(seed);
    scene.tier.crash_replica(scene.struck);
    {
      SimulatedOrigin in_its_place(scene.world, scene.tier.replica_machine(scene.struck));
      in_its_place.behave(GetParam().manner, 2 * limits::probe_timeout);
      for (int round = 0; round < 4; ++round) scene.expect_all_pages(GetParam().soon);
      EXPECT_GT(scene.retries(), 0U);
      EXPECT_EQ(ejected(scene.tier), 2U) << "a core knows nothing of it";
      in_its_place.crash();
    }
    scene.tier.start_replica(scene.struck);
    scene.expect_return(limits::probe_interval + found_again);
    EXPECT_EQ(scene.errors_told(), 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(That, SimulationOfHop, testing::ValuesIn(rows),
                         [](const auto& row) { return std::string(row.param.name); });

// What is lost, requests or answers or both, cannot be told apart from outside. Who has to connect
// first waits for that.
TEST(SimulationOfReplicas, APartitionOneWayOrBothGoesUnnoticed) {
  constexpr Milliseconds soon = limits::connect_timeout + slack;
  for (const std::uint64_t seed : seeds(6)) {
    SCOPED_TRACE(shown(seed));
    HopScene scene(seed);
    SimulatedNetwork& network = scene.world.network();
    const SimulatedHost& replica = scene.tier.replica_machine(scene.struck).host;
    const SimulatedHost& sidecar = scene.tier.sidecar_machine(0).host;
    if (seed % 3 != 0) network.cut(sidecar, replica);
    if (seed % 3 != 1) network.cut(replica, sidecar);
    for (int round = 0; round < 4; ++round) scene.expect_all_pages(soon);
    EXPECT_EQ(ejected(scene.tier), 2U) << "a core knows nothing of it";
    network.heal(sidecar, replica);
    network.heal(replica, sidecar);
    scene.expect_return(limits::probe_interval + limits::probe_timeout + found_again);
    EXPECT_EQ(scene.errors_told(), 0U);
  }
}

TEST(SimulationOfReplicas, AllButOneOutGoesUnnoticedAndHalfAtMostAreEjected) {
  for (const std::uint64_t seed : seeds(3)) {
    SCOPED_TRACE(shown(seed));
    // Three owners are tried for a request: so that one is left among them.
    HopScene scene(seed, {.replicas = 3, .cores = 2});
    for (std::size_t index = 1; index < 3; ++index) scene.tier.crash_replica(index);
    for (int round = 0; round < 4; ++round) {
      for (std::size_t number = 0; number < pages; ++number) {
        EXPECT_EQ(scene.expect_page(number, at_once), 0U);
      }
      EXPECT_LE(ejected(scene.tier), 2U) << "more than one, on two cores";
    }
    EXPECT_EQ(scene.errors_told(), 0U);
    for (std::size_t index = 1; index < 3; ++index) scene.tier.start_replica(index);
    scene.expect_return(limits::probe_interval + found_again);
  }
}

TEST(SimulationOfReplicas, WithNoneThereItIsSaidAndTheFirstThatReturnsIsFoundAtOnce) {
  for (const std::uint64_t seed : seeds(3)) {
    SCOPED_TRACE(shown(seed));
    HopScene scene(seed);
    for (std::size_t index = 0; index < 4; ++index) scene.tier.crash_replica(index);
    for (std::size_t number = 0; number < 2 * pages; ++number) {
      const auto asked = scene.client.get(scene.tier.address(), page(number));
      EXPECT_EQ(asked.reply.status, 503);
      EXPECT_EQ(asked.reply.field("retry-after"), "1");
      EXPECT_NE(asked.reply.field("proxy-status").find("error=destination_unavailable"),
                std::string::npos);
      EXPECT_LT(asked.took(), at_once);
    }
    scene.tier.start_replica(scene.struck);
    scene.world.run_for(limits::probe_interval + slack);
    EXPECT_EQ(scene.expect_page(0, at_once), scene.struck);
  }
}

TEST(SimulationOfReplicas, WithNoneThereTheOriginIsAskedWhereThatIsAllowed) {
  const auto allow = [](sidecar::Settings& settings) {
    settings.without_replica = sidecar::WithoutReplica::ask_origin;
  };
  for (const std::uint64_t seed : seeds(3)) {
    SCOPED_TRACE(shown(seed));
    HopScene scene(seed, {.replicas = 2, .cores = 2, .of_sidecars = allow});
    for (std::size_t index = 0; index < 2; ++index) scene.tier.crash_replica(index);
    scene.expect_all_pages(at_once);
    EXPECT_EQ(scene.tier.origin().fetches(page(0)), 2U);
  }
}

TEST(SimulationOfReplicas, ASlowOriginDoesNotCostItsReplicaTheService) {
  for (const std::uint64_t seed : seeds(3)) {
    SCOPED_TRACE(shown(seed));
    HopScene scene(seed);
    scene.tier.origin().behave(Manner::late, Milliseconds{20'000});
    const auto asked = scene.client.get(scene.tier.address(), "/slow");
    EXPECT_EQ(asked.reply.status, 200);
    EXPECT_EQ(scene.tier.origin().fetches("/slow"), 1U);
    EXPECT_EQ(ejections(scene.tier), 0U);
    const auto totals = scene.tier.sidecar().sheet().totals();
    EXPECT_GT(totals.of("ringside_replica_probes_total", metrics::ProbeAnswer::answered), 3U);
    EXPECT_EQ(totals.of("ringside_replica_probes_total", metrics::ProbeAnswer::failed), 0U);
  }
}

TEST(SimulationOfReplicas, AnInvalidationThatOneDoesNotConfirmHoldsTheAnswerUpOnce) {
  for (const std::uint64_t seed : seeds(4)) {
    SCOPED_TRACE(shown(seed));
    HopScene scene(seed);
    const bool is_dead = seed % 2 == 0;
    // Not the one that the request itself goes to.
    const std::size_t other = (scene.struck + 1) % scene.tier.replicas();
    if (is_dead) {
      scene.tier.crash_replica(other);
    } else {
      scene.world.freeze(scene.tier.replica_machine(other));
    }
    const auto asked = scene.client.ask(scene.tier.address(), post_request(page(0)));
    EXPECT_EQ(asked.reply.status, 200);
    const Milliseconds wait =
        is_dead ? Milliseconds{0} : limits::suspicion_after + limits::probe_timeout;
    EXPECT_GE(asked.took(), by_a_fast_clock(wait));
    EXPECT_LT(asked.took(), wait + slack);
    std::uint64_t failed = 0;
    for (const auto& shard : scene.tier.sidecar().sheet().totals().shards) {
      failed += shard.of("ringside_invalidations_failed_total");
    }
    EXPECT_EQ(failed, 1U);
    scene.expect_page(0, at_once);
    EXPECT_EQ(scene.tier.origin().fetches(page(0)), 2U);
  }
}

}  // namespace
}  // namespace ringside::simulation
