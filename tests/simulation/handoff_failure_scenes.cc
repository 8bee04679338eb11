#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/simulation/changing_scene.h"
#include "tests/simulation/handoff_scenes.h"
#include "tests/simulation/moving_scene.h"

// Something fails while buckets move.

namespace ringside::simulation {
namespace {

// When the origin made what each sidecar has given last of each page.
class NewestTimes {
 public:
  explicit NewestTimes(ChangingScene& scene) : scene_(scene), times_(scene.pages) {}

  void ask_both_at_once() {
    for (std::size_t number = 0; number < times_.size(); ++number) {
      const auto request = get_request(ChangingScene::page(number));
      std::array<std::shared_ptr<const SimulatedClient::Asked>, 2> asked;
      for (std::size_t sidecar = 0; sidecar < 2; ++sidecar) {
        asked[sidecar] = scene_.client.begin(scene_.tier.address(sidecar), request);
      }
      for (std::size_t sidecar = 0; sidecar < 2; ++sidecar) {
        const auto is_done = [&] { return asked[sidecar]->done; };
        ASSERT_TRUE(scene_.world.run_until(is_done, scene_patience));
        note(number, sidecar, asked[sidecar]->reply);
      }
    }
  }
  // Both give the youngest, which is fetched no more.
  void expect_nothing_else() {
    const std::size_t fetches = scene_.tier.origin().all_fetches();
    EXPECT_LE(fetches, 2 * times_.size());
    for (auto& [first, second] : times_) first = second = std::max(first, second);
    const auto youngest = times_;
    ask_both_at_once();
    EXPECT_EQ(times_, youngest);
    EXPECT_EQ(scene_.tier.origin().all_fetches(), fetches);
  }

 private:
  void note(std::size_t number, std::size_t sidecar, const support::Reply& reply) {
    EXPECT_EQ(reply.status, 200);
    EXPECT_TRUE(reply.body == body_of(ChangingScene::page(number)));
    const std::uint64_t time = std::strtoull(reply.field("x-time").c_str(), nullptr, 10);
    auto& before = times_[number][sidecar];
    EXPECT_GE(time, before) << ChangingScene::page(number) << " has become older";
    before = time;
  }

  ChangingScene& scene_;
  std::vector<std::array<std::uint64_t, 2>> times_;  // by page and sidecar
};

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
  scene.tier.part();
  network.isolate(host);
  network.heal(host, origin);
  network.heal(origin, host);
  if (seed % 2 == 0) scene.tier.grow();
  if (seed % 2 == 0) scene.tell_all();
  EXPECT_TRUE(scene.run_until_answered(scene.requests() / 2));
  scene.run_for_a_while();
  network.rejoin(host);
  scene.tier.join();
  scene.expect_end(scene.paths);
}

// Others can't hear one of them and take over what it holds, and sidecars notice nothing: of those,
// one asks it and the other one asks the others. Nobody is given anything older than before at the
// same sidecar. When they hear each other, what is youngest stays.
void two_answer_at_once(std::uint64_t seed) {
  ChangingScene scene(seed);
  World& world = scene.world;
  SimulatedTier& tier = scene.tier;
  // Until then it may hold nothing that others could take over.
  while (!tier.is_settled() && world.now() < scene_patience) world.run_for(Milliseconds{5});
  // Nobody takes over what nobody asks for: it holds a page.
  std::size_t parted = world.random().below(tier.replicas());
  while (tier.stored_responses(parted) == 0) parted = (parted + 1) % tier.replicas();
  const auto for_each_other = [&](const auto& what) {
    for (std::size_t index = 0; index < tier.replicas(); ++index) {
      if (index != parted) what(index);
    }
  };
  SimulatedNetwork& network = world.network();
  const SimulatedHost& host = tier.replica_machine(parted).host;
  tier.part();
  tier.weigh(parted, 0);
  for_each_other([&](std::size_t index) {
    network.cut(host, tier.replica_machine(index).host);
    network.cut(tier.replica_machine(index).host, host);
    tier.tell_replica(index);
  });
  tier.publish(1);
  // Who asks nothing of it may not notice that it is gone, and sends sidecars to it. So one of them
  // can't reach it either, until another replica has taken over.
  const SimulatedHost& front = tier.sidecar_machine(1).host;
  network.cut(host, front);
  network.cut(front, host);
  while (!tier.has_two_authorities() && world.now() < scene_patience) {
    EXPECT_EQ(scene.client.get(tier.address(1), scene.any_page()).reply.status, 200);
  }
  ASSERT_TRUE(tier.has_two_authorities());
  network.heal(host, front);
  network.heal(front, host);
  NewestTimes newest(scene);
  for (int round = 0; round < 3; ++round) {
    newest.ask_both_at_once();
    world.run_for(Milliseconds{world.random().below(500)});
  }
  EXPECT_TRUE(tier.has_two_authorities());
  for_each_other([&](std::size_t index) {
    network.heal(host, tier.replica_machine(index).host);
    network.heal(tier.replica_machine(index).host, host);
  });
  tier.join();
  newest.ask_both_at_once();
  tier.tell_replica(parted);
  tier.publish(0);
  world.run_for(Authorities::parted_most);
  EXPECT_TRUE(tier.is_settled());
  newest.expect_nothing_else();
}

// While the victim is gone, two may take over what it had: the newcomer, and by the older topology
// another one.
void any_crashes_and_comes_back(std::uint64_t seed) {
  MovingScene scene(seed, 5);
  scene.tier.grow();
  const std::size_t victim = scene.any_replica();
  scene.tier.part();
  scene.tier.crash_replica(victim);
  scene.publish_in_any_order();
  scene.tier.start_replica(victim);
  scene.tier.join();
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
  scene.tier.part();
  scene.world.freeze(machine);
  for (std::size_t index = 0; index < scene.tier.replicas(); ++index) {
    if (index != victim) scene.tier.tell_replica(index);
  }
  scene.tier.publish(0);
  EXPECT_TRUE(scene.run_until_answered(scene.requests() / 2));
  scene.world.thaw(machine);
  scene.tier.join();
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
    {"TwoAnswerAtOnce", two_answer_at_once, 10},
    {"AnyCrashesAndComesBack", any_crashes_and_comes_back, 20},
    {"ReturnsWhileItsBucketsAreOnLoan", returns_while_its_buckets_are_on_loan, 20},
    {"OneHangs", one_hangs, 10},
});

}  // namespace

std::span<const HandoffScene> failure_scenes() { return scenes_of_failures; }

}  // namespace ringside::simulation
