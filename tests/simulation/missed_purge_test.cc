#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/simulation/scene.h"
#include "tests/simulation/seeds.h"

// What becomes of a purge, or an invalidation, that a replica does not confirm: it is waited for
// once and briefly, and it empties its store before it answers anything again.
// docs/decisions/missed-purges.md

namespace ringside::simulation {
namespace {

// What it takes to know that a replica does not answer.
constexpr Milliseconds known_most =
    limits::suspicion_after + limits::probe_timeout + limits::deadline_tick * 2 + slack;

std::uint64_t confirmations_missed(SimulatedTier& tier) {
  std::uint64_t sum = 0;
  for (std::size_t index = 0; index < tier.sidecars(); ++index) {
    for (const auto& shard : tier.sidecar(index).sheet().totals().shards) {
      sum += shard.of("ringside_invalidations_failed_total");
    }
  }
  return sum;
}

// A tier whose pages are all stored, a client who knows whose they are, and somebody who changes
// them.
struct MissedScene {
  explicit MissedScene(std::uint64_t seed, std::size_t sidecars = 1)
      : world(seed),
        tier(world, shape(sidecars)),
        client(world, "client"),
        author(world, "author") {
    for (std::size_t number = 0; number < pages; ++number) {
      const auto asked = client.get(tier.address(), page(number));
      owners.push_back(tier.named_in(asked.reply.field("cache-status")));
    }
    hung = owners.front();
    dead = (hung + 1) % tier.replicas();
  }

  static Shape shape(std::size_t sidecars) {
    const auto all = Network::parse("0.0.0.0/0").value();
    return {.replicas = 5,
            .sidecars = sidecars,
            .cores = 2,
            .of_replicas = [all](cache::Settings& settings) { settings.purge_from = {all}; },
            .of_sidecars = {}};
  }

  struct Purged {
    sidecar::PurgeReport report;
    Milliseconds took;
  };
  // As the admin page has it done.
  Purged purge(const std::string& target) {
    const auto report = std::make_shared<std::optional<sidecar::PurgeReport>>();
    const Instant began = world.now();
    tier.sidecar().purge(http::PurgeTarget::of_request("a.test", target),
                         [report](auto said) { *report = std::move(said); });
    EXPECT_TRUE(world.run_until([&] { return report->has_value(); }, scene_patience));
    return {report->value_or(sidecar::PurgeReport{}),
            std::chrono::duration_cast<Milliseconds>(world.now() - began)};
  }

  // A page of the dead one.
  [[nodiscard]] std::size_t of_dead() const {
    const auto found = std::find(owners.begin(), owners.end(), dead);
    return static_cast<std::size_t>(found - owners.begin());
  }

  // Nobody is given what is older than the last renewal.
  void expect_new_pages(std::size_t sidecar = 0) {
    for (std::size_t number = 0; number < pages; ++number) {
      const auto asked = client.get(tier.address(sidecar), page(number));
      EXPECT_EQ(asked.reply.status, 200);
      if (owners[number] != hung) continue;  // nobody has purged the others
      EXPECT_EQ(asked.reply.field("x-version"), tier.origin().version()) << page(number);
    }
  }

