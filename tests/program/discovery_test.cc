#include "program/discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <filesystem>
#include <string>

#include "http1/admin_client.h"
#include "program/cache_service.h"
#include "program/sidecar_service.h"
#include "program/values.h"
#include "replay/sample_origin.h"
#include "tests/support/fake_clock.h"
#include "tests/support/scripted_peer.h"
#include "tests/support/system_clock.h"

namespace ringside::program {
namespace {

using support::FakeClock;
using support::system_clock;
using testing::HasSubstr;

const Endpoint any_port{"127.0.0.1", 0};

Configuration discovering(Command command) {
  Configuration configuration = defaults(command);
  configuration.listen = any_port;
  configuration.threads = 1;
  configuration.shard_key = *shard::KeySpec::parse("path");
  configuration.kubernetes = k8s::Target{"shop", "cache", ""};
  return configuration;
}

k8s::Roster roster_at(std::uint64_t version, const std::vector<Endpoint>& addresses) {
  k8s::Roster roster;
  roster.version = version;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    k8s::Replica replica;
    replica.name = "cache-" + std::to_string(i);
    replica.address = addresses[i];
    replica.ready = !addresses[i].host.empty();
    roster.replicas.push_back(replica);
  }
  return roster;
}

int status_of(const Service& service, const std::string& path) {
  const auto answer = http::ask_admin(service.address(), "GET", path, "", Seconds(20));
  return answer ? answer->status : 0;
}

TEST(Following, ASidecarIsReadyOnceItHasHeardOfItsMembers) {
  const auto origin = *replay::SampleOrigin::start(any_port, system_clock);
  Configuration of_cache = discovering(Command::cache);
  of_cache.name = "cache-0";
  of_cache.insecure_peers = true;
  of_cache.origins = {net::Origin{origin->address(), 1}};
  const auto cache = *CacheService::start(of_cache, system_clock);
  const auto sidecar = *SidecarService::start(discovering(Command::sidecar), system_clock);
  EXPECT_EQ(sidecar->not_ready(), "the members are not known yet");
  EXPECT_EQ(cache->not_ready(), "the members are not known yet");
  EXPECT_EQ(status_of(*sidecar, "/page/1"), 503);

  const auto roster = roster_at(4, {cache->address(), Endpoint{}});
  ASSERT_TRUE(sidecar->follow(roster));
  ASSERT_TRUE(cache->follow(roster));
  EXPECT_EQ(sidecar->not_ready(), "");
  EXPECT_EQ(sidecar->membership()->topology->version(), 4U);
  EXPECT_EQ(sidecar->membership()->topology_id, cache->membership()->topology_id);
  EXPECT_EQ(sidecar->membership()->addresses, cache->membership()->addresses);
  EXPECT_EQ(sidecar->membership()->states, cache->membership()->states);
  EXPECT_EQ(cache->membership()->address(0), cache->address());
  EXPECT_FALSE(cache->membership()->is_ready(1));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(status_of(*sidecar, "/page/" + std::to_string(i)), 200);

  ASSERT_TRUE(sidecar->follow(roster_at(5, {})));
  EXPECT_EQ(sidecar->not_ready(), "no replica is known");
  sidecar->stop();
  cache->stop();
}

TEST(Following, AReplicaIsReadyOnceItHasHeardItsPeersOrWaitedForLong) {
  const auto origin = *replay::SampleOrigin::start(any_port, system_clock);
  Configuration configuration = discovering(Command::cache);
  configuration.name = "cache-0";
  configuration.insecure_peers = true;
  configuration.origins = {net::Origin{origin->address(), 1}};
  boost::asio::io_context context;
  const boost::asio::ip::tcp::endpoint place(boost::asio::ip::address_v4::loopback(), 0);
  boost::asio::ip::tcp::acceptor silent(context, place);  // connections wait for ever
  const Endpoint peer{"127.0.0.1", silent.local_endpoint().port()};
  FakeClock clock;
  const auto cache = *CacheService::start(configuration, clock);
  EXPECT_EQ(cache->not_ready(), "the members are not known yet");
  ASSERT_TRUE(cache->follow(roster_at(1, {cache->address(), peer})));
  EXPECT_EQ(cache->not_ready(), "1 other replica has yet to tell what it holds");
  clock.advance(limits::holdings_patience - Milliseconds(1));
  EXPECT_EQ(cache->not_ready(), "1 other replica has yet to tell what it holds");
  clock.advance(Milliseconds(1));
  EXPECT_EQ(cache->not_ready(), "");
  ASSERT_TRUE(cache->follow(roster_at(2, {cache->address(), peer, peer})));
  EXPECT_EQ(cache->not_ready(), "") << "one that has served goes on";
  cache->stop();

  const auto alone = *CacheService::start(configuration, clock);
  clock.advance(limits::holdings_patience);
  EXPECT_EQ(alone->not_ready(), "") << "it answers without knowing anybody, if need be";
  alone->stop();

  const auto first = *CacheService::start(configuration, clock);
  configuration.name = "cache-1";
  const auto second = *CacheService::start(configuration, clock);
  const auto roster = roster_at(1, {first->address(), second->address()});
  ASSERT_TRUE(first->follow(roster));
  ASSERT_TRUE(second->follow(roster));
  EXPECT_TRUE(support::eventually([&] { return first->not_ready().empty(); }))
      << "the clock stands still";
  EXPECT_TRUE(support::eventually([&] { return second->not_ready().empty(); }));
  first->stop();
  second->stop();
}

// Who hears of a topology that it never followed has its own source read again; who hears of one
// that it has left behind does not.
TEST(Following, WhoIsBehindReadsItsSourceAgain) {
  const auto origin = *replay::SampleOrigin::start(any_port, system_clock);
  Configuration of_cache = discovering(Command::cache);
  of_cache.name = "cache-0";
  of_cache.insecure_peers = true;
  of_cache.origins = {net::Origin{origin->address(), 1}};
  const auto cache = *CacheService::start(of_cache, system_clock);
  of_cache.name = "cache-1";
  const auto other = *CacheService::start(of_cache, system_clock);
  const auto sidecar = *SidecarService::start(discovering(Command::sidecar), system_clock);
  std::atomic<unsigned> by_cache{0}, by_other{0}, by_sidecar{0};
  cache->read_again_by([&] { ++by_cache; });
  other->read_again_by([&] { ++by_other; });
  sidecar->read_again_by([&] { ++by_sidecar; });
  const auto before = roster_at(1, {cache->address()});
  const auto after = roster_at(2, {cache->address(), other->address()});
  const auto ask = [&](const std::string& path) {
    for (int i = 0; i < 10; ++i) EXPECT_EQ(status_of(*sidecar, path + std::to_string(i)), 200);
  };
  ASSERT_TRUE(sidecar->follow(before));
  ASSERT_TRUE(cache->follow(before));
  ask("/page/1");
  EXPECT_EQ(by_cache + by_sidecar, 0U);

  ASSERT_TRUE(cache->follow(after));
  ask("/page/2");
  EXPECT_GE(by_sidecar.load(), 1U);
  EXPECT_EQ(by_cache.load(), 0U) << "it has followed what the sidecar follows";

  ASSERT_TRUE(other->follow(before));
  EXPECT_TRUE(support::eventually([&] { return by_other > 0; })) << "replicas ask each other";

  ASSERT_TRUE(sidecar->follow(after));
  ASSERT_TRUE(sidecar->follow(roster_at(3, {cache->address(), other->address(), Endpoint{}})));
  ask("/page/3");
  EXPECT_GE(by_cache.load(), 1U);
  for (auto* service : {static_cast<Service*>(cache.get()), static_cast<Service*>(other.get()),
                        static_cast<Service*>(sidecar.get())}) {
    service->read_again_by({});
    service->stop();
  }
}

TEST(Following, ASidecarWhoseReplicasAreNowhereIsNotReady) {
  const auto sidecar = *SidecarService::start(discovering(Command::sidecar), system_clock);
  ASSERT_TRUE(sidecar->follow(roster_at(4, {Endpoint{}, Endpoint{}})));
  EXPECT_EQ(sidecar->not_ready(), "no replica is there yet");
  ASSERT_TRUE(sidecar->follow(roster_at(4, {Endpoint{}, Endpoint{"127.0.0.1", 1}})));
  EXPECT_EQ(sidecar->not_ready(), "");
  sidecar->stop();
}

// News of members was refused for ever where it came while the file of certificates was away.
TEST(Following, NeedsNoFileThatTheConfigurationNames) {
  const std::string authority = testing::TempDir() + "discovery_test_" + std::to_string(::getpid());
  std::filesystem::copy_file("/etc/ssl/certs/ca-certificates.crt", authority,
                             std::filesystem::copy_options::overwrite_existing);
  Configuration configuration = discovering(Command::cache);
  configuration.name = "cache-0";
  configuration.origins = *parse_origins("https://origin.example");
  configuration.origin_ca = authority;
  const auto started = CacheService::start(configuration, system_clock);
  ASSERT_TRUE(started) << started.error().message;
  std::filesystem::remove(authority);
  EXPECT_FALSE((*started)->apply(configuration)) << "a reload does need it";
  ASSERT_TRUE((*started)->follow(roster_at(4, {Endpoint{"127.0.0.1", 1}})));
  EXPECT_EQ((*started)->membership()->topology->version(), 4U);
  (*started)->stop();
}

TEST(Following, NobodyElseMayChangeTheMembers) {
  const auto sidecar = *SidecarService::start(discovering(Command::sidecar), system_clock);
  ASSERT_TRUE(sidecar->follow(roster_at(4, {Endpoint{"127.0.0.1", 1}})));
  const auto refused = sidecar->propose({9, "ring", *parse_members("a=h:1")});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::refused);
  EXPECT_THAT(refused.error().message, HasSubstr("come from --kubernetes shop/cache"));

