#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "tests/simulation/scene.h"

namespace ringside::simulation {

// A tier that has some of the pages, and clients who go on asking.
struct MovingScene : Scene {
  static Shape shape_of(std::size_t replicas) {
    return {
        .replicas = replicas, .sidecars = 2, .cores = less().cores ? 1U : 2U, .knows_peers = true};
  }

  MovingScene(std::uint64_t seed, std::size_t replicas) : MovingScene(seed, shape_of(replicas)) {}
  MovingScene(std::uint64_t seed, const Shape& shape)
      : Scene(seed, shape, share_of(300, less().requests), share_of(60, less().pages)),
        paths(share_of(60, less().pages)) {
    EXPECT_TRUE(run_until_answered(requests() / 4));
  }

  [[nodiscard]] std::size_t requests() const noexcept { return targets.size(); }

  // Tells all processes of the tier's replicas, each after some more answers, in any order.
  void publish_in_any_order() {
    std::vector<std::size_t> processes(tier.replicas() + tier.sidecars());
    std::iota(processes.begin(), processes.end(), 0);
    for (std::size_t left = processes.size(); left > 0; --left) {
      std::swap(processes[left - 1], processes[world.random().below(left)]);
      const std::size_t process = processes[left - 1];
      if (process >= tier.replicas()) {
        tier.publish(process - tier.replicas());
      } else if (tier.has_replica(process)) {
        tier.tell_replica(process);
      }
      EXPECT_TRUE(run_until_answered(std::min(clients.answered() + 4, requests())));
    }
  }

  void tell_all() {
    for (std::size_t index = 0; index < tier.replicas(); ++index) {
      if (tier.has_replica(index)) tier.tell_replica(index);
    }
    for (std::size_t index = 0; index < tier.sidecars(); ++index) tier.publish(index);
  }

  [[nodiscard]] std::size_t stored_at(std::size_t replica) {
    return tier.replica(replica).sheet().totals().store->entries;
  }

  // Everything is right, lies with its takers alone, and `lost` of it at most was fetched again.
  void expect_end(std::size_t lost = 0) {
    EXPECT_TRUE(run_until_all_answered());
    EXPECT_EQ(clients.wrong(), std::vector<std::string>());
    // Who was away hears of the others first.
    world.run_for(limits::holder_pause_most);
    EXPECT_TRUE(run_until_settled());
    std::size_t stored = 0;
    for (std::size_t index = 0; index < tier.replicas(); ++index) {
      if (tier.has_replica(index)) stored += stored_at(index);
    }
    const auto& fetches = tier.origin().fetches();
    EXPECT_LE(stored, fetches.size());
    EXPECT_GE(stored + lost, fetches.size());
    EXPECT_LE(tier.origin().all_fetches(), fetches.size() + lost);
  }

  [[nodiscard]] std::size_t any_replica() { return world.random().below(tier.replicas()); }
  void run_for_a_while() { world.run_for(Milliseconds{world.random().below(400)}); }

  const std::size_t paths;
};

}  // namespace ringside::simulation
