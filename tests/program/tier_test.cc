#include "program/tier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "http1/admin_client.h"
#include "tests/support/system_clock.h"

namespace ringside::program {
namespace {

using support::system_clock;
using testing::HasSubstr;

Configuration small_tier(std::size_t replicas) {
  Configuration configuration = defaults(Command::up);
  configuration.listen = Endpoint{"127.0.0.1", 0};
  configuration.replica_count = replicas;
  configuration.shard_key = *shard::KeySpec::parse("path");
  configuration.memory.size_bytes = limits::kMiB;
  configuration.threads = 1;
  return configuration;
}

int status_from(const Tier& tier, const std::string& path) {
  const auto answer = http::ask_admin(tier.address(), "GET", path, "", Seconds(20));
  return answer ? answer->status : 0;
}

std::string page(int number) { return "/page/" + std::to_string(number); }

// Every component has the membership, one value for all, and nobody is still leaving.
void await_settled(const Tier& tier) {
  while (!tier.state().retiring.empty()) std::this_thread::yield();
  const auto state = tier.state();
  EXPECT_EQ(state.components.size(), state.membership->size() + 1);
  EXPECT_EQ(state.membership->ready_members(), state.membership->size()) << "each is somewhere";
  for (const auto& [name, membership] : state.components) {
    EXPECT_EQ(membership, state.membership) << name;
  }
}

// Replicas knew the topology, but of nobody where it is.
TEST(Tier, ItsReplicasKnowTheirPeersFromTheStart) {
  const auto tier = *Tier::start(small_tier(3), system_clock);
  await_settled(*tier);
}

TEST(Tier, AnswersFromTheSampleOriginAndCountsIt) {
  auto tier = Tier::start(small_tier(3), system_clock);
  ASSERT_TRUE(tier) << tier.error().message;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 20; ++i) EXPECT_EQ(status_from(**tier, page(i)), 200);
  }
  EXPECT_EQ((*tier)->origin_requests(), 20U);
  const std::string metrics = metrics::expose((*tier)->totals(), {});
  EXPECT_THAT(metrics, HasSubstr("role=\"sidecar\""));
  EXPECT_THAT(metrics, HasSubstr("cache-2"));
}

TEST(Tier, ScalesUpAndDownWithoutAnError) {
  auto tier = *Tier::start(small_tier(3), system_clock);
  std::atomic<bool> ending = false;
  std::atomic<int> asked = 0;
  std::atomic<int> failed = 0;
  std::thread traffic([&] {
    while (!ending) {
      if (status_from(*tier, page(asked++ % 50)) != 200) ++failed;
    }
  });
  const auto after_some_traffic = [&] {
    for (const int until = asked + 60; asked < until;) std::this_thread::yield();
  };
  std::uint64_t version = 1;
  for (const std::size_t replicas : {4U, 2U, 5U}) {
    after_some_traffic();
    const std::size_t before = tier->membership()->size();
    const auto report = tier->scale(replicas);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->replicas_before, before);
    EXPECT_EQ(report->replicas_after, replicas);
    EXPECT_EQ(report->version_after, ++version);
    EXPECT_GT(*report->moved_buckets, 0U);
    await_settled(*tier);
  }
  after_some_traffic();
  ending = true;
  traffic.join();
  EXPECT_EQ(failed, 0);
}

TEST(Tier, TheSameNumberChangesNothing) {
  auto tier = *Tier::start(small_tier(2), system_clock);
  const auto report = tier->scale(2);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->version_after, 1U);
  EXPECT_EQ(report->moved_buckets, 0U);
  EXPECT_FALSE(tier->scale(0));
  EXPECT_FALSE(tier->scale(limits::members + 1));
  EXPECT_EQ(tier->membership()->size(), 2U);
}

TEST(Tier, AReloadFollowsTheFilesNumberOnlyWhenThatChanges) {
  Configuration configuration = small_tier(2);
  auto tier = *Tier::start(configuration, system_clock);
  ASSERT_TRUE(tier->scale(3));
  configuration.country_header = "X-Land";
  ASSERT_TRUE(tier->apply(configuration));
  EXPECT_EQ(tier->membership()->size(), 3U);
  configuration.replica_count = 1;
  ASSERT_TRUE(tier->apply(configuration));
  EXPECT_EQ(tier->membership()->size(), 1U);
  await_settled(*tier);
}

TEST(Tier, ARefusedReloadChangesNothing) {
  Configuration configuration = small_tier(2);
  auto tier = *Tier::start(configuration, system_clock);
  const auto before = tier->state();
  configuration.replica_count = 3;
  configuration.geo = "/nowhere/country.mmdb";
  EXPECT_FALSE(tier->apply(configuration));
  EXPECT_EQ(tier->state().components, before.components);
  EXPECT_EQ(status_from(*tier, "/"), 200);
}

TEST(Tier, PurgesOnEveryReplica) {
  auto tier = *Tier::start(small_tier(3), system_clock);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(status_from(*tier, page(i)), 200);
  const std::string host = tier->address().text();
  EXPECT_EQ(tier->purge(http::PurgeTarget::of_request(host, page(3))).removed, 1U);
  EXPECT_EQ(tier->purge(http::PurgeTarget::of_request(host, page(3))).removed, 0U);
  EXPECT_EQ(tier->purge(http::PurgeTarget::all()).removed, 9U);
}

// The replicas had forgotten it, and the sidecar went on giving what it had kept nearby.
TEST(Tier, APurgeReachesTheNearCache) {
  Configuration configuration = small_tier(3);
  RouteConfiguration route;
  route.name = "all";
  route.near_ttl = Seconds(3'600);
  configuration.routes = {route};
  auto tier = *Tier::start(configuration, system_clock);
  const std::string host = tier->address().text();
  std::uint64_t asked = 0;
  using http::PurgeTarget;
  using Scope = PurgeTarget::Scope;
  const auto below = [&](const char* path) { return PurgeTarget{Scope::below, host, path}; };
  for (const PurgeTarget& target :
       {PurgeTarget::of_request(host, page(1)), below("/"), PurgeTarget::all()}) {
    EXPECT_EQ(status_from(*tier, page(1)), 200);
    EXPECT_EQ(status_from(*tier, page(1)), 200);
    EXPECT_EQ(tier->origin_requests(), ++asked);
    EXPECT_EQ(tier->purge(target).removed, 1U);
  }
  EXPECT_EQ(status_from(*tier, page(1)), 200);
  EXPECT_EQ(tier->origin_requests(), ++asked);
}

TEST(Tier, CountriesAreNeededUnlessOptional) {
  Configuration configuration = small_tier(1);
  configuration.shard_key = shard::KeySpec::country_and_path();
  configuration.geo = "/nowhere/country.mmdb";
  const auto refused = Tier::start(configuration, system_clock);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("/nowhere/country.mmdb"));
  EXPECT_EQ(refused.error().kind, ErrorKind::invalid_input);
  configuration.geo_optional = true;
  EXPECT_TRUE(Tier::start(configuration, system_clock));
}

TEST(Tier, APortThatIsTakenIsAnErrorAndNoUsageMistake) {
  auto first = *Tier::start(small_tier(1), system_clock);
  Configuration configuration = small_tier(1);
  configuration.listen = first->address();
  const auto second = Tier::start(configuration, system_clock);
  ASSERT_FALSE(second);
  // Exit code 1, not 2.
  EXPECT_NE(second.error().kind, ErrorKind::invalid_input);
  EXPECT_THAT(second.error().message, HasSubstr(first->address().text()));
}

}  // namespace
}  // namespace ringside::program
