#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/simulation/origin.h"
#include "tests/simulation/scene.h"
#include "tests/simulation/seeds.h"

// A shard is cut, and what was cut of it moves to another replica, while more of it is stored,
// fetched, refreshed and purged. Under each scheme that cuts shards, and in both ways
// (--split-writes): fetches go on, or they wait.

namespace ringside::simulation {
namespace {

constexpr std::size_t all_pages = 200;
constexpr std::size_t cut_at = 100;
// What becomes of a page meanwhile, by number % step; nobody asks for the others.
constexpr std::size_t untouched = 0, refreshed = 1, purged = 2, renewed = 3, never_asked_before = 4,
                      step = 5;

std::string page_key(std::size_t number) { return fmt::format("ZZ\n/page-{}", number); }

struct CutScheme {
  const char* name;
  const char* first_shard;  // its least key, or its name
  bool is_cut_at_a_key;
};
constexpr CutScheme range{"range", "", true}, ascending{"ascending", "", true},
    split_tree{"split-tree", "shard_0", false};

Shape shape_with(const CutScheme& scheme, cache::SplitWrites writes, unsigned move_rate_mib_s) {
  const auto all = Network::parse("0.0.0.0/0").value();
  Shape shape{.replicas = 2, .sidecars = 1, .cores = 1, .knows_peers = true, .scheme = scheme.name};
  shape.state = {{{scheme.first_shard, "cache-0", {}}}, {}};
  shape.of_replicas = [=](cache::Settings& settings) {
    settings.purge_from = {all};
    settings.move_rate_mib_s = move_rate_mib_s;
    settings.split_writes = writes;
  };
  shape.of_sidecars = [all](sidecar::Settings& settings) { settings.purge_from = {all}; };
  return shape;
}

struct Split {
  // One in `every` pages has been asked for.
  Split(std::uint64_t seed, cache::SplitWrites writes, unsigned move_rate_mib_s = 4,
        std::size_t every = 1, const CutScheme& of_scheme = range)
      : scheme(of_scheme),
        world(seed),
        tier(world, shape_with(scheme, writes, move_rate_mib_s)),
        client(world, "client") {
    tier.origin().give_validators(true);
    for (std::size_t number = 0; number < all_pages; number += every) {
      if (number % step != never_asked_before) static_cast<void>(get(number));
    }
  }

  static std::string page(std::size_t number) { return fmt::format("/page-{}", number); }
  support::Reply get(std::size_t number, std::string_view field_lines = {}) {
    const auto request =
        fmt::format("GET {} HTTP/1.1\r\nHost: a.test\r\n{}\r\n", page(number), field_lines);
    const auto reply = client.ask(tier.address(), request).reply;
    EXPECT_EQ(reply.status, 200) << page(number);
    return reply;
  }
  [[nodiscard]] bool is_moving() const { return tier.buckets_away(1) > 0; }
  // The pages that were cut off, or are to be.
  [[nodiscard]] std::vector<std::size_t> pages_of_other() const {
    std::vector<std::size_t> pages;
    for (std::size_t number = 0; number < all_pages; ++number) {
      if (tier.owner_of(page_key(number) + "\n") == 1) pages.push_back(number);
    }
    return pages;
  }

  // Cut, and told to all, in the one order or the other.
  void cut(bool sidecar_first) {
    std::vector<std::string> at;
    if (scheme.is_cut_at_a_key) at.push_back(page_key(cut_at));
    ASSERT_TRUE(tier.cut({0, at, {"cache-1"}}));
    if (sidecar_first) tier.publish(0);
    tier.tell_replica(0);
    tier.tell_replica(1);
    const auto has_begun = [&] {
      return tier.replica(1).sheet().totals().store->moved_responses > 0;
    };
    ASSERT_TRUE(world.run_until(has_begun, scene_patience));
    if (!sidecar_first) tier.publish(0);
  }

