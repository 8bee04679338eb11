#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "tests/simulation/scene.h"

namespace ringside::simulation {

// A tier that changes while its pages do.
struct ChangingScene {
  explicit ChangingScene(std::uint64_t seed, const Shape& shape = usual_shape())
      : world(seed), tier(world, shape), client(world, "client"), author(world, "author") {
    for (std::size_t number = 0; number < pages; ++number) {
      static_cast<void>(client.get(tier.address(), page(number)));
    }
  }

  static Shape usual_shape() {
    const auto all = Network::parse("0.0.0.0/0").value();
    Shape shape{.replicas = 4, .sidecars = 2, .cores = less().cores ? 1U : 2U, .knows_peers = true};
    shape.of_replicas = [all](cache::Settings& settings) { settings.purge_from = {all}; };
    shape.of_sidecars = [all](sidecar::Settings& settings) { settings.purge_from = {all}; };
    return shape;
  }
  static std::string page(std::size_t number) { return fmt::format("/page-{}", number); }
  static std::string purge_request(const std::string& target) {
    return fmt::format("PURGE {} HTTP/1.1\r\nHost: a.test\r\n\r\n", target);
  }
  [[nodiscard]] std::string any_page() { return page(world.random().below(pages)); }
  [[nodiscard]] Endpoint any_sidecar() { return tier.address(world.random().below(2)); }
  [[nodiscard]] Endpoint any_replica() {
    return port_of(tier.replica_machine(world.random().below(tier.replicas())));
  }

  void change_members() {
    const std::uint64_t what = world.random().below(3);
    if (what == 0) tier.grow();
    if (what == 1) tier.remove(world.random().below(2));
  }

  void tell_replicas() {
    for (std::size_t index = 0; index < tier.replicas(); ++index) {
      tier.tell_replica(index);
      world.run_for(Milliseconds{world.random().below(20)});
    }
  }
  // Tells the replicas of the members, and perhaps a sidecar: the other one goes on as before.
  void tell_some() {
    tell_replicas();
    for (std::size_t index = 0; index < tier.sidecars(); ++index) {
      if (world.random().below(2) == 0) tier.publish(index);
    }
  }

  enum class Asked { sidecar, replica };
  // What is said by then, nobody is given any more, whoever was asked to change it.
  void change_page(Asked who = Asked::sidecar) {
    const std::string target = any_page();
    const auto meanwhile = client.begin(tier.address(1), get_request(target));
    world.run_for(Milliseconds{world.random().below(12)});
    tier.origin().renew();
    changed.insert(target);
    const bool is_purge = world.random().below(2) == 0;
    const auto request = is_purge ? purge_request(target) : post_request(target);
    const Endpoint asked = who == Asked::sidecar ? any_sidecar() : any_replica();
    auto done = author.ask(asked, request);
    // Who can't reach a replica yet that has come back says so, and who purges asks again.
    const auto is_incomplete = [&] {
      return is_purge && done.reply.status == 502 &&
             done.reply.body.find("incomplete") != done.reply.body.npos;
    };
    for (int tries = 10; has_restarts && is_incomplete() && tries > 0; --tries) {
      world.run_for(limits::holder_pause_most / 4);
      done = author.ask(asked, request);
    }
    EXPECT_EQ(done.reply.status, 200) << done.reply.body;
    EXPECT_TRUE(world.run_until([&] { return meanwhile->done; }, scene_patience));
    for (std::size_t round = 0; round < 3; ++round) {
      expect_new(target);
      world.run_for(Milliseconds{world.random().below(300)});
    }
  }

  void expect_new(const std::string& target) {
    for (std::size_t sidecar = 0; sidecar < 2; ++sidecar) {
      const auto after = client.get(tier.address(sidecar), target);
      EXPECT_EQ(after.reply.status, 200);
      EXPECT_EQ(after.reply.field("x-version"), tier.origin().version()) << target;
    }
  }

  // What nobody has changed was fetched when all began, and is there still.
  void expect_all_else_is_there() {
    for (std::size_t number = 0; number < pages; ++number) {
      const std::string target = page(number);
      if (changed.contains(target)) continue;
      for (std::size_t sidecar = 0; sidecar < 2; ++sidecar) {
        EXPECT_EQ(client.get(tier.address(sidecar), target).reply.status, 200);
      }
      EXPECT_EQ(tier.origin().fetches(target), 1U) << target;
    }
  }

  const std::size_t pages = share_of(12, less().pages);
  World world;
  SimulatedTier tier;
  SimulatedClient client;
  SimulatedClient author;
  std::set<std::string> changed;  // pages
  bool has_restarts = false;      // replicas have crashed, and come back
};

}  // namespace ringside::simulation
