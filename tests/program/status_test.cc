#include "program/status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace ringside::program {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

StatusPages some_pages() {
  StatusPages pages;
  pages.readiness = 200;
  pages.readyz = "ready\nringside up at h:8080\n";
  pages.topology = R"({"id": "ab", "version": 3, "scheme": "ring", "members": [
    {"name": "a", "share": 0.25, "address": "h:1"},
    {"name": "b", "share": 0.75, "address": "h:2", "ready": false}]})";
  pages.metrics_before = R"(ringside_requests_total{role="sidecar",result="hit"} 10
ringside_requests_total{role="sidecar",result="miss"} 10
)";
  // The replicas count the same requests once more.
  pages.metrics = R"(ringside_requests_total{role="sidecar",result="hit"} 40
ringside_requests_total{role="sidecar",result="miss"} 20
ringside_requests_total{role="sidecar",result="bypass"} 60
ringside_requests_total{role="cache",shard="a",result="hit"} 999
ringside_store_entries{shard="a"} 1200
ringside_store_bytes{shard="a"} 1048576
ringside_buckets_away{shard="a"} 7
ringside_replicas_ejected 0
ringside_configuration_last_reload_successful 1
)";
  pages.between = Milliseconds{2'000};
  return pages;
}

TEST(Status, IsReadOffTheAdminPages) {
  const auto status = status_of("h:9090", some_pages());
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_TRUE(status->is_ready);
  EXPECT_EQ(status->topology_version, 3U);
  EXPECT_DOUBLE_EQ(status->requests_per_second, 50);
  EXPECT_DOUBLE_EQ(status->hit_rate.value(), 0.75);
  ASSERT_EQ(status->replicas.size(), 2U);
  EXPECT_EQ(status->replicas[0].entries, 1200U);
  EXPECT_EQ(status->replicas[0].buckets_away, 7U);
  EXPECT_EQ(status->replicas[1].entries, std::nullopt) << "another process has it";
  EXPECT_TRUE(ailments({*status}).empty());
  const std::string text = to_text(*status);
  EXPECT_THAT(text, HasSubstr("  requests: 50 a second, hits: 75.0 %\n"));
  EXPECT_THAT(text, HasSubstr("  a                 25.0 %       1,200         1.0       7\n"));
  EXPECT_THAT(text,
              HasSubstr("  b                 75.0 %           -           -       -  not ready\n"));
  const auto page = nlohmann::json::parse(to_json({*status}, {"x"}));
  EXPECT_EQ(page["wrong"][0], "x");
  EXPECT_EQ(page["processes"][0]["hit_rate"], 0.75);
  EXPECT_EQ(page["processes"][0]["replicas"][0]["stored_responses"], 1200);
}

TEST(Status, OfAReplicaAloneIsItsOwn) {
  StatusPages pages = some_pages();
  pages.metrics_before = "";
  pages.metrics = R"(ringside_requests_total{role="cache",shard="a",result="miss"} 4
)";
  const auto status = status_of("h:9090", pages);
  ASSERT_TRUE(status);
  EXPECT_DOUBLE_EQ(status->requests_per_second, 2);
  EXPECT_DOUBLE_EQ(status->hit_rate.value(), 0);
}

TEST(Status, NamesWhatIsWrong) {
  StatusPages pages = some_pages();
  const ProcessStatus well = status_of("h:1", pages).value();
  pages.readiness = 503;
  pages.readyz = "not ready: draining\n";
  pages.topology.replace(pages.topology.find("ab"), 2, "cd");
  pages.metrics = "ringside_replicas_ejected 2\nringside_configuration_last_reload_successful 0\n";
  const ProcessStatus ill = status_of("h:2", pages).value();
  EXPECT_THAT(
      ailments({well, ill}),
      ElementsAre("h:2 is not ready: draining", "h:2 does not ask 2 of its replicas",
                  "h:2 has refused its last reload", "h:2 follows another topology than h:1"));
  EXPECT_EQ(ill.hit_rate, std::nullopt);
}

TEST(Status, OfSomethingElseIsRefused) {
  for (int i = 0; i < 5; ++i) {
    StatusPages pages = some_pages();
    if (i == 0) pages.readiness = 404;
    if (i == 1) pages.topology = "<html>";
    if (i == 2) pages.topology = "{}";
    if (i == 3) pages.metrics = "}";
    if (i == 4) pages.metrics_before = "}";
    const auto status = status_of("h:9090", pages);
    ASSERT_FALSE(status) << i;
    EXPECT_THAT(status.error().message,
                HasSubstr("h:9090: what answers there is no admin page of this release"));
  }
}

}  // namespace
}  // namespace ringside::program