  // The page after its change. Not for an untouched page.
  support::Reply change_and_get(std::size_t number) {
    constexpr std::string_view anew = "Cache-Control: no-cache\r\n";
    switch (number % step) {
      case refreshed: {
        const auto reply = get(number, anew);
        EXPECT_EQ(reply.field("x-time"), tier.origin().last_time()) << page(number);
        return reply;
      }
      case renewed: {
        tier.origin().renew();
        tier.origin().give_validators(false);
        const auto reply = get(number, anew);
        tier.origin().give_validators(true);
        EXPECT_EQ(reply.field("x-version"), tier.origin().version()) << page(number);
        return reply;
      }
      case purged: {
        tier.origin().renew();
        const auto purge = fmt::format("PURGE {} HTTP/1.1\r\nHost: a.test\r\n\r\n", page(number));
        EXPECT_EQ(client.ask(tier.address(), purge).reply.status, 200);
        const auto reply = get(number);
        EXPECT_EQ(reply.field("x-version"), tier.origin().version()) << page(number);
        return reply;
      }
      default:
        return get(number);
    }
  }

  [[nodiscard]] std::uint64_t waits() const {
    std::uint64_t sum = 0;
    for (std::size_t bucket = 0; bucket < metrics::duration_bucket_count; ++bucket) {
      sum += tier.replica(0).sheet().totals().of("ringside_split_wait_seconds",
                                                 static_cast<metrics::Bucket>(bucket));
    }
    return sum;
  }

