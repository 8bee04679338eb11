#include "replay/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/limits.h"

namespace ringside::replay {
namespace {

using metrics::Outcome;

// A run written by hand: who asked for what, and who answered how.
class Traffic {
 public:
  void add(const std::string& target, std::uint16_t cache, Outcome outcome,
           const std::string& method = "GET") {
    requests.push_back(
        {IpAddress::parse("192.0.2.7").value(), method, target, requests.size() + 1});
    Reply reply;
    reply.status = 200;
    reply.cache = cache;
    reply.outcome = outcome;
    reply.latency_us = 100;
    journal.replies.push_back(reply);
  }
  void add_failure(const std::string& target) {
    requests.push_back({IpAddress::parse("192.0.2.7").value(), "GET", target, requests.size() + 1});
    Reply reply;
    reply.failure = ErrorKind::refused;
    journal.replies.push_back(reply);
    journal.count_error("no answer: cannot connect");
  }
  [[nodiscard]] Report report(const std::optional<Change>& change = std::nullopt) const {
    return summarise(requests, journal, change, nullptr, {false, false, "path", {}});
  }

  std::vector<LogRequest> requests;
  Journal journal{{}, {"cache-10", "cache-2"}, {}};
};

TEST(Summarise, CountsGetsHitsAndWhatCouldHaveBeenOne) {
  Traffic run;
  run.add("/a", 1, Outcome::miss);
  run.add("/a", 1, Outcome::hit);
  run.add("/x/../a", 1, Outcome::collapsed);  // the same key
  run.add("/a", 1, Outcome::miss);            // should have been a hit
  run.add("/a", 1, Outcome::hit, "HEAD");
  run.add("/b", 0, Outcome::miss);
  run.add("/b", 0, Outcome::bypass, "POST");
  run.add_failure("/b");
  const Report report = run.report();
  EXPECT_EQ(report.all.requests, 8U);
  EXPECT_EQ(report.all.gets, 5U);
  EXPECT_EQ(report.all.hits, 2U);
  EXPECT_EQ(report.all.repeats, 3U);
  EXPECT_EQ(report.all.errors, 1U);
  EXPECT_EQ(report.misses_again, 1U);
  EXPECT_DOUBLE_EQ(hit_rate_percent(report.all).value(), 40);
  EXPECT_DOUBLE_EQ(best_rate_percent(report.all, report.key).value(), 60);
  EXPECT_EQ(report.all.latency.count(), 7U);
  ASSERT_EQ(report.caches.size(), 2U);
  EXPECT_EQ(report.caches[0].name, "cache-2");  // before cache-10
  EXPECT_EQ(report.caches[0].tally.requests, 5U);
  EXPECT_EQ(report.caches[1].tally.gets, 1U);
  EXPECT_TRUE(report.countries.empty());
  EXPECT_TRUE(report.phases.empty());
  EXPECT_FALSE(report.is_good());
}

TEST(Summarise, KnowsWhatCouldHaveBeenAHitByTheKeyOfTheTierAlone) {
  Traffic run;
  run.add("/a", 1, Outcome::miss);
  run.add("/a", 1, Outcome::hit);
  run.requests[1].client = IpAddress::parse("192.0.2.8").value();
  const auto best = [&](TierKey key) {
    const Report report = summarise(run.requests, run.journal, std::nullopt, nullptr, key);
    return best_rate_percent(report.all, report.key);
  };
  EXPECT_EQ(best({false, false, "path", {}}), 50);
  EXPECT_EQ(best({false, true, "ip,path", {}}), 0);
  EXPECT_EQ(best({true, false, "country,path", {}}), std::nullopt) << "without a database";
  EXPECT_EQ(best({false, false, "path,header:x", "no log tells"}), std::nullopt);
}

TEST(Summarise, NothingIsNoRate) {
  const Report report = Traffic().report();
  EXPECT_EQ(hit_rate_percent(report.all), std::nullopt);
  EXPECT_TRUE(report.is_good());
}

TEST(Summarise, FollowsKeysThroughAChange) {
  Traffic run;
  run.journal.caches = {"cache-0", "cache-1", "cache-2"};
  for (const char* target : {"/stays", "/moves", "/wanders"}) run.add(target, 0, Outcome::miss);
  run.add("/stays", 0, Outcome::hit);   // 3: before
  run.add("/moves", 2, Outcome::miss);  // 4: during; fetched again
  run.add("/stays", 0, Outcome::hit);   // 5: after
  run.add("/moves", 2, Outcome::hit);
  run.add("/wanders", 1, Outcome::miss);  // fetched again, but by an old replica
  run.add("/new", 2, Outcome::miss);
  run.add("/stays", 0, Outcome::hit);
  run.requests.insert(run.requests.begin(), run.requests[0]);
  run.journal.replies.insert(run.journal.replies.begin(), run.journal.replies[0]);
  run.requests[0].target = "/other";
  run.journal.replies[0].cache = 1;  // so that cache-1 is no newcomer
  const Report report = run.report(Change{2, 3, 3, 5, 6});
  ASSERT_TRUE(report.moves.has_value());
  EXPECT_EQ(report.moves->keys, 3U);
  EXPECT_EQ(report.moves->moved, 2U);
  EXPECT_EQ(report.moves->elsewhere, 1U);
  EXPECT_EQ(report.moves->fetched_again, 2U);
  EXPECT_EQ(report.misses_again, 0U);
  ASSERT_EQ(report.phases.size(), 4U);
  const std::uint64_t expected[] = {3, 2, 1, 5};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(report.phases[i].tally.requests, expected[i]) << report.phases[i].name;
  }
  EXPECT_DOUBLE_EQ(hit_rate_percent(report.phases[3].tally).value(), 60);
  EXPECT_DOUBLE_EQ(best_rate_percent(report.phases[3].tally, report.key).value(), 80);
}

TEST(Compare, CountsMustAgree) {
  Traffic run;
  run.add("/a", 1, Outcome::miss);
  run.add("/a", 1, Outcome::hit);
  Report report = run.report();
  const TierFigures before{100, 50, 1, 40, 60};
  TierFigures after{102, 51, 1, 41, 61};
  compare(report, run.requests, run.journal, before, after);
  EXPECT_EQ(report.comparisons.size(), 4U);
  EXPECT_EQ(report.origin_fetches, 1U);
  EXPECT_TRUE(report.is_good());

  after.fetches_by_origin = 62;
  compare(report, run.requests, run.journal, before, after);
  EXPECT_FALSE(report.is_good());

  after.fetches_by_origin = std::nullopt;
  compare(report, run.requests, run.journal, before, after);
  EXPECT_EQ(report.comparisons.size(), 3U);
  EXPECT_TRUE(report.is_good());

  ++after.errors;
  compare(report, run.requests, run.journal, before, after);
  EXPECT_FALSE(report.is_good());
}

TEST(Journal, CountsErrorsWithABound) {
  Journal journal;
  for (std::size_t i = 0; i < limits::replay_caches + 7; ++i) {
    journal.count_error("502 " + std::to_string(i));
  }
  journal.count_error("502 0");
  EXPECT_EQ(journal.errors.size(), limits::replay_caches + 1);
  EXPECT_EQ(journal.errors.at("others"), 7U);
  EXPECT_EQ(journal.errors.at("502 0"), 2U);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(AsTable, SaysWhatPeopleLookFor) {
  Traffic run;
  for (int i = 0; i < 1500; ++i) run.add("/a", 1, i == 0 ? Outcome::miss : Outcome::hit);
  Report report = run.report(Change{10, 11, 500, 1000, 1200});
  report.source = "generated (seed 1), to 127.0.0.1:8080, 16 at a time";
  report.took = std::chrono::seconds(2);
  report.skipped = 2;
  report.first_skipped = {{7, "the client sent no request"}};
  report.comparisons = {{"errors", "the client", 0, 3}};
  const std::string table = as_table(report);
  EXPECT_TRUE(has(table, "1,500 requests, generated (seed 1)")) << table;
  EXPECT_TRUE(has(table, "in 2.0 s (750/s)")) << table;
  EXPECT_TRUE(has(table, "during 10 -> 11")) << table;
  EXPECT_TRUE(has(table, "99.9 %")) << table;
  EXPECT_TRUE(has(table, "expected 1/11 = 9.1 %")) << table;
  EXPECT_TRUE(has(table, "cache-2")) << table;
  EXPECT_TRUE(has(table, "3 by /metrics: DISAGREE")) << table;
  EXPECT_TRUE(has(table, "line 7: the client sent no request")) << table;
  EXPECT_TRUE(has(table, "0.10 ms")) << table;
}

TEST(AsTable, TellsErrorsByReasonAndByWhichKeyItReckons) {
  Traffic run;
  run.add("/a", 1, Outcome::miss);
  for (int i = 0; i < 2; ++i) run.add_failure("/b");
  run.journal.count_error("502 connection_refused (cache-2)");
  Report report = run.report();
  std::string table = as_table(report);
  EXPECT_TRUE(has(table, "errors by reason          2 × no answer: cannot connect\n")) << table;
  EXPECT_TRUE(has(table, "                          1 × 502 connection_refused (cache-2)"))
      << table;
  EXPECT_TRUE(has(table,
                  "whose target had been asked for before in this run; assumed is the shard "
                  "key path: --admin tells"))
      << table;
  report.is_key_assumed = false;
  EXPECT_TRUE(has(as_table(report), "in this run; the tier's shard key is path")) << table;
  report.key.unknown = "no log tells";
  EXPECT_TRUE(has(as_table(report), "  * left out: no log tells")) << table;
}

TEST(AsTable, NamesFromTheWireCantForgeLines) {
  Traffic run;
  run.journal.caches = {"a\n  b", "\x1b[31m"};
  run.add("/a", 0, Outcome::hit);
  run.add("/a", 1, Outcome::hit);
  const std::string table = as_table(run.report());
  EXPECT_FALSE(has(table, "a\n  b")) << table;
  EXPECT_FALSE(has(table, "\x1b")) << table;
}

TEST(AsJson, HasTheFiguresByName) {
  Traffic run;
  run.add("/a", 1, Outcome::miss);
  run.add("/a", 0, Outcome::hit);
  run.journal.caches[0] = "caf\xe9";  // no UTF-8
  const auto json = nlohmann::json::parse(as_json(run.report(Change{10, 11, 0, 1, 1})));
  EXPECT_EQ(json["all"]["gets"], 2);
  EXPECT_EQ(json["all"]["hit_rate_percent"], 50.0);
  EXPECT_EQ(json["replicas"]["cache-2"]["requests"], 1);
  EXPECT_EQ(json["phases"]["after"]["hits"], 1);
  EXPECT_EQ(json["phases"]["warm-up"]["hit_rate_percent"], nullptr);
  EXPECT_EQ(json["change"]["to_replicas"], 11);
  EXPECT_EQ(json["good"], true);
}

TEST(AsLines, OneARequest) {
  Traffic run;
  run.add("/a?b", 1, Outcome::collapsed);
  run.add_failure("/c");
  EXPECT_EQ(as_lines(run.requests, run.journal),
            "line\tclient\tmethod\ttarget\tstatus\treplica\thit\tresult\n"
            "1\t192.0.2.7\tGET\t/a?b\t200\tcache-2\t1\tcollapsed\n"
            "2\t192.0.2.7\tGET\t/c\t-\t-\t0\terror\n");
}

}  // namespace
}  // namespace ringside::replay
