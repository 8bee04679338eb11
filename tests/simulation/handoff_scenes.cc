#include "tests/simulation/handoff_scenes.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "tests/simulation/changing_scene.h"
#include "tests/simulation/moving_scene.h"

namespace ringside::simulation {
namespace {

void grows(std::uint64_t seed) {
  MovingScene scene(seed, 4);
  scene.tier.grow();
  scene.publish_in_any_order();
  scene.expect_end();
  EXPECT_EQ(scene.clients.unanswered(), 0U);
}

void grows_among_members_that_prove_themselves(std::uint64_t seed) {
  Shape shape = with_peer_key({.replicas = 3, .sidecars = 1, .cores = 1});
  shape.knows_peers = true;
  MovingScene scene(seed, shape);
  scene.tier.grow();
  scene.publish_in_any_order();
  scene.expect_end();
}

// SimulatedClients check the Age of each answer.
void grows_after_a_while(std::uint64_t seed) {
  MovingScene scene(seed, 3);
  EXPECT_TRUE(scene.run_until_all_answered());
  scene.world.run_for(Milliseconds{5'000});
  SimulatedClients later(scene.world, "later", scene.tier.addresses(), scene.targets, 1);
  scene.tier.grow();
  scene.tell_all();
  EXPECT_TRUE(scene.world.run_until([&] { return later.all_answered(); }, most));
  EXPECT_EQ(later.wrong(), std::vector<std::string>());
  scene.expect_end();
}

// All know of it before it is anywhere.
void newcomer_is_awaited(std::uint64_t seed) {
  MovingScene scene(seed, 4);
  scene.tier.announce();
  scene.publish_in_any_order();
  EXPECT_TRUE(scene.run_until_answered(MovingScene::requests / 2));
  scene.tier.start_replica(4);
  scene.publish_in_any_order();
  scene.expect_end();
}

void shrinks(std::uint64_t seed) {
  MovingScene scene(seed, 5);
  const std::size_t leaver = scene.any_replica();
  scene.tier.remove(leaver);
  scene.publish_in_any_order();
  ASSERT_TRUE(scene.run_until_given(leaver));
  EXPECT_EQ(scene.stored_at(leaver), 0U);
  scene.tier.crash_replica(leaver);
  scene.expect_end();
  EXPECT_EQ(scene.clients.unanswered(), 0U);
}

void restarts_one_after_the_other(std::uint64_t seed) {
  MovingScene scene(seed, 4);
  for (std::size_t index = 0; index < scene.tier.replicas(); ++index) {
    scene.tier.leave(index);
    ASSERT_TRUE(scene.run_until_given(index));
    scene.tier.crash_replica(index);
    const auto some_more = [&] {
      return std::min(scene.clients.answered() + 10, MovingScene::requests);
    };
    ASSERT_TRUE(scene.run_until_answered(some_more()));
    scene.tier.start_replica(index);
    ASSERT_TRUE(scene.run_until_answered(some_more()));
    // As a StatefulSet does: the next one when this one is ready.
    if (seed % 2 == 0) {
      ASSERT_TRUE(scene.run_until_settled());
    }
  }
  scene.expect_end();
}

void changes_overlap(std::uint64_t seed) {
  MovingScene scene(seed, 4);
  scene.tier.grow();
  scene.publish_in_any_order();
  scene.tier.remove(scene.world.random().below(3));
  scene.publish_in_any_order();
  scene.tier.grow();
  scene.publish_in_any_order();
  scene.expect_end();
  EXPECT_EQ(scene.clients.unanswered(), 0U);
}

// A version is for people: the newer topology may have the lower one.
void stateful_set_is_made_anew(std::uint64_t seed) {
  MovingScene scene(seed, 4);
  scene.tier.grow();
  scene.publish_in_any_order();
  if (seed % 2 == 0) scene.tier.grow();
  if (seed % 2 != 0) scene.tier.remove(scene.any_replica());
  scene.tier.begin_anew();
  scene.publish_in_any_order();
  scene.expect_end();
  EXPECT_EQ(scene.clients.unanswered(), 0U);
}

// The newcomer has no room for what is to be its own. All answers are right, and it ends.
void newcomer_is_short_of_memory(std::uint64_t seed) {
  Shape shape = MovingScene::shape_of(2);
  shape.of_starts = [](cache::Replica::Start& start) {
    if (start.name == "cache-2") start.memory_bytes = limits::kMiB;
  };
  MovingScene scene(seed, shape);
  scene.tier.grow();
  scene.publish_in_any_order();
  EXPECT_TRUE(scene.run_until_all_answered());
  EXPECT_EQ(scene.clients.wrong(), std::vector<std::string>());
  EXPECT_EQ(scene.clients.unanswered(), 0U);
  EXPECT_TRUE(scene.run_until_settled());
  const auto store = scene.tier.replica(2).sheet().totals().store;
  EXPECT_LE(store->used_bytes, limits::kMiB);
  EXPECT_GT(store->entries, 0U);
}

// What varies moves with all its variants, and who wants a part is given it of what moves.
void variants_and_parts_move(std::uint64_t seed) {
  constexpr std::size_t pages = 12;
  World world(seed);
  SimulatedTier tier(world, MovingScene::shape_of(3));
  SimulatedClient client(world, "client");
  tier.origin().add_fields("Vary: Accept-Language\r\nETag: \"x\"\r\n");
  const auto ask = [&](std::size_t sidecar, std::size_t page, const std::string& lines) {
    std::string request = get_request(ChangingScene::page(page));
    request.insert(request.size() - 2, lines);
    return client.begin(tier.address(sidecar), request);
  };
  const std::vector<std::string> languages{"Accept-Language: de\r\n", "Accept-Language: fr\r\n"};
  std::vector<std::shared_ptr<const SimulatedClient::Asked>> asked;
  const auto wait_for_all = [&](int status) {
    for (const auto& one : asked) {
      EXPECT_TRUE(world.run_until([&] { return one->done; }, most));
      EXPECT_EQ(one->reply.status, status);
    }
    asked.clear();
  };
  for (std::size_t page = 0; page < pages; ++page) {
    for (const auto& language : languages) asked.push_back(ask(0, page, language));
  }
  wait_for_all(200);
  tier.grow();
  for (std::size_t index = 0; index < tier.replicas(); ++index) {
    tier.tell_replica(index);
    for (std::size_t page = index; page < pages; page += 4) {
      asked.push_back(ask(page % 2, page, languages[page % 2] + "Range: bytes=1-3\r\n"));
    }
    if (index % 2 == 0) tier.publish(index / 2);
  }
  wait_for_all(206);
  for (std::size_t page = 0; page < pages; ++page) {
    for (const auto& language : languages) asked.push_back(ask(1, page, language));
  }
  wait_for_all(200);
  EXPECT_EQ(tier.origin().all_fetches(), pages * languages.size());
}

void weights_change(std::uint64_t seed) {
  MovingScene scene(seed, 4);
  const std::size_t heavy = scene.any_replica();
  scene.tier.weigh(heavy, 3);
  scene.publish_in_any_order();
  scene.tier.weigh(heavy, 0);  // drains
  scene.tier.weigh(scene.any_replica(), 2);
  scene.publish_in_any_order();
  scene.expect_end();
  EXPECT_EQ(scene.clients.unanswered(), 0U);
}

// Nobody is left to give anything to: all of it is lost, and nobody waits for ever.
void all_restart_at_once(std::uint64_t seed) {
  MovingScene scene(seed, 4);
  for (std::size_t index = 0; index < scene.tier.replicas(); ++index) {
    scene.tier.leave(index);
    scene.run_for_a_while();
  }
  for (std::size_t index = 0; index < scene.tier.replicas(); ++index) {
    ASSERT_TRUE(scene.run_until_given(index));
  }
  EXPECT_TRUE(scene.run_until_all_answered());
  for (std::size_t index = 0; index < scene.tier.replicas(); ++index) {
    scene.tier.crash_replica(index);
  }
  for (std::size_t index = 0; index < scene.tier.replicas(); ++index) {
    scene.tier.start_replica(index);
    if (seed % 2 == 0) scene.run_for_a_while();
  }
  scene.world.run_for(limits::holder_pause_most);
  SimulatedClients later(scene.world, "later", scene.tier.addresses(), scene.targets, 1);
  EXPECT_TRUE(scene.world.run_until([&] { return later.all_answered(); }, most));
  EXPECT_EQ(later.wrong(), std::vector<std::string>());
  // Once with the restart, and once before it: where nobody is to take a bucket, nobody is asked
  // for it.
  scene.expect_end(2 * MovingScene::paths);
}

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
  EXPECT_TRUE(scene.run_until_answered(MovingScene::requests / 2));
  scene.run_for_a_while();
  network.rejoin(host);
  scene.expect_end(MovingScene::paths);
}

void any_crashes_and_comes_back(std::uint64_t seed) {
  MovingScene scene(seed, 5);
  scene.tier.grow();
  const std::size_t victim = scene.any_replica();
  scene.tier.crash_replica(victim);
  scene.publish_in_any_order();
  scene.tier.start_replica(victim);
  scene.expect_end(MovingScene::paths);
  EXPECT_EQ(scene.clients.unanswered(), 0U);
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
  EXPECT_TRUE(scene.run_until_answered(MovingScene::requests / 2));
  scene.world.thaw(machine);
  scene.tier.tell_replica(victim);
  scene.tier.publish(1);
  scene.expect_end(MovingScene::paths);
  EXPECT_EQ(scene.clients.unanswered(), 0U);
}

void pages_change_meanwhile(std::uint64_t seed) {
  ChangingScene scene(seed);
  for (int round = 0; round < 6; ++round) {
    scene.change_members();
    scene.tell_some();
    scene.change_page();
    scene.tell_some();
    scene.change_page();
  }
}

// One that leaves has missed a purge: what it gives is what the purge removes.
void leaver_missed_a_purge(std::uint64_t seed) {
  ChangingScene scene(seed);
  const std::size_t leaver = scene.world.random().below(4);
  const SimulatedHost& host = scene.tier.replica_machine(leaver).host;
  for (std::size_t index = 0; index < scene.tier.sidecars(); ++index) {
    scene.world.network().cut(scene.tier.sidecar_machine(index).host, host);
  }
  scene.tier.origin().renew();
  std::vector<std::string> purged;
  for (std::size_t number = 0; number < 4; ++number) {
    purged.push_back(ChangingScene::page(number));
    const auto request = ChangingScene::purge_request(purged.back());
    const auto done = scene.author.ask(scene.tier.address(number % 2), request);
    EXPECT_EQ(done.reply.status, 502) << "the leaver has not confirmed it";
  }
  scene.tier.remove(leaver);
  scene.tell_some();
  scene.tier.publish(0);
  scene.tier.publish(1);
  for (const std::string& target : purged) scene.expect_new(target);
  scene.world.run_for(limits::probe_interval + limits::probe_timeout);
  for (const std::string& target : purged) scene.expect_new(target);
}

// What is asked for the first time is under way for long.
void cold_requests_are_in_flight(std::uint64_t seed) {
  constexpr std::size_t pages = 24;
  World world(seed);
  SimulatedTier tier(world, MovingScene::shape_of(3));
  SimulatedClient client(world, "client");
  tier.origin().behave(Manner::late, Milliseconds{400});
  std::vector<std::shared_ptr<const SimulatedClient::Asked>> asked;
  const auto ask_for_all = [&](std::size_t sidecar) {
    for (std::size_t number = 0; number < pages; ++number) {
      const auto request = get_request(ChangingScene::page(number));
      asked.push_back(client.begin(tier.address(sidecar), request));
    }
  };
  ask_for_all(0);
  world.run_for(Milliseconds{10});
  tier.grow();
  for (std::size_t index = 0; index < tier.replicas(); ++index) tier.tell_replica(index);
  tier.publish(1);
  world.run_for(Milliseconds{world.random().below(300)});
  ask_for_all(1);
  for (const auto& one : asked) {
    EXPECT_TRUE(world.run_until([&] { return one->done; }, most));
    EXPECT_EQ(one->reply.status, 200);
  }
  EXPECT_EQ(tier.origin().all_fetches(), pages);
}

constexpr std::array scenes = {
    HandoffScene{"Grows", grows, 20},
    HandoffScene{"GrowsAmongMembersThatProveThemselves", grows_among_members_that_prove_themselves,
                 5},
    HandoffScene{"ColdRequestsAreInFlight", cold_requests_are_in_flight, 20},
    HandoffScene{"GrowsAfterAWhile", grows_after_a_while, 5},
    HandoffScene{"NewcomerIsAwaited", newcomer_is_awaited, 20},
    HandoffScene{"Shrinks", shrinks, 20},
    HandoffScene{"RestartsOneAfterTheOther", restarts_one_after_the_other, 10},
    HandoffScene{"ChangesOverlap", changes_overlap, 20},
    HandoffScene{"WeightsChange", weights_change, 20},
    HandoffScene{"StatefulSetIsMadeAnew", stateful_set_is_made_anew, 10},
    HandoffScene{"NewcomerIsShortOfMemory", newcomer_is_short_of_memory, 5},
    HandoffScene{"VariantsAndPartsMove", variants_and_parts_move, 20},
    HandoffScene{"AllRestartAtOnce", all_restart_at_once, 10},
    HandoffScene{"NewcomerDies", newcomer_dies, 20},
    HandoffScene{"GiverDies", giver_dies, 20},
    HandoffScene{"ConnectionsBreak", connections_break, 20},
    HandoffScene{"IsPartedAndComesBack", is_parted_and_comes_back, 10},
    HandoffScene{"AnyCrashesAndComesBack", any_crashes_and_comes_back, 20},
    HandoffScene{"OneHangs", one_hangs, 10},
    HandoffScene{"PagesChangeMeanwhile", pages_change_meanwhile, 20},
    HandoffScene{"LeaverMissedAPurge", leaver_missed_a_purge, 10},
};

}  // namespace

std::span<const HandoffScene> handoff_scenes() { return scenes; }

}  // namespace ringside::simulation