  const CutScheme scheme;
  World world;
  mutable SimulatedTier tier;
  SimulatedClient client;
};

void expect_nothing_is_lost(const CutScheme& scheme, cache::SplitWrites writes) {
  std::array<std::size_t, step> changed_in_mid_move{};
  const auto played = seeds(8);
  for (const std::uint64_t seed : played) {
    SCOPED_TRACE(scheme.name + shown(seed));
    Split split(seed, writes, 4, 1, scheme);
    split.cut(seed % 2 == 0);
    auto pages = split.pages_of_other();
    ASSERT_GT(pages.size(), all_pages / 4);
    // With `wait`, the shard has moved when the first fetch is answered. So each seed begins with
    // another change.
    const std::size_t first = refreshed + seed % (step - refreshed);
    std::rotate(pages.begin(),
                std::find_if(pages.begin(), pages.end(),
                             [&](std::size_t number) { return number % step == first; }),
                pages.end());
    std::map<std::size_t, support::Reply> replies;  // by page
    std::size_t begun_in_mid_move = 0;
    std::size_t changed_before_its_end = 0;
    for (const std::size_t number : pages) {
      if (number % step == untouched) continue;
      const bool begins_in_mid_move = split.is_moving();
      replies[number] = split.change_and_get(number);
      if (begins_in_mid_move) ++begun_in_mid_move;
      if (begins_in_mid_move) ++changed_in_mid_move[number % step];
      if (begins_in_mid_move && split.is_moving()) ++changed_before_its_end;
    }
    EXPECT_GT(begun_in_mid_move, 0U);
    EXPECT_TRUE(changed_before_its_end > 0 || writes == cache::SplitWrites::wait);
    ASSERT_TRUE(split.world.run_until([&] { return split.tier.is_settled(); }, scene_patience));
    for (const std::size_t number : pages) {
      const auto reply = split.get(number);
      EXPECT_EQ(split.tier.named_in(reply.field("cache-status")), 1U);
      const bool is_fetched_once =
          number % step == untouched || number % step == never_asked_before;
      const std::size_t fetched = split.tier.origin().fetches(Split::page(number));
      EXPECT_EQ(fetched, is_fetched_once ? 1U : 2U) << Split::page(number);
      if (number % step == untouched) continue;
      EXPECT_EQ(reply.field("x-version"), replies[number].field("x-version"))
          << Split::page(number);
      EXPECT_EQ(reply.field("x-time"), replies[number].field("x-time")) << Split::page(number);
    }
    EXPECT_EQ(split.waits() > 0, writes == cache::SplitWrites::wait);
  }
  for (std::size_t what = refreshed; what < step && played.size() >= step; ++what) {
    EXPECT_GT(changed_in_mid_move[what], 0U) << what;
  }
}

class SimulationOfSplits : public testing::TestWithParam<CutScheme> {};

TEST_P(SimulationOfSplits, NothingIsLostWhereFetchesGoOn) {
  expect_nothing_is_lost(GetParam(), cache::SplitWrites::log);
}

TEST_P(SimulationOfSplits, NothingIsLostWhereFetchesWait) {
  expect_nothing_is_lost(GetParam(), cache::SplitWrites::wait);
}

INSTANTIATE_TEST_SUITE_P(Under, SimulationOfSplits, testing::Values(range, ascending, split_tree),
                         [](const auto& info) {
                           const std::string name = info.param.name;
                           return name.substr(0, name.find('-'));
                         });

// Else the log would drain only when it is given up.
TEST(SimulationOfSplit, FetchesWaitForAShardThatIsWrittenFasterThanItMoves) {
  constexpr std::size_t stored_meanwhile = 1'000, at_once = 16;
  std::vector<std::string> targets;
  for (std::size_t number = 0; number < stored_meanwhile; ++number) {
    targets.push_back(target_of(fmt::format("page-900-{}", number), 16'000, 20'000));
  }
  std::uint64_t waits = 0;
  const auto played = seeds(3);
  for (const std::uint64_t seed : played) {
    SCOPED_TRACE(shown(seed));
    Split split(seed, cache::SplitWrites::log, 4, 20);
    split.cut(seed % 2 == 0);
    const SimulatedClients clients(split.world, "clients", {split.tier.address()}, targets,
                                   at_once);
    ASSERT_TRUE(split.world.run_until([&] { return !split.is_moving(); }, scene_patience));
    waits += split.waits();
    const auto is_over = [&] { return clients.all_answered() && split.tier.is_settled(); };
    ASSERT_TRUE(split.world.run_until(is_over, scene_patience));
    for (const std::string& target : targets) {
      EXPECT_EQ(split.client.get(split.tier.address(), target).reply.status, 200);
      EXPECT_EQ(split.tier.origin().fetches(target), 1U) << target;
    }
  }
  // With some seeds it moves fast enough.
  if (played.size() > 1) {
    EXPECT_GT(waits, 0U);
  }
}

// A shard of several steps (limits::move_remove_size_bytes). Who takes it says once that it has
// all, and its next question is limits::move_pause later: what is left is removed by who had it.
TEST(SimulationOfSplit, ALargeShardIsRemovedWhereItCameFrom) {
  std::vector<std::string> targets;
  for (std::size_t number = 0; number < 1'000; ++number) {
    targets.push_back(target_of(fmt::format("page-900-{}", number), 16'000, 20'000));
  }
  for (const std::uint64_t seed : seeds(2)) {
    SCOPED_TRACE(shown(seed));
    constexpr std::size_t asked_of = 20;
    Split split(seed, cache::SplitWrites::log, limits::move_rate_mib_s, asked_of);
    const auto get = [&](const std::string& target) {
      return split.client.get(split.tier.address(), target).reply;
    };
    for (const std::string& target : targets) EXPECT_EQ(get(target).status, 200);
    split.cut(seed % 2 == 0);
    ASSERT_TRUE(split.world.run_until([&] { return !split.is_moving(); }, scene_patience));
    const auto stored = [&] { return split.tier.replica(0).sheet().totals().store->entries; };
    const std::size_t all = stored();
    ASSERT_TRUE(split.world.run_until([&] { return stored() < all; }, scene_patience));
    EXPECT_GT(stored(), targets.size() / 2) << "it is not all removed at once";
    const auto is_settled = [&] { return split.tier.is_settled(); };
    ASSERT_TRUE(split.world.run_until(is_settled, 2 * limits::move_pause));
    EXPECT_LE(stored(), all_pages / asked_of) << "what is left of the other shard";
    for (const std::string& target : targets) {
      EXPECT_EQ(split.tier.named_in(get(target).field("cache-status")), 1U) << target;
      EXPECT_EQ(split.tier.origin().fetches(target), 1U) << target;
    }
  }
}

// The one that is given the rest has stopped: who waits for it goes on after a while.
TEST(SimulationOfSplit, WhoWaitsIsAnsweredThoughTheOtherReplicaIsGone) {
  Split split(1, cache::SplitWrites::wait);
  split.cut(false);
  split.tier.crash_replica(1);
  for (std::size_t number = cut_at; number < all_pages; ++number) {
    if (number % step == never_asked_before) static_cast<void>(split.get(number));
  }
  EXPECT_GT(split.waits(), 0U);
}

}  // namespace
}  // namespace ringside::simulation
