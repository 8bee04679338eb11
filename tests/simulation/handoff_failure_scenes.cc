#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "tests/simulation/handoff_scenes.h"
#include "tests/simulation/moving_scene.h"

// Something fails while buckets move.

namespace ringside::simulation {
namespace {

// What a new member had is lost with it, and nothing else.
void newcomer_dies(std::uint64_t seed) {
  MovingScene scene(seed, 3);
  scene.tier.grow();
  scene.tell_all();
  const std::size_t newcomer = scene.tier.replicas() - 1;
  scene.run_for_a_while();
  const std::size_t lost = scene.stored_at(newcomer);
  // What it fetches in this moment is lost as well.
  const std::size_t in_flight = SimulatedTier::flights_of(scene.tier.replica(newcomer));
  scene.tier.crash_replica(newcomer);
  scene.tier.remove(newcomer);
  scene.tell_all();
  scene.expect_end(lost + in_flight);
}

// Likewise what one had that gives.
void giver_dies(std::uint64_t seed) {
  MovingScene scene(seed, 3);
  scene.tier.grow();
  scene.tell_all();
  const std::size_t giver = scene.world.random().below(3);
  scene.run_for_a_while();
  const std::size_t lost = scene.stored_at(giver);
  const std::size_t in_flight = SimulatedTier::flights_of(scene.tier.replica(giver));
  scene.tier.crash_replica(giver);
  scene.tier.remove(giver);
  scene.tell_all();
  scene.expect_end(lost + in_flight);
}

// Something between two replicas ends their connections, again and again.
void connections_break(std::uint64_t seed) {
  MovingScene scene(seed, 3);
  scene.tier.grow();
  scene.tell_all();
  const SimulatedHost& newcomer = scene.tier.replica_machine(3).host;
  for (int round = 0; round < 4; ++round) {
    scene.world.run_for(Milliseconds{scene.world.random().below(60)});
    const std::size_t other = scene.world.random().below(3);
    scene.world.network().reset_between(newcomer, scene.tier.replica_machine(other).host);
  }
  scene.expect_end();
}

// A newcomer says with its next question that it has what it was given. That comes too late, or
// never.
void acknowledgement_is_lost(std::uint64_t seed) {
  MovingScene scene(seed, 3);
  const std::size_t newcomer = scene.tier.replicas();
  scene.tier.grow();
  scene.tell_all();
  std::size_t before = 0;
  std::uint64_t gifts = 1 + scene.world.random().below(6);
  // It has taken some over in this turn: the next question is on its way, or is yet to come.
  const auto has_taken = [&] {
    const std::size_t away = scene.tier.buckets_away(newcomer);
    if (away < std::exchange(before, away)) --gifts;
    return gifts == 0;
  };
  ASSERT_TRUE(scene.world.run_until(has_taken, scene_patience));
  SimulatedNetwork& network = scene.world.network();
  const SimulatedHost& host = scene.tier.replica_machine(newcomer).host;
  for (std::size_t giver = 0; giver < newcomer; ++giver) {
    network.cut(host, scene.tier.replica_machine(giver).host);
  }
  // For less than it takes to count as unreachable: then others would take over what it has.
  scene.world.run_for(Milliseconds{scene.world.random().below(150)});
  for (std::size_t giver = 0; giver < newcomer; ++giver) {
    const SimulatedHost& other = scene.tier.replica_machine(giver).host;
    if (seed % 2 == 0) network.lose_held(host, other);
    network.heal(host, other);
    if (seed % 2 == 0) network.reset_between(host, other);
  }
  scene.expect_end();
}

// One is cut off from the tier, not from the origin, for so long that the others take its buckets
// over.
void is_parted_and_comes_back(std::uint64_t seed) {
  MovingScene scene(seed, 4);
  const std::size_t parted = scene.any_replica();
  const SimulatedHost& host = scene.tier.replica_machine(parted).host;
  SimulatedNetwork& network = scene.world.network();
  const SimulatedHost& origin = scene.tier.origin().machine().host;
  network.isolate(host);
  network.heal(host, origin);
  network.heal(origin, host);
  if (seed % 2 == 0) scene.tier.grow();
  if (seed % 2 == 0) scene.tell_all();
  EXPECT_TRUE(scene.run_until_answered(scene.requests() / 2));
  scene.run_for_a_while();
  network.rejoin(host);
  scene.expect_end(scene.paths);
}

void any_crashes_and_comes_back(std::uint64_t seed) {
  MovingScene scene(seed, 5);
  scene.tier.grow();
  const std::size_t victim = scene.any_replica();
  scene.tier.crash_replica(victim);
  scene.publish_in_any_order();
  scene.tier.start_replica(victim);
  scene.expect_end(scene.paths);
  EXPECT_EQ(scene.clients.unanswered(), 0U);
}

// Others have fetched for it meanwhile: what is theirs for so long comes to it, and comes again
// where it is gone once more in the middle of that.
void returns_while_its_buckets_are_on_loan(std::uint64_t seed) {
  MovingScene scene(seed, 4);
  const std::size_t victim = scene.any_replica();
  std::size_t lost = 0;
  const auto crash = [&] {
    lost += scene.stored_at(victim) + SimulatedTier::flights_of(scene.tier.replica(victim));
    scene.tier.crash_replica(victim);
  };
  crash();
  ASSERT_TRUE(scene.run_until_answered(scene.requests() / 2));
  scene.tier.start_replica(victim);
  scene.run_for_a_while();
  if (seed % 2 == 0) {
    crash();
    scene.run_for_a_while();
    scene.tier.start_replica(victim);
  }
  scene.expect_end(lost);
}

void one_hangs(std::uint64_t seed) {
  MovingScene scene(seed, 5);
  scene.tier.grow();
  const std::size_t victim = scene.any_replica();
  auto& machine = scene.tier.replica_machine(victim);
  scene.world.freeze(machine);
  for (std::size_t index = 0; index < scene.tier.replicas(); ++index) {
    if (index != victim) scene.tier.tell_replica(index);
  }
  scene.tier.publish(0);
  EXPECT_TRUE(scene.run_until_answered(scene.requests() / 2));
  scene.world.thaw(machine);
  scene.tier.tell_replica(victim);
  scene.tier.publish(1);
  scene.expect_end(scene.paths);
  EXPECT_EQ(scene.clients.unanswered(), 0U);
}

constexpr auto scenes_of_failures = std::to_array<HandoffScene>({
    {"NewcomerDies", newcomer_dies, 20},
    {"GiverDies", giver_dies, 20},
    {"ConnectionsBreak", connections_break, 20},
    {"AcknowledgementIsLost", acknowledgement_is_lost, 20},
    {"IsPartedAndComesBack", is_parted_and_comes_back, 10},
    {"AnyCrashesAndComesBack", any_crashes_and_comes_back, 20},
    {"ReturnsWhileItsBucketsAreOnLoan", returns_while_its_buckets_are_on_loan, 20},
    {"OneHangs", one_hangs, 10},
});

}  // namespace

std::span<const HandoffScene> failure_scenes() { return scenes_of_failures; }

}  // namespace ringside::simulation
