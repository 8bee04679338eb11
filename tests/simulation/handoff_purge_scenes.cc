#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/simulation/changing_scene.h"
#include "tests/simulation/handoff_scenes.h"

// Pages change while buckets move, by purges and by unsafe methods: nobody is given what was
// before, and what has not changed is not fetched again.

namespace ringside::simulation {
namespace {

void pages_change_meanwhile(std::uint64_t seed) {
  ChangingScene scene(seed);
  for (std::size_t round = 0; round < share_of(6, less().requests); ++round) {
    scene.change_members();
    scene.tell_some();
    scene.change_page();
    scene.tell_some();
    scene.change_page();
  }
  scene.expect_all_else_is_there();
}

// Replicas come back empty, or get another weight, and bring nothing back that they have missed.
void pages_change_while_replicas_restart(std::uint64_t seed) {
  ChangingScene scene(seed);
  World& world = scene.world;
  SimulatedTier& tier = scene.tier;
  for (std::size_t round = 0; round < share_of(6, less().requests); ++round) {
    const std::size_t one = world.random().below(tier.replicas());
    const std::uint64_t what = world.random().below(3);
    if (what == 0) scene.change_members();
    if (what == 1) tier.weigh(one, static_cast<std::uint32_t>(world.random().below(3) + one % 2));
    if (what == 2) {
      tier.part();
      tier.crash_replica(one);
      world.run_for(Milliseconds{world.random().below(400)});
      tier.start_replica(one);
      tier.join();
      scene.has_restarts = true;
    }
    scene.tell_some();
    scene.change_page(world.random().below(2) == 0 ? ChangingScene::Asked::sidecar
                                                   : ChangingScene::Asked::replica);
  }
}

// One sidecar goes on with what the tier was at first, whatever becomes of it.
void one_sidecar_never_hears_of_it(std::uint64_t seed) {
  ChangingScene scene(seed);
  for (std::size_t round = 0; round < share_of(6, less().requests); ++round) {
    scene.change_members();
    scene.tell_replicas();
    scene.tier.publish(0);
    scene.change_page();
    scene.change_page();
  }
  scene.expect_all_else_is_there();
}

// Who removes something itself, since it was asked to change it, is the one who gives, the one who
// is given, or neither.
void unsafe_methods_in_mid_move(std::uint64_t seed) {
  Shape shape = ChangingScene::usual_shape();
  shape.of_replicas = [of = shape.of_replicas](cache::Settings& settings) {
    of(settings);
    settings.move_rate_mib_s = 1;
  };
  ChangingScene scene(seed, shape);
  World& world = scene.world;
  for (std::size_t round = 0; round < share_of(4, less().requests); ++round) {
    scene.tier.grow();
    if (world.random().one_in(2)) scene.tier.remove(world.random().below(3));
    scene.tell_some();
    const std::size_t newcomer = scene.tier.replicas() - 1;
    std::size_t before = 0;
    std::uint64_t batches = 1 + world.random().below(6);
    const auto is_given_so_many = [&] {
      const std::size_t away = scene.tier.buckets_away(newcomer);
      if (away < std::exchange(before, away)) --batches;
      return batches == 0;
    };
    static_cast<void>(world.run_until(is_given_so_many, limits::move_pause));
    scene.tier.origin().renew();
    std::vector<std::string> targets;
    std::vector<std::shared_ptr<const SimulatedClient::Asked>> asked;
    for (int number = 0; number < 3; ++number) {
      targets.push_back(scene.any_page());
      scene.changed.insert(targets.back());
      asked.push_back(scene.author.begin(scene.any_sidecar(), post_request(targets.back())));
    }
    for (const auto& one : asked) {
      EXPECT_TRUE(world.run_until([&] { return one->done; }, scene_patience));
      EXPECT_EQ(one->reply.status, 200);
    }
    for (const std::string& target : targets) scene.expect_new(target);
    scene.world.run_for(Milliseconds{world.random().below(600)});
    for (const std::string& target : targets) scene.expect_new(target);
  }
  scene.expect_all_else_is_there();
}

// It keeps what it holds, and says nothing. What an unsafe method makes invalid is removed
// elsewhere all the same, in time, and what has not changed stays where it is.
void leaver_hangs(std::uint64_t seed) {
  ChangingScene scene(seed);
  const std::size_t leaver = scene.world.random().below(4);
  // A bucket that has not come to its owner yet may be the leaver's, and what lies in it is lost.
  EXPECT_TRUE(scene.world.run_until([&] { return scene.tier.is_settled(); }, scene_patience));
  std::vector<std::string> pages;  // that others hold
  for (std::size_t number = 0; number < scene.pages; ++number) {
    const std::string target = ChangingScene::page(number);
    if (scene.tier.owner_of(fmt::format("ZZ\n{}\n", target)) != leaver) pages.push_back(target);
  }
  if (pages.empty()) return;
  scene.tier.remove(leaver);
  scene.tier.part();
  scene.world.freeze(scene.tier.replica_machine(leaver));
  for (std::size_t index = 0; index < scene.tier.replicas(); ++index) {
    if (index != leaver) scene.tier.tell_replica(index);
  }
  for (std::size_t index = 0; index < scene.tier.sidecars(); ++index) scene.tier.publish(index);
  scene.tier.origin().renew();
  const std::string changed = pages[scene.world.random().below(pages.size())];
  EXPECT_EQ(scene.author.ask(scene.any_sidecar(), post_request(changed)).reply.status, 200);
  scene.expect_new(changed);
  for (const std::string& target : pages) {
    if (target == changed) continue;
    EXPECT_EQ(scene.client.get(scene.any_sidecar(), target).reply.status, 200);
    EXPECT_EQ(scene.tier.origin().fetches(target), 1U) << target;
  }
}

// No sidecar tells others of what that removes, be the replica the page's owner, its holder or
// neither.
void one_replica_alone_is_asked(std::uint64_t seed) {
  ChangingScene scene(seed);
  for (std::size_t round = 0; round < share_of(6, less().requests); ++round) {
    scene.change_members();
    scene.tell_some();
    scene.change_page(ChangingScene::Asked::replica);
    scene.change_page(ChangingScene::Asked::replica);
  }
  scene.expect_all_else_is_there();
}

// The one that is asked, by no sidecar, can't reach another one, which is told when it can.
void one_misses_what_another_is_asked(std::uint64_t seed) {
  ChangingScene scene(seed);
  World& world = scene.world;
  SimulatedNetwork& network = world.network();
  const std::size_t asked = world.random().below(4);
  const std::size_t deaf = (asked + 1 + world.random().below(3)) % 4;
  const SimulatedHost& one = scene.tier.replica_machine(asked).host;
  const SimulatedHost& other = scene.tier.replica_machine(deaf).host;
  scene.tier.part();
  network.cut(one, other);
  network.cut(other, one);
  world.run_for(Milliseconds{world.random().below(3000)});
  scene.tier.origin().renew();
  std::vector<std::string> changed;
  for (std::size_t number = 0; number < std::min<std::size_t>(4, scene.pages); ++number) {
    changed.push_back(scene.any_page());
    const bool is_purge = world.random().one_in(2);
    const auto request =
        is_purge ? ChangingScene::purge_request(changed.back()) : post_request(changed.back());
    const auto done = scene.author.ask(port_of(scene.tier.replica_machine(asked)), request);
    EXPECT_EQ(done.reply.status, is_purge ? 502 : 200) << done.reply.body;
  }
  network.heal(one, other);
  network.heal(other, one);
  scene.tier.join();
  world.run_for(limits::holder_pause_most + Seconds{1});
  for (const std::string& target : changed) scene.expect_new(target);
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
  for (std::size_t number = 0; number < std::min<std::size_t>(4, scene.pages); ++number) {
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

// It asks for what others hold before those, and the sidecar that purges, have heard of it.
void newcomer_is_not_known_yet(std::uint64_t seed) {
  ChangingScene scene(seed);
  scene.tier.grow();
  scene.tier.tell_replica(scene.tier.replicas() - 1);
  scene.tier.publish(1);
  scene.world.run_for(Milliseconds{scene.world.random().below(400)});
  for (std::size_t number = 0; number < scene.pages; ++number) {
    const auto got = scene.client.get(scene.tier.address(1), ChangingScene::page(number));
    EXPECT_EQ(got.reply.status, 200);
  }
  scene.expect_all_else_is_there();
  scene.tier.origin().renew();
  for (std::size_t number = 0; number < scene.pages; ++number) {
    const std::string target = ChangingScene::page(number);
    const auto request = ChangingScene::purge_request(target);
    EXPECT_EQ(scene.author.ask(scene.tier.address(0), request).reply.status, 200);
    scene.expect_new(target);
  }
  scene.tell_replicas();
  scene.tier.publish(0);
  scene.world.run_for(Milliseconds{scene.world.random().below(400)});
  for (std::size_t number = 0; number < scene.pages; ++number) {
    scene.expect_new(ChangingScene::page(number));
  }
}

// One that gives is stopped when a purge comes, and goes on with what it was doing.
void holder_sleeps_through_a_purge(std::uint64_t seed) {
  ChangingScene scene(seed);
  auto& holder = scene.tier.replica_machine(scene.world.random().below(4));
  scene.tier.grow();
  scene.tell_some();
  scene.world.run_for(Milliseconds{scene.world.random().below(30)});
  scene.tier.part();
  scene.world.freeze(holder);
  scene.tier.origin().renew();
  std::vector<std::string> purged;
  for (std::size_t number = 0; number < std::min<std::size_t>(4, scene.pages); ++number) {
    purged.push_back(ChangingScene::page(number));
    const auto request = ChangingScene::purge_request(purged.back());
    EXPECT_EQ(scene.author.ask(scene.any_sidecar(), request).reply.status, 502);
  }
  scene.world.thaw(holder);
  scene.tier.join();
  scene.world.run_for(Milliseconds{scene.world.random().below(30)});
  for (int round = 0; round < 3; ++round) {
    for (const std::string& target : purged) scene.expect_new(target);
    scene.world.run_for(limits::probe_interval + limits::probe_timeout);
  }
}

// Who takes buckets hears of a purge before, with or after their holders.
void others_are_filled_beside_a_purge(std::uint64_t seed) {
  ChangingScene scene(seed);
  World& world = scene.world;
  for (std::size_t round = 0; round < share_of(6, less().requests); ++round) {
    scene.tier.grow();
    scene.tell_replicas();
    for (std::size_t sidecar = 0; sidecar < 2; ++sidecar) scene.tier.publish(sidecar);
    const std::string target = scene.any_page();
    scene.changed.insert(target);
    const bool is_purge = world.random().one_in(2);
    std::vector<std::shared_ptr<const SimulatedClient::Asked>> asked;
    asked.push_back(
        scene.author.begin(scene.any_sidecar(),
                           is_purge ? ChangingScene::purge_request(target) : post_request(target)));
    for (std::size_t number = 0; number < scene.pages; ++number) {
      world.run_for(Milliseconds{world.random().below(2)});
      asked.push_back(
          scene.client.begin(scene.any_sidecar(), get_request(ChangingScene::page(number))));
    }
    for (const auto& one : asked) {
      EXPECT_TRUE(world.run_until([&] { return one->done; }, scene_patience));
      EXPECT_EQ(one->reply.status, 200);
    }
  }
  scene.expect_all_else_is_there();
}

constexpr auto scenes_of_purges = std::to_array<HandoffScene>({
    {"PagesChangeMeanwhile", pages_change_meanwhile, 20},
    {"PagesChangeWhileReplicasRestart", pages_change_while_replicas_restart, 20},
    {"OneSidecarNeverHearsOfIt", one_sidecar_never_hears_of_it, 20},
    {"UnsafeMethodsInMidMove", unsafe_methods_in_mid_move, 20},
    {"LeaverHangs", leaver_hangs, 10},
    {"OneReplicaAloneIsAsked", one_replica_alone_is_asked, 20},
    {"NewcomerIsNotKnownYet", newcomer_is_not_known_yet, 10},
    {"HolderSleepsThroughAPurge", holder_sleeps_through_a_purge, 10},
    {"LeaverMissedAPurge", leaver_missed_a_purge, 10},
    {"OneMissesWhatAnotherIsAsked", one_misses_what_another_is_asked, 10},
    {"OthersAreFilledBesideAPurge", others_are_filled_beside_a_purge, 20},
});

}  // namespace

std::span<const HandoffScene> purge_scenes() { return scenes_of_purges; }

}  // namespace ringside::simulation
