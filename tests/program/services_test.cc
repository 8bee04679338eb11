// The separate shape: a sidecar and cache replicas that only know each other's addresses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "http1/admin_client.h"
#include "program/cache_service.h"
#include "program/sidecar_service.h"
#include "program/tier.h"
#include "program/values.h"
#include "replay/sample_origin.h"
#include "tests/support/mmdb_writer.h"
#include "tests/support/system_clock.h"
#include "tests/support/tls_server.h"

namespace ringside::program {
namespace {

using support::system_clock;
using testing::HasSubstr;

const Endpoint any_local_port{"127.0.0.1", 0};

class SeparateServices : public testing::Test {
 protected:
  SeparateServices() : origin_(*replay::SampleOrigin::start(any_local_port, system_clock)) {
    std::vector<shard::MemberAt> members;
    for (int i = 0; i < 3; ++i) {
      Configuration configuration = common(Command::cache);
      configuration.name = "cache-" + std::to_string(i);
      configuration.memory.size_bytes = limits::kMiB;
      caches_.push_back(*CacheService::start(configuration, system_clock));
      members.push_back({{configuration.name, 1, ""}, caches_.back()->address()});
    }
    Configuration configuration = common(Command::sidecar);
    configuration.replicas = members;
    configuration.shard_key = *shard::KeySpec::parse("path");
    sidecar_ = *SidecarService::start(configuration, system_clock);
    sidecar_configuration_ = configuration;
  }

  Configuration common(Command command) const {
    Configuration configuration = defaults(command);
    configuration.listen = any_local_port;
    configuration.origins = {net::Origin{origin_->address(), 1}};
    configuration.threads = 1;
    configuration.insecure_peers = true;
    configuration.purge_from = *parse_networks("127.0.0.0/8");
    return configuration;
  }
  int ask_all() const {
    int answered = 0;
    for (int i = 0; i < pages; ++i) {
      const auto answer = http::ask_admin(sidecar_->address(), "GET", "/page/" + std::to_string(i),
                                          "", Seconds(20));
      if (answer && answer->status == 200) ++answered;
    }
    return answered;
  }

  static constexpr int pages = 30;
  std::unique_ptr<replay::SampleOrigin> origin_;
  std::vector<std::unique_ptr<CacheService>> caches_;
  std::unique_ptr<SidecarService> sidecar_;
  Configuration sidecar_configuration_;
};

TEST_F(SeparateServices, TheSecondTimeTheOriginIsNotAsked) {
  EXPECT_EQ(ask_all(), pages);
  EXPECT_EQ(ask_all(), pages);
  EXPECT_EQ(origin_->requests(), static_cast<std::uint64_t>(pages));
  EXPECT_THAT(metrics::expose(sidecar_->totals(), {}), HasSubstr("cache-2"));
}

TEST_F(SeparateServices, ADeadReplicaFailsNobody) {
  EXPECT_EQ(ask_all(), pages);
  caches_[1]->stop();
  EXPECT_EQ(ask_all(), pages);
}

TEST_F(SeparateServices, WithoutAnyReplicaTheOriginIsAskedWhereThatIsConfigured) {
  for (const auto& cache : caches_) cache->stop();
  EXPECT_EQ(ask_all(), 0);
  sidecar_configuration_.without_replica = sidecar::WithoutReplica::ask_origin;
  ASSERT_TRUE(sidecar_->apply(sidecar_configuration_));
  EXPECT_EQ(ask_all(), pages);
}

TEST_F(SeparateServices, APurgeThroughTheSidecarReachesEveryReplica) {
  EXPECT_EQ(ask_all(), pages);
  using http::PurgeTarget;
  const std::string host = sidecar_->address().text();
  EXPECT_EQ(sidecar_->purge(PurgeTarget::of_request(host, "/page/7")).removed, 1U);
  EXPECT_EQ(sidecar_->purge({PurgeTarget::Scope::below, host, "/page/1"}).removed, 11U)
      << "/page/1, and /page/10 to /page/19";
  const PurgeResult rest = sidecar_->purge(PurgeTarget::all());
  EXPECT_EQ(rest.removed, static_cast<std::size_t>(pages - 12));
  EXPECT_TRUE(rest.missing.empty());
  caches_[2]->stop();
  EXPECT_THAT(sidecar_->purge(PurgeTarget::all()).missing,
              testing::ElementsAre(testing::StartsWith("cache-2")));
}

TEST_F(SeparateServices, AReloadThatIsWrongChangesNothing) {
  const auto before = sidecar_->membership()->topology;
  Configuration next = sidecar_configuration_;
  next.replicas.pop_back();
  next.geo = "/nowhere/country.mmdb";
  EXPECT_FALSE(sidecar_->apply(next));
  EXPECT_EQ(sidecar_->membership()->topology, before);
  next.geo.clear();
  EXPECT_TRUE(sidecar_->apply(next));
  EXPECT_EQ(sidecar_->membership()->topology->version(), 2U);
  EXPECT_EQ(ask_all(), pages);
}

// Members that were put in by hand were refused while the file of certificates was away, although
// nothing of it was to change.
TEST(MembersAlone, NeedNoFileThatTheConfigurationNames) {
  const support::Certificate authority({.names = "DNS:a.test", .authority = true}, nullptr);
  std::optional<support::TemporaryFile> file(authority.pem());
  Configuration configuration = defaults(Command::cache);
  configuration.listen = any_local_port;
  configuration.threads = 1;
  configuration.origins = *parse_origins("https://origin.example");
  configuration.origin_ca = file->path();
  configuration.name = "cache-0";
  const auto cache = *CacheService::start(configuration, system_clock);
  configuration.shard_key = *shard::KeySpec::parse("path");
  configuration.replicas = *parse_members("cache-0=127.0.0.1:1");
  const auto sidecar = *SidecarService::start(configuration, system_clock);
  configuration.replica_count = 1;
  const auto tier = *Tier::start(configuration, system_clock);

  file.reset();
  EXPECT_FALSE(cache->apply(configuration)) << "a reload does need it";
  EXPECT_FALSE(sidecar->apply(configuration));
  EXPECT_FALSE(tier->apply(configuration));
  const shard::TopologyRequest request{7, "ring",
                                       *parse_members("cache-0=127.0.0.1:1,cache-1=127.0.0.1:2")};
  for (Service* const service :
       {static_cast<Service*>(cache.get()), static_cast<Service*>(sidecar.get())}) {
    const auto proposed = service->propose(request);
    ASSERT_TRUE(proposed) << proposed.error().message;
    EXPECT_EQ(service->membership(), *proposed) << "what its cores were given";
    EXPECT_EQ((*proposed)->topology->version(), 7U);
    EXPECT_EQ((*proposed)->address(1).text(), "127.0.0.1:2");
  }
  const auto scaled = tier->scale(2);
  ASSERT_TRUE(scaled) << scaled.error().message;
  EXPECT_EQ(scaled->replicas_after, 2U);
}

}  // namespace
}  // namespace ringside::program
