#include "replay/tier.h"

#include <gtest/gtest.h>

#include <map>

#include "metrics/sheet.h"
#include "replay/scrape.h"

namespace ringside::replay {
namespace {

TEST(Scrape, SumsWhatHasTheLabels) {
  const auto scrape = Scrape::parse(
      "# HELP a_total what\n# TYPE a_total counter\n"
      "a_total{x=\"1\",y=\"}, \\\"q\\\" \\\\ \"} 3\n"
      "a_total{x=\"2\",} 4.5 1700000000\n"
      "\n"
      "b 1e3\n"
      "c_bucket{le=\"+Inf\"} +Inf\n");
  ASSERT_TRUE(scrape.has_value()) << scrape.error().message;
  EXPECT_DOUBLE_EQ(scrape->sum("a_total"), 7.5);
  EXPECT_DOUBLE_EQ(scrape->sum("a_total", {{"x", "1"}}), 3);
  EXPECT_DOUBLE_EQ(scrape->sum("a_total", {{"y", "}, \"q\" \\ "}}), 3);
  EXPECT_DOUBLE_EQ(scrape->sum("a_total", {{"x", "3"}}), 0);
  EXPECT_DOUBLE_EQ(scrape->sum("b"), 1000);
  EXPECT_TRUE(scrape->has("b"));
  EXPECT_FALSE(scrape->has("a"));
}

TEST(Scrape, NamesTheLineThatIsNone) {
  for (const char* text : {"a\n", "a{x=\"1} 2\n", "a{x} 2\n", "a two\n", "<html>\n", "{} 1\n"}) {
    const auto scrape = Scrape::parse(std::string("# fine\n") + text);
    ASSERT_FALSE(scrape.has_value()) << text;
    EXPECT_NE(scrape.error().message.find("line 2"), std::string::npos) << text;
  }
}

// What metrics/ writes is what we read.
TEST(FiguresFromMetrics, ReadsWhatTheTierExposes) {
  metrics::Sheet sidecar(metrics::Role::sidecar, "", 1);
  metrics::Sheet replica(metrics::Role::cache, "cache-0", 1);
  const auto shard = sidecar.shard("cache-0");
  using metrics::Outcome;
  for (const Outcome outcome : {Outcome::hit, Outcome::hit, Outcome::collapsed, Outcome::miss,
                                Outcome::bypass, Outcome::error}) {
    sidecar.core(0).count_request(shard, "DE", outcome, std::chrono::microseconds(5), 1);
    replica.core(0).count_request(0, "DE", outcome, std::chrono::microseconds(5), 1);
  }
  replica.core(0).count("ringside_origin_requests_total", metrics::OriginAnswer::status_2xx);
  replica.core(0).count("ringside_origin_requests_total", metrics::OriginAnswer::failed);
  const auto figures = figures_from_metrics(metrics::expose({&sidecar, &replica}));
  ASSERT_TRUE(figures.has_value()) << figures.error().message;
  EXPECT_EQ(figures->requests, 6U);
  EXPECT_EQ(figures->hits, 3U);
  EXPECT_EQ(figures->errors, 1U);
  EXPECT_EQ(figures->fetches_by_metrics, 2U);

  const auto alone = figures_from_metrics(metrics::expose({&sidecar}));
  ASSERT_TRUE(alone.has_value());
  EXPECT_EQ(alone->fetches_by_metrics, std::nullopt);
}

struct FakeAdmin {
  std::map<std::string, http::AdminAnswer> answers;
  std::vector<std::string> asked;
  Tier tier() {
    return Tier([this](const std::string& method, const std::string& path,
                       const std::string& body) -> Result<http::AdminAnswer> {
      asked.push_back(method + " " + path + " " + body);
      return answers.at(path);
    });
  }
};

TEST(Tier, ScalesAndTellsWhetherItHasSettled) {
  FakeAdmin admin;
  admin.answers["/scale"] = {200, "", R"({"replicas": 11, "settled": true, "topology": {}})"};
  const Tier tier = admin.tier();
  EXPECT_TRUE(tier.scale(11).has_value());
  EXPECT_EQ(admin.asked.back(), "PUT /scale {\"replicas\":11}");
  EXPECT_TRUE(tier.settled(11).value());
  EXPECT_FALSE(tier.settled(12).value());
  EXPECT_EQ(tier.replicas().value(), 11U);
  admin.answers["/scale"].body = R"({"replicas": 11, "settled": false})";
  EXPECT_FALSE(tier.settled(11).value());
}

TEST(Tier, WhatMakesNoSenseIsAnErrorThatNamesThePath) {
  for (const http::AdminAnswer& answer :
       {http::AdminAnswer{404, "", "no such path\n"}, http::AdminAnswer{200, "", "not JSON"},
        http::AdminAnswer{200, "", "{}"}, http::AdminAnswer{200, "", R"({"replicas": "11"})"}}) {
    FakeAdmin admin;
    admin.answers["/scale"] = answer;
    const auto replicas = admin.tier().replicas();
    ASSERT_FALSE(replicas.has_value()) << answer.body;
    EXPECT_NE(replicas.error().message.find("/scale"), std::string::npos);
  }
}

TEST(Tier, AnOriginThatIsNotOursIsNotCounted) {
  FakeAdmin admin;
  admin.answers["/metrics"] = {200, "", ""};
  admin.answers["/origin"] = {404, "", ""};
  EXPECT_EQ(admin.tier().figures().value().fetches_by_origin, std::nullopt);
  admin.answers["/origin"] = {200, "", R"({"requests": 42})"};
  EXPECT_EQ(admin.tier().figures().value().fetches_by_origin, 42U);
}

}  // namespace
}  // namespace ringside::replay