  Configuration next = discovering(Command::sidecar);
  next.scheme = "simple-sha1";
  ASSERT_TRUE(sidecar->apply(next));
  EXPECT_EQ(sidecar->membership()->topology->scheme(), "simple-sha1");
  EXPECT_EQ(sidecar->membership()->topology->version(), 4U);
  ASSERT_EQ(sidecar->membership()->size(), 1U);

  k8s::Roster twice = roster_at(5, {Endpoint{"127.0.0.1", 1}, Endpoint{"127.0.0.1", 2}});
  twice.replicas[1].name = "cache-0";
  EXPECT_FALSE(sidecar->follow(twice));
  EXPECT_EQ(sidecar->membership()->topology->version(), 4U) << "the members stay";
  sidecar->stop();
}

TEST(DiscoveryLine, TellsWhatIsKnownOrSinceWhenItIsOld) {
  const TimePoint now{Milliseconds(1'000'000)};
  k8s::DiscoveryFigures figures;
  figures.words = "may not list statefulsets.apps";
  EXPECT_EQ(discovery_line("kubernetes", figures, now),
            "kubernetes: no answer yet: may not list statefulsets.apps");
  figures.last_answer = now - Milliseconds(42'900);
  EXPECT_EQ(discovery_line("kubernetes", figures, now),
            "kubernetes: away for 42 s, the last members stay: may not list statefulsets.apps");
  figures.last_answer = now + Milliseconds(5'000);  // a clock was set back
  EXPECT_THAT(discovery_line("kubernetes", figures, now), HasSubstr("away for 0 s"));
  figures.in_touch = true;
  figures.words = "10 replicas";
  EXPECT_EQ(discovery_line("kubernetes", figures, now), "kubernetes: 10 replicas");
}

TEST(DiscoveryFigures, CountThoseThatAreReady) {
  k8s::DiscoveryFigures figures;
  figures.in_touch = true;
  figures.last_answer = TimePoint{Milliseconds(1'500)};
  figures.rosters = 3;
  figures.failures[static_cast<std::size_t>(k8s::FailureReason::gone)] = 2;
  const auto listed = *tier::make_membership(*parse_members("a=h:1,b=h:2,c=h:3"), "ring", 1);
  const Membership membership(listed->topology, listed->addresses,
                              {{true, false, ""}, {false, false, ""}, {true, true, ""}});
  const auto told = discovery_figures(figures, membership);
  EXPECT_TRUE(told.in_touch);
  EXPECT_DOUBLE_EQ(told.last_answer_timestamp_seconds, 1.5);
  EXPECT_EQ(told.topologies, 3U);
  EXPECT_EQ(told.replicas_ready, 2U);
  ASSERT_EQ(told.failures.size(), k8s::failure_reasons.size());
  for (const auto& [reason, times] : told.failures) EXPECT_EQ(times, reason == "gone" ? 2U : 0U);
}

}  // namespace
}  // namespace ringside::program
