#include <gtest/gtest.h>

#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "tests/simulation/scene.h"
#include "tests/simulation/seeds.h"
#include "tests/support/errors_by.h"

// What docs/failure-modes.md says of origins that fail, in simulated time.

namespace ringside::simulation {
namespace {

using metrics::OriginAnswer;

constexpr std::size_t stored_pages = 4;

// A tier whose stores have some pages, and a client.
struct OriginScene {
  explicit OriginScene(std::uint64_t seed, Shape shape = {.replicas = 2, .cores = 2})
      : world(seed), tier(world, std::move(shape)), client(world, "client") {
    for (std::size_t page = 0; page < stored_pages; ++page) {
      EXPECT_EQ(get(fmt::format("/stored-{}", page)).reply.status, 200);
    }
  }

  SimulatedClient::Asked get(std::string_view target) { return client.get(tier.address(), target); }
  // Of what nobody has asked for before.
  SimulatedClient::Asked miss() { return get(fmt::format("/missing-{}", misses++)); }
  // A fresh hit needs nobody but its replica.
  void expect_hits() {
    for (std::size_t page = 0; page < stored_pages; ++page) {
      const std::string target = fmt::format("/stored-{}", page);
      const auto asked = get(target);
      EXPECT_EQ(asked.reply.status, 200);
      EXPECT_TRUE(asked.reply.body == body_of(target));
      EXPECT_LT(asked.took(), at_once);
    }
    EXPECT_EQ(tier.origin().fetches("/stored-0"), 1U);
  }
  // Until all circuits are closed. Returns after how long.
  Milliseconds heal() {
    const Instant began = world.now();
    for (int well = 0; well < 10;) {
      well = miss().reply.status == 200 ? well + 1 : 0;
      if (well == 0) world.run_for(Milliseconds{50});
    }
    EXPECT_EQ(figures().circuits_open, 0U);
    EXPECT_EQ(figures().in_use, 0U);
    return std::chrono::duration_cast<Milliseconds>(world.now() - began);
  }
  metrics::OriginFigures figures() {
    metrics::OriginFigures sum;
    for (std::size_t index = 0; index < tier.replicas(); ++index) {
      const auto one = *tier.replica(index).sheet().totals().origins;
      sum.in_use += one.in_use;
      sum.circuits_open += one.circuits_open;
      sum.circuits_opened += one.circuits_opened;
      sum.refused_circuit_open += one.refused_circuit_open;
      sum.refused_queue_timeout += one.refused_queue_timeout;
    }
    return sum;
  }
  std::uint64_t failed() {
    std::uint64_t sum = 0;
    for (std::size_t index = 0; index < tier.replicas(); ++index) {
      sum += tier.replica(index).sheet().totals().of("ringside_origin_requests_total",
                                                     OriginAnswer::failed);
    }
    return sum;
  }

