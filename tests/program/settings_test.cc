#include "program/settings.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "program/configuration.h"
#include "program/configuration_file.h"
#include "program/values.h"

namespace ringside::program {
namespace {

TEST(Settings, CarryTheConfiguration) {
  Configuration loaded = defaults(Command::sidecar);
  const auto overlaid = overlay_yaml(
      loaded,
      "listen: h:1\nreplicas: cache-10=h:2,cache-2=h:3;weight=2\ntrust: 10.0.0.0/8\n"
      "purge_from: ::1\ncountry_header: Land\norigin: http://o\nwithout_replica: origin\n"
      "origin_connections: 7\n"
      "connect_timeout: 2s\nfirst_byte_timeout: 3s\nrequest_deadline: 4s\n"
      "routes:\n - name: a\n   path: /a\n - name: b\n   path: /a/b\n   shard_key: path\n",
      "f");
  ASSERT_TRUE(overlaid) << overlaid.error().message;
  const auto membership = tier::make_membership(loaded.replicas, loaded.scheme, 7);
  ASSERT_TRUE(membership);
  const auto settings = *make_sidecar_settings(loaded, *membership, nullptr);
  EXPECT_EQ(settings->routes.size(), 2U);
  EXPECT_EQ(settings->route_table.find("x", "/a/b/c")->index, 1U);
  EXPECT_EQ(settings->routes[1].key.text(), "path");
  EXPECT_EQ(origin_text(settings->routes[1].origins.at(0)), "http://o:80");
  EXPECT_EQ(settings->origin_connections, 7U);
  EXPECT_EQ(settings->membership->topology->version(), 7U);
  EXPECT_EQ(settings->membership, *membership);
  // In the topology's order, not the file's.
  EXPECT_EQ(settings->membership->topology->members()[0].name, "cache-2");
  EXPECT_EQ(settings->membership->address(0).text(), "h:3");
  EXPECT_EQ(settings->trusted.size(), 1U);
  EXPECT_EQ(settings->purge_from.size(), 1U);
  EXPECT_EQ(settings->country_header, "Land");
  EXPECT_EQ(settings->without_replica, sidecar::WithoutReplica::ask_origin);
  EXPECT_EQ(settings->connect_timeout, Seconds(2));
  // A replica tells of its silent origin before it is taken for silent itself.
  EXPECT_EQ(settings->first_byte_timeout,
            Seconds(2) + Seconds(3) + limits::replica_answer_allowance);
  EXPECT_EQ(settings->request_deadline, Seconds(4));

  const auto cache = *make_cache_settings(loaded, *membership);
  EXPECT_EQ(origin_text(cache->routes[0].origins.at(0)), "http://o:80");
  EXPECT_EQ(cache->origin_connections, 7U);
  EXPECT_EQ(cache->country_header, "Land");
  EXPECT_EQ(cache->first_byte_timeout, Seconds(3));
  EXPECT_EQ(cache->request_deadline, Seconds(4));
  EXPECT_FALSE(make_cache_settings(Configuration{}, *membership));
}

TEST(Settings, WhereNothingMovesFillsHaveNoBound) {
  Configuration configuration;
  configuration.origins = *parse_origins("http://o:80");
  EXPECT_EQ(make_cache_settings(configuration, nullptr).value()->fills_most, limits::fills_most);
  EXPECT_EQ(make_cache_settings(configuration, nullptr).value()->split_writes,
            cache::SplitWrites::log);
  configuration.move_rate_mib_s = 0;
  EXPECT_GT(make_cache_settings(configuration, nullptr).value()->fills_most, 1'000'000U);
}

}  // namespace
}  // namespace ringside::program