  World world;
  SimulatedTier tier;
  SimulatedClient client;
  SimulatedClient author;
  std::vector<std::size_t> owners;  // of the pages
  std::size_t hung = 0;
  std::size_t dead = 0;
};

TEST(SimulationOfMissedPurge, OneHungAndOneEjectedAreWaitedForOnceAndBriefly) {
  for (const std::uint64_t seed : seeds(6)) {
    SCOPED_TRACE(shown(seed));
    MissedScene scene(seed);
    scene.tier.crash_replica(scene.dead);
    for (int round = 0; ejected(scene.tier) < 2; ++round) {  // on both cores
      ASSERT_LT(round, 100);
      static_cast<void>(scene.client.get(scene.tier.address(), page(scene.of_dead())));
    }
    scene.world.freeze(scene.tier.replica_machine(scene.hung));
    const auto first = scene.purge("*");
    EXPECT_EQ(first.report.missing.size(), 2U);
    EXPECT_LT(first.took, known_most);
    for (int round = 0; round < 5; ++round) {
      const auto again = scene.purge(page(0));
      EXPECT_EQ(again.report.missing.size(), 2U);
      EXPECT_LT(again.took, at_once);
    }
    scene.tier.start_replica(scene.dead);
    scene.world.thaw(scene.tier.replica_machine(scene.hung));
    scene.world.run_for(limits::probe_interval + limits::probe_timeout + slack);
    EXPECT_EQ(scene.purge(page(0)).report.missing, std::vector<std::string>{});
  }
}

TEST(SimulationOfMissedPurge, WhoMissedOneForgetsEverythingBeforeItAnswersAnythingAgain) {
  for (const std::uint64_t seed : seeds(8)) {
    SCOPED_TRACE(shown(seed));
    MissedScene scene(seed, 2);
    auto& machine = scene.tier.replica_machine(scene.hung);
    if (seed % 2 == 0) {
      scene.world.freeze(machine);
    } else {
      scene.world.network().cut(scene.tier.sidecar_machine(0).host, machine.host);
    }
    // The first may lie in its socket, the others were never sent there.
    EXPECT_EQ(scene.purge("/elsewhere").report.missing.size(), 1U);
    scene.tier.origin().renew();
    for (std::size_t number = 0; number < pages; ++number) {
      EXPECT_EQ(scene.purge(page(number)).report.missing.size(), 1U);
    }
    if (seed % 2 == 0) {
      scene.world.thaw(machine);
    } else {
      scene.world.network().heal(scene.tier.sidecar_machine(0).host, machine.host);
    }
    for (int round = 0; round < 3; ++round) scene.expect_new_pages();
    // It has been told without being asked for anything: others find nothing old there either.
    scene.world.run_for(2 * limits::probe_interval + limits::probe_timeout + slack);
    scene.expect_new_pages(1);
    // And once: what was fetched since has stayed.
    scene.world.run_for(limits::slow_start + slack);
    scene.expect_new_pages();
    const auto fetches = scene.tier.origin().all_fetches();
    for (std::size_t number = 0; number < pages; ++number) {
      static_cast<void>(scene.client.get(scene.tier.address(), page(number)));
    }
    EXPECT_EQ(scene.tier.origin().all_fetches(), fetches);
  }
}

TEST(SimulationOfMissedPurge, AnUnsafeMethodWaitsForAHungReplicaOnce) {
  for (const std::uint64_t seed : seeds(6)) {
    SCOPED_TRACE(shown(seed));
    MissedScene scene(seed);
    scene.world.freeze(scene.tier.replica_machine(scene.hung));
    std::size_t target = 0;  // of another one
    while (scene.owners[target] == scene.hung) ++target;
    for (std::uint64_t posts = 1; posts <= 6; ++posts) {
      const auto posted = scene.author.ask(scene.tier.address(), post_request(page(target)));
      EXPECT_EQ(posted.reply.status, 200);
      EXPECT_LT(posted.took(), posts == 1 ? known_most : at_once);
      EXPECT_EQ(confirmations_missed(scene.tier), posts);
    }
    scene.world.thaw(scene.tier.replica_machine(scene.hung));
    scene.world.run_for(2 * limits::probe_interval + slack);
    const auto posted = scene.author.ask(scene.tier.address(), post_request(page(target)));
    EXPECT_LT(posted.took(), at_once);
    EXPECT_EQ(confirmations_missed(scene.tier), 6U);
  }
}

// It is born empty, so the news cost it nothing that anybody would have been given.
TEST(SimulationOfMissedPurge, WhoWasRestartedIsToldAndServes) {
  for (const std::uint64_t seed : seeds(4)) {
    SCOPED_TRACE(shown(seed));
    MissedScene scene(seed);
    scene.tier.crash_replica(scene.hung);
    EXPECT_EQ(scene.purge("*").report.missing.size(), 1U);
    scene.tier.origin().renew();
    scene.tier.start_replica(scene.hung);
    scene.world.run_for(2 * limits::probe_interval + limits::slow_start + slack);
    EXPECT_EQ(scene.purge("/elsewhere").report.missing.size(), 0U);
    scene.expect_new_pages();
    const auto fetches = scene.tier.origin().all_fetches();
    scene.expect_new_pages();
    EXPECT_EQ(scene.tier.origin().all_fetches(), fetches);
  }
}

// What a sidecar does not know it can't tell. But what it knows now it tells, of whomever.
TEST(SimulationOfMissedPurge, ASidecarThatWasRestartedCountsAnew) {
  for (const std::uint64_t seed : seeds(4)) {
    SCOPED_TRACE(shown(seed));
    MissedScene scene(seed);
    for (int life = 0; life < 2; ++life) {
      scene.world.freeze(scene.tier.replica_machine(scene.hung));
      scene.tier.origin().renew();
      EXPECT_EQ(scene.purge("/elsewhere").report.missing.size(), 1U);
      EXPECT_EQ(scene.purge("*").report.missing.size(), 1U);
      scene.world.thaw(scene.tier.replica_machine(scene.hung));
      scene.world.run_for(2 * limits::probe_interval + limits::slow_start + slack);
      scene.expect_new_pages();
      scene.tier.crash_sidecar(0);
      scene.tier.start_sidecar(0);
    }
  }
}

}  // namespace
}  // namespace ringside::simulation