  World world;
  SimulatedTier tier;
  SimulatedClient client;
  std::size_t misses = 0;
};

// A row: what clients are told of what is not stored, until the circuits are open.
struct OriginRow {
  std::string_view name;
  Manner manner;
  int status;
  std::string_view error;  // in Proxy-Status
  Milliseconds after;
};

void PrintTo(const OriginRow& row, std::ostream* out) { *out << row.name; }

constexpr OriginRow rows[] = {
    {"IsSilent", Manner::silent, 504, "http_response_timeout", limits::first_byte_timeout},
    {"IsSlowBeyondTheWaitForItsFirstByte", Manner::late, 504, "http_response_timeout",
     limits::first_byte_timeout},
    {"Resets", Manner::resets, 502, "connection_terminated", Milliseconds{0}},
    {"HalfCloses", Manner::half_closes, 502, "connection_terminated", Milliseconds{0}},
    {"EndsWithinAHead", Manner::closes_in_head, 502, "", Milliseconds{0}},
};

class SimulationOfOrigin : public testing::TestWithParam<OriginRow> {};

TEST_P(SimulationOfOrigin, IsToldAndThenRefusedAtOnceAndHeals) {
  const OriginRow row = GetParam();
  for (const std::uint64_t seed : seeds(3)) {
    SCOPED_TRACE(shown(seed));
    OriginScene scene(seed);
    scene.tier.origin().behave(row.manner, 2 * limits::first_byte_timeout);
    std::set<int> told;
    for (int count = 0; count < 20; ++count) {
      const auto asked = scene.miss();
      told.insert(asked.reply.status);
      const bool refused = asked.reply.status == 503;
      EXPECT_EQ(asked.reply.field("retry-after"), refused ? "1" : "");
      const Milliseconds after = refused ? Milliseconds{0} : row.after;
      EXPECT_GE(asked.took(), by_a_fast_clock(after));
      EXPECT_LT(asked.took(), after + slack);
      const std::string why = asked.reply.field("proxy-status");
      EXPECT_TRUE(refused || why.find(row.error) != why.npos) << why;
    }
    EXPECT_EQ(told, (std::set<int>{row.status, 503}));
    EXPECT_GT(scene.figures().circuits_opened, 0U);
    EXPECT_GT(scene.figures().refused_circuit_open, 0U);
    EXPECT_GE(scene.failed(), limits::breaker_failures);
    scene.expect_hits();
    scene.tier.origin().behave(Manner::answers);
    EXPECT_LE(scene.heal(), limits::breaker_open_most + 3 * slack);
    EXPECT_EQ(ejections(scene.tier), 0U) << "the replicas are well";
  }
}

INSTANTIATE_TEST_SUITE_P(That, SimulationOfOrigin, testing::ValuesIn(rows),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(SimulationOfOrigins, DownForMinutesIsToldAtOnceAndTenSecondsAfterItsReturnAllIsWell) {
  for (const std::uint64_t seed : seeds(3)) {
    SCOPED_TRACE(shown(seed));
    OriginScene scene(seed);
    scene.tier.origin().crash();
    EXPECT_EQ(scene.miss().reply.status, 502);
    std::set<int> told;
    for (int count = 0; count < 100; ++count) {
      const auto asked = scene.miss();
      told.insert(asked.reply.status);
      EXPECT_LT(asked.took(), at_once);
      scene.world.run_for(Milliseconds{2'000});
    }
    EXPECT_EQ(told, (std::set<int>{502, 503}));
    scene.expect_hits();
    scene.tier.origin().start();
    EXPECT_LE(scene.heal(), limits::breaker_open_most + 3 * slack);
  }
}

TEST(SimulationOfOrigins, SlowWithinTheWaitIsOnlySlow) {
  for (const std::uint64_t seed : seeds(3)) {
    SCOPED_TRACE(shown(seed));
    OriginScene scene(seed);
    constexpr Milliseconds late = limits::first_byte_timeout - Milliseconds{2'000};
    scene.tier.origin().behave(Manner::late, late);
    for (int count = 0; count < 4; ++count) {
      const auto asked = scene.miss();
      EXPECT_EQ(asked.reply.status, 200);
      EXPECT_GE(asked.took(), by_a_fast_clock(late));
      EXPECT_LT(asked.took(), late + slack);
    }
    scene.expect_hits();
    EXPECT_EQ(scene.failed(), 0U);
    EXPECT_EQ(ejections(scene.tier), 0U);
  }
}

// Two at a time, each for three seconds: the fifth would have to wait for six.
TEST(SimulationOfOrigins, WhoWaitsTooLongForABusyOneIsToldSo) {
  for (const std::uint64_t seed : seeds(3)) {
    SCOPED_TRACE(shown(seed));
    OriginScene scene(seed,
                      {.replicas = 1, .cores = 2, .of_replicas = [](cache::Settings& settings) {
                         settings.origin_connections = 2;
                       }});
    scene.tier.origin().behave(Manner::late, Milliseconds{3'000});
    std::vector<std::shared_ptr<const SimulatedClient::Asked>> asked;
    for (int count = 0; count < 10; ++count) {
      asked.push_back(
          scene.client.begin(scene.tier.address(), get_request(fmt::format("/missing-{}", count))));
    }
    scene.world.run_for(Milliseconds{20'000});
    std::size_t answered = 0;
    for (const auto& one : asked) {
      ASSERT_TRUE(one->done);
      answered += one->reply.status == 200 ? 1 : 0;
      if (one->reply.status == 200) continue;
      EXPECT_EQ(one->reply.status, 503);
      EXPECT_NE(one->reply.field("retry-after"), "");
      EXPECT_GE(one->took(), by_a_fast_clock(limits::origin_queue_timeout));
      EXPECT_LT(one->took(), limits::origin_queue_timeout + slack);
    }
    EXPECT_EQ(answered, 4U);
    EXPECT_EQ(scene.tier.origin().most_at_once(), 2U);
    EXPECT_EQ(scene.figures().refused_queue_timeout, 6U);
  }
}

TEST(SimulationOfOrigins, OneOfTwoIsDownAndNobodyNoticesAndItGetsItsShareAgain) {
  for (const std::uint64_t seed : seeds(3)) {
    SCOPED_TRACE(shown(seed));
    World world(seed);
    SimulatedOrigin second(world, world.add_machine("second"));
    const auto of_both = [&](cache::Settings& settings) {
      settings.routes.front().origins.push_back({second.address(), 1});
    };
    SimulatedTier tier(world, {.replicas = 2, .cores = 2, .of_replicas = of_both});
    SimulatedClient client(world, "client");
    std::size_t asked = 0;
    const auto ask_for_more = [&](std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) {
        const auto told = client.get(tier.address(), fmt::format("/missing-{}", asked++));
        EXPECT_EQ(told.reply.status, 200);
        EXPECT_LT(told.took(), at_once);
      }
    };
    ask_for_more(30);
    EXPECT_GT(second.all_fetches(), 10U);
    second.crash();
    const std::size_t before = second.all_fetches();
    ask_for_more(100);
    second.start();
    EXPECT_EQ(second.all_fetches(), before);
    world.run_for(limits::breaker_open_most);
    ask_for_more(30);
    EXPECT_GT(second.all_fetches(), before + 10);
  }
}

TEST(SimulationOfOrigins, AKeptConnectionThatWasClosedGoesUnnoticed) {
  for (const std::uint64_t seed : seeds(3)) {
    SCOPED_TRACE(shown(seed));
    OriginScene scene(seed);
    scene.tier.origin().behave(Manner::closes_after);
    for (int count = 0; count < 40; ++count) EXPECT_EQ(scene.miss().reply.status, 200);
    EXPECT_EQ(scene.failed(), 0U);
  }
}

// Three such answers had a replica ejected: what it may take the sidecar refused, once the replica
// had added its own fields.
TEST(SimulationOfOrigins, AHeadAsLargeAsIsAllowedIsPassedOnAndEjectsNobody) {
  const std::size_t own = 5;  // of SimulatedOrigin
  std::string many;
  for (std::size_t count = own; count < limits::head_fields; ++count) many += "X: y\r\n";
  std::string large(limits::head_size_bytes - 200, 'y');
  large.insert(0, "X: ").append("\r\n");
  for (const std::string& fields : {many, large}) {
    OriginScene scene(1);
    scene.tier.origin().add_fields(fields);
    for (unsigned count = 0; count < 4 * limits::ejection_failures; ++count) {
      EXPECT_EQ(scene.miss().reply.status, 200);
    }
    EXPECT_EQ(ejections(scene.tier), 0U);
    scene.tier.origin().add_fields(fields + fields);
    for (unsigned count = 0; count < 4 * limits::ejection_failures; ++count) {
      EXPECT_EQ(scene.miss().reply.status, 502);
    }
    EXPECT_EQ(ejections(scene.tier), 0U);
  }
}

TEST(SimulationOfOrigins, ARequestThatTheFrontTakesTheReplicaTakesToo) {
  OriginScene scene(1);
  const auto status_of = [&](const std::string& fields) {
    const std::string request = "GET /missing HTTP/1.1\r\nHost: a.test\r\n" + fields + "\r\n";
    return scene.client.ask(scene.tier.address(), request).reply.status;
  };
  std::string many;
  for (std::size_t count = 1; count < limits::head_fields; ++count) many += "X: y\r\n";
  EXPECT_EQ(status_of(many), 200);
  EXPECT_EQ(status_of(many + "X: y\r\n"), 431);
}

// As an answer to HEAD, on a connection that stays open.
TEST(SimulationOfOrigins, AHeadWhoseBodyNeverComesIsToldSo) {
  for (const std::uint64_t seed : seeds(3)) {
    SCOPED_TRACE(shown(seed));
    OriginScene scene(seed);
    for (const std::string prefix : {"small", "unstored/small"}) {
      const std::string target = target_of(prefix, 1, 1'000);
      scene.tier.origin().behave(Manner::stops_after_head);
      const auto told = scene.get(target);
      // What is not to be stored goes on as it comes, so its head has.
      EXPECT_EQ(told.reply.status, prefix == "small" ? 504 : 200);
      EXPECT_EQ(told.reply.whole, prefix == "small");
      EXPECT_GE(told.took(), by_a_fast_clock(limits::upstream_io_timeout));
      EXPECT_LT(told.took(), limits::upstream_io_timeout + 2 * slack);
      scene.tier.origin().behave(Manner::answers);
      scene.world.run_for(slack);
      EXPECT_TRUE(scene.get(target).reply.body == body_of(target));
      EXPECT_EQ(scene.tier.origin().fetches(target), 2U);
    }
    scene.expect_hits();
  }
}

class SimulationOfCutBody : public testing::TestWithParam<Manner> {};

TEST_P(SimulationOfCutBody, IsSeenToBeCutAndNothingOfItIsStored) {
  for (const std::uint64_t seed : seeds(3)) {
    SCOPED_TRACE(shown(seed));
    OriginScene scene(seed);
    std::uint64_t cuts = 0;
    for (const std::string prefix : {"large", "unstored/large"}) {
      const std::string target = target_of(prefix, 200'000, 400'000);
      scene.tier.origin().behave(GetParam());
      const auto cut = scene.get(target);
      EXPECT_EQ(cut.reply.status, 200);
      EXPECT_FALSE(cut.reply.whole);
      EXPECT_TRUE(body_of(target).starts_with(cut.reply.body));
      const bool stops = GetParam() == Manner::stops_in_body;
      const Milliseconds after = stops ? limits::upstream_io_timeout : Milliseconds{0};
      EXPECT_GE(cut.took(), by_a_fast_clock(after));
      EXPECT_LT(cut.took(), after + 2 * slack);
      EXPECT_GT(cut.reply.body.size(), stops ? 100'000U : 0U);  // what came at once
      EXPECT_EQ(support::errors_by(scene.tier.sidecar().sheet().totals(), ErrorSource::peer),
                ++cuts);
      scene.tier.origin().behave(Manner::answers);
      // By its own clock the replica may wait a little longer than the sidecar.
      scene.world.run_for(slack);
      const auto whole = scene.get(target);
      EXPECT_EQ(whole.reply.status, 200);
      EXPECT_TRUE(whole.reply.body == body_of(target));
      EXPECT_EQ(scene.tier.origin().fetches(target), 2U);
    }
    scene.expect_hits();
  }
}

INSTANTIATE_TEST_SUITE_P(Every, SimulationOfCutBody,
                         testing::Values(Manner::closes_in_body, Manner::resets_in_body,
                                         Manner::stops_in_body));

}  // namespace
}  // namespace ringside::simulation
