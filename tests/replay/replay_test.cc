#include "replay/replay.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/clock.h"
#include "http1/admin_server.h"
#include "replay/sample_origin.h"
#include "tests/support/system_clock.h"

namespace ringside::replay {
namespace {

using support::system_clock;

// A "tier" of one origin, and an admin server that says whatever the test wants of it.
class RunReplay : public testing::Test {
 protected:
  RunReplay() : origin_(SampleOrigin::start({"127.0.0.1", 0}, system_clock).value()) {
    // Of the process: tests of one program may run at the same time.
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("replay-" + std::to_string(origin_->address().port));
    std::filesystem::create_directories(folder_);
    admin_.on("GET", "/metrics", [this](const auto&) {
      http::AdminServer::Answer answer;
      answer.body = "ringside_requests_total{role=\"sidecar\",result=\"miss\"} " +
                    std::to_string(origin_->requests() + extra_requests_) + "\n";
      return answer;
    });
    admin_.on("GET", "/scale", [this](const auto&) {
      http::AdminServer::Answer answer;
      answer.body = nlohmann::json{{"replicas", replicas_.load()}, {"settled", true}}.dump();
      return answer;
    });
    admin_.on("PUT", "/scale", [this](const auto& request) {
      replicas_ = nlohmann::json::parse(request.body)["replicas"].template get<int>();
      if (miscount_) extra_requests_ = 1;
      return http::AdminServer::Answer{};
    });
    EXPECT_TRUE(admin_.start({"127.0.0.1", 0}).has_value());
    options_.to = origin_->address();
    options_.generated_requests = 600;
  }
  ~RunReplay() override { std::filesystem::remove_all(folder_); }

  // Runs with stdout and stderr caught.
  int run() {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int code = run_replay(options_);
    out_ = testing::internal::GetCapturedStdout();
    problem_ = testing::internal::GetCapturedStderr();
    return code;
  }
  [[nodiscard]] std::string file(const std::string& name) const {
    return (folder_ / name).string();
  }
  static std::string content(const std::string& path) {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }

  std::unique_ptr<SampleOrigin> origin_;
  std::atomic<int> replicas_{10};
  std::atomic<std::uint64_t> extra_requests_{0};
  std::atomic<bool> miscount_{false};
  http::AdminServer admin_;
  std::filesystem::path folder_;
  ReplayOptions options_;
  std::string out_, problem_;
};

TEST_F(RunReplay, GeneratedTrafficIsReplayedAndTold) {
  options_.json_file = file("figures.json");
  options_.lines_file = file("lines.tsv");
  EXPECT_EQ(run(), 0) << problem_;
  EXPECT_EQ(origin_->requests(), 600U);
  EXPECT_TRUE(out_.starts_with("600 requests, generated")) << out_;
  EXPECT_EQ(problem_, "");
  const auto json = nlohmann::json::parse(content(options_.json_file));
  EXPECT_EQ(json["all"]["requests"], 600);
  EXPECT_EQ(json["all"]["errors"], 0);
  const std::string lines = content(options_.lines_file);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 601);
}

TEST_F(RunReplay, AChangeOfReplicasIsOrderedInTheMiddleAndEveryRequestHasAPhase) {
  options_.admin = admin_.address();
  options_.scale = ScaleStep{11, 50};
  options_.json_file = "-";
  EXPECT_EQ(run(), 0) << problem_;
  EXPECT_EQ(replicas_, 11);
  const auto json = nlohmann::json::parse(out_);
  EXPECT_EQ(json["change"]["from_replicas"], 10);
  EXPECT_EQ(json["phases"]["warm-up"]["requests"], 150);
  EXPECT_GE(json["phases"]["before"]["requests"], 150);
  std::uint64_t sum = 0;
  for (const auto& phase : json["phases"]) sum += phase["requests"].get<std::uint64_t>();
  EXPECT_EQ(sum, 600U);
}

TEST_F(RunReplay, CountsThatDisagreeAreAFailure) {
  miscount_ = true;
  options_.admin = admin_.address();
  options_.scale = ScaleStep{11, 50};
  EXPECT_EQ(run(), 1);
  EXPECT_NE(out_.find("DISAGREE"), std::string::npos) << out_;
}

TEST_F(RunReplay, AnAdminAddressWhereNobodyListensIsSaid) {
  options_.concurrency = 1;
  options_.scale = ScaleStep{11, 50};
  options_.admin = admin_.address();
  admin_.stop();
  EXPECT_EQ(run(), 1);
  EXPECT_NE(problem_.find(options_.admin->text()), std::string::npos) << problem_;
}

struct Refused {
  const char* name;
  void (*change)(ReplayOptions&);
  const char* why;
  int code;
};

TEST_F(RunReplay, WhatCantBeRunIsSaidInOneLine) {
  const Refused table[] = {
      {"no such log", [](ReplayOptions& o) { o.log = "/nonexistent.log"; }, "/nonexistent.log", 1},
      {"no such database", [](ReplayOptions& o) { o.geo = "/nonexistent.mmdb"; },
       "/nonexistent.mmdb", 1},
      {"no such folder", [](ReplayOptions& o) { o.json_file = "/nonexistent/a.json"; },
       "/nonexistent/a.json", 1},
      {"no such folder for lines", [](ReplayOptions& o) { o.lines_file = "/nonexistent/a.tsv"; },
       "/nonexistent/a.tsv", 1},
      {"concurrency", [](ReplayOptions& o) { o.concurrency = 0; }, "--concurrency", 2},
      {"requests", [](ReplayOptions& o) { o.generated_requests = 1'000'000'000; }, "--requests", 2},
      {"no admin", [](ReplayOptions& o) { o.scale = ScaleStep{}; }, "--admin", 2},
      {"percentage",
       [](ReplayOptions& o) {
         o.admin = Endpoint{"127.0.0.1", 1};
         o.scale = ScaleStep{11, 100};
       },
       "--scale-at", 2},
  };
  const ReplayOptions usual = options_;
  for (const Refused& row : table) {
    options_ = usual;
    row.change(options_);
    EXPECT_EQ(run(), row.code) << row.name;
    EXPECT_NE(problem_.find(row.why), std::string::npos) << row.name << ": " << problem_;
    EXPECT_EQ(std::count(problem_.begin(), problem_.end(), '\n'), 1) << row.name << problem_;
    EXPECT_EQ(origin_->requests(), 0U) << row.name;
  }
}

TEST_F(RunReplay, WhereNobodyListensIsSaid) {
  origin_->stop();
  origin_.reset();
  EXPECT_EQ(run(), 1);
  EXPECT_NE(problem_.find(options_.to.text()), std::string::npos) << problem_;
  EXPECT_NE(problem_.find("is the tier running"), std::string::npos) << problem_;
}

}  // namespace
}  // namespace ringside::replay
