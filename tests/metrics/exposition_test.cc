#include "metrics/exposition.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/sheet.h"

namespace ringside::metrics {
namespace {

using std::chrono::microseconds;

// What stands between `begin` and the next `end` behind it; nothing where either is missing.
std::optional<std::string> between(const std::string& text, std::string_view begin,
                                   std::string_view end) {
  const auto from = text.find(begin);
  if (from == std::string::npos) return std::nullopt;
  const auto to = text.find(end, from + begin.size());
  if (to == std::string::npos) return std::nullopt;
  return text.substr(from + begin.size(), to - from - begin.size());
}

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, by);) parts.push_back(part);
  return parts;
}

// A reader of the exposition that is strict about what we write: HELP, TYPE, then the family's
// series in one run, no series twice.
struct Exposition {
  std::map<std::string, std::string> types;    // by family
  std::map<std::string, std::string> samples;  // value, by name and labels as written
};

std::string family_of(const std::string& series, const std::map<std::string, std::string>& types) {
  const std::string name = series.substr(0, series.find('{'));
  for (const std::string suffix : {"_bucket", "_sum", "_count"}) {
    if (!name.ends_with(suffix)) continue;
    const std::string base = name.substr(0, name.size() - suffix.size());
    if (const auto type = types.find(base); type != types.end() && type->second == "histogram") {
      return base;
    }
  }
  return name;
}

// `a,b` of `name{a="1",b="2"}`. No value of these tests holds a quote or a comma.
std::string label_names(const std::string& series) {
  std::string names;
  for (const auto& label : split(between(series, "{", "}").value_or(""), ',')) {
    const auto equals = label.find("=\"");
    EXPECT_NE(equals, std::string::npos);
    EXPECT_TRUE(label.ends_with('"'));
    if (!label.starts_with("le=")) names += (names.empty() ? "" : ",") + label.substr(0, equals);
  }
  return names;
}

void parse(const std::string& text, Exposition& out) {
  std::string helped, family;
  for (const std::string& line : split(text, '\n')) {
    SCOPED_TRACE(line);
    const auto words = split(line, ' ');
    if (line.starts_with("# HELP ")) {
      ASSERT_GT(words.size(), 3u);
      helped = words[2];
    } else if (line.starts_with("# TYPE ")) {
      ASSERT_EQ(words.size(), 4u);
      family = words[2];
      EXPECT_EQ(family, helped);
      EXPECT_TRUE(out.types.emplace(family, words[3]).second) << "a family stands twice";
    } else {
      ASSERT_EQ(words.size(), 2u);
      EXPECT_EQ(family_of(words[0], out.types), family);
      EXPECT_TRUE(out.samples.emplace(words[0], words[1]).second) << "a series stands twice";
    }
  }
}

Exposition parsed(const std::string& text) {
  Exposition out;
  parse(text, out);
  return out;
}

std::optional<std::string> value(const Exposition& exposition, const std::string& series) {
  const auto found = exposition.samples.find(series);
  if (found == exposition.samples.end()) return std::nullopt;
  return found->second;
}

// Every counter, gauge and bucket of a sheet has a value other than 0.
void touch(Sheet& sheet) {
  CoreSheet& core = sheet.core(0);
  const Totals before = sheet.totals();
  const ShardIndex shard = sheet.shard(before.role == Role::cache ? before.name : "cache-0");
  for (std::size_t i = 0; i < outcome_count; ++i) {
    const auto outcome = static_cast<Outcome>(i);
    for (const auto bound : duration_bounds_us) {
      core.count_request(shard, "NO", outcome, microseconds(bound), 1000);
    }
    core.count_request(0, "ZZ", outcome, std::chrono::hours(1), 1000);
  }
  for (std::size_t i = 0; i < origin_answer_count; ++i) {
    core.count("ringside_origin_requests_total", static_cast<OriginAnswer>(i));
  }
  for (std::size_t i = 0; i < error_source_count; ++i) {
    for (std::size_t j = 0; j < error_kind_count; ++j) {
      core.count_error({static_cast<ErrorKind>(j), static_cast<ErrorSource>(i), Retry::no, ""});
    }
  }
  core.count_error({ErrorKind::malformed, ErrorSource::origin, Retry::no, ""});
  core.count("ringside_retries_total");
  if (before.role == Role::sidecar) {
    core.replica_ejected(shard);
    core.replica_ejected(sheet.shard("cache-1"));
    core.replica_returned(sheet.shard("cache-1"));
    core.count(shard, "ringside_invalidations_failed_total");
    core.count("ringside_replica_probes_total", ProbeAnswer::answered);
    core.count("ringside_replica_probes_total", ProbeAnswer::failed);
  }
  if (before.role == Role::cache) {
    for (const auto bound : duration_bounds_us) core.count_split_wait(microseconds(bound));
    core.count_split_wait(std::chrono::hours(1));
  }
  core.connection_opened();
  sheet.set_topology(3, 2, "0123456789abcdef0123456789abcdef");
  if (before.role == Role::cache) sheet.set_store({1, 2, 3, 4, 5});
  sheet.set_origins({11, 12, 13, 14, 15, 16, 17});
}

std::string touched() {
  Sheet sidecar(Role::sidecar, "", 2), first(Role::cache, "cache-0", 2),
      second(Role::cache, "cache-1", 2);
  for (Sheet* sheet : {&sidecar, &first, &second}) touch(*sheet);
  const OperationFigures operation{3,
                                   1,
                                   false,
                                   4,
                                   OperationFigures::AccessLog{100, 5, 2},
                                   OperationFigures::Discovery{true, 1.5, 7, 3, 2, {{"gone", 1}}}};
  return expose({sidecar.totals(), first.totals(), second.totals()}, operation);
}

TEST(Exposition, ShowsHowLongFetchesWaitedForAShardToMove) {
  const auto exposition = parsed(touched());
  EXPECT_EQ(value(exposition, R"(ringside_split_wait_seconds_count{shard="cache-0"})"), "18");
}

TEST(Exposition, RequestCountersStandAtZeroFromTheStart) {
  Sheet sidecar(Role::sidecar, "", 1), cache(Role::cache, "cache-0", 1);
  (void)sidecar.shard("cache-0");
  const auto exposition = parsed(expose({&sidecar, &cache}));
  for (std::size_t i = 0; i < outcome_count; ++i) {
    const std::string result(name(static_cast<Outcome>(i)));
    for (const char* shard : {"", "cache-0"}) {
      EXPECT_EQ(value(exposition, "ringside_requests_total{role=\"sidecar\",result=\"" + result +
                                      "\",shard=\"" + shard + "\"}"),
                "0");
    }
    EXPECT_EQ(value(exposition, "ringside_requests_total{role=\"cache\",result=\"" + result +
                                    "\",shard=\"cache-0\"}"),
              "0");
  }
  EXPECT_EQ(value(exposition, "ringside_retries_total{role=\"sidecar\"}"), "0");
  EXPECT_EQ(value(exposition,
                  R"(ringside_origin_requests_total{role="cache",shard="cache-0",answer="5xx"})"),
            "0");
  EXPECT_EQ(value(exposition,
                  R"(ringside_errors_total{role="cache",source="origin",kind="disconnected"})"),
            "0");
  // What would be mostly zeros does not.
  EXPECT_FALSE(exposition.types.contains("ringside_country_requests_total"));
  EXPECT_FALSE(exposition.types.contains("ringside_request_duration_seconds"));
  EXPECT_FALSE(exposition.types.contains("ringside_topology_info"));
  EXPECT_FALSE(exposition.types.contains("ringside_store_entries"));
}

TEST(Exposition, ShowsWhatWasCounted) {
  const auto exposition = parsed(touched());
  struct Case {
    const char* series;
    const char* value;
  };
  for (
      const auto& [series, expected] : std::vector<Case>{
          {R"(ringside_requests_total{role="sidecar",result="hit",shard="cache-0"})", "17"},
          {R"(ringside_requests_total{role="sidecar",result="error",shard=""})", "1"},
          {R"(ringside_requests_total{role="cache",result="hit",shard="cache-0"})", "18"},
          {R"(ringside_requests_total{role="cache",result="hit",shard="cache-1"})", "18"},
          {R"(ringside_country_requests_total{role="sidecar",country="NO",result="hit"})", "17"},
          {R"(ringside_response_bytes_total{role="sidecar",result="miss"})", "18000"},
          {R"(ringside_origin_requests_total{role="cache",shard="cache-1",answer="failed"})", "1"},
          {R"(ringside_origin_requests_total{role="sidecar",shard="",answer="2xx"})", "1"},
          {R"(ringside_retries_total{role="sidecar"})", "1"},
          {R"(ringside_errors_total{role="sidecar",source="origin",kind="malformed"})", "2"},
          {R"(ringside_errors_total{role="sidecar",source="client",kind="timeout"})", "1"},
          {R"(ringside_errors_total{role="cache",source="peer",kind="internal"})", "2"},
          {R"(ringside_errors_total{role="cache",source="origin",kind="failed_over"})", "0"},
          {R"(ringside_replica_ejections_total{shard="cache-0"})", "1"},
          {R"(ringside_replica_ejections_total{shard="cache-1"})", "1"},
          {R"(ringside_invalidations_failed_total{shard="cache-0"})", "1"},
          {R"(ringside_invalidations_failed_total{shard="cache-1"})", "0"},
          {R"(ringside_replica_probes_total{result="failed"})", "1"},
          {"ringside_replicas_ejected", "1"},
          {R"(ringside_configuration_reloads_total{result="applied"})", "3"},
          {R"(ringside_configuration_reloads_total{result="refused"})", "1"},
          {"ringside_configuration_last_reload_successful", "0"},
          {"ringside_access_log_written_total", "100"},
          {"ringside_access_log_dropped_total", "5"},
          {"ringside_access_log_failures_total", "2"},
          {R"(ringside_connections{role="cache",shard="cache-0"})", "1"},
          {R"(ringside_connections_total{role="sidecar",shard=""})", "1"},
          {R"(ringside_topology_version{role="sidecar",shard=""})", "3"},
          {R"(ringside_topology_replicas{role="cache",shard="cache-0"})", "2"},
          {R"(ringside_topology_info{role="sidecar",shard="",id="0123456789abcdef0123456789abcdef"})",
           "1"},
          {R"(ringside_origin_queue_depth{role="cache",shard="cache-0"})", "11"},
          {R"(ringside_origin_requests_in_flight{role="sidecar",shard=""})", "12"},
          {R"(ringside_origin_refused_total{role="cache",shard="cache-1",reason="queue_full"})",
           "13"},
          {R"(ringside_origin_refused_total{role="cache",shard="cache-1",reason="queue_timeout"})",
           "14"},
          {R"(ringside_origin_refused_total{role="cache",shard="cache-1",reason="circuit_open"})",
           "15"},
          {R"(ringside_origin_circuits_opened_total{role="cache",shard="cache-0"})", "16"},
          {R"(ringside_origin_circuits_open{role="cache",shard="cache-0"})", "17"},
          {R"(ringside_store_entries{shard="cache-0"})", "1"},
          {R"(ringside_store_bytes{shard="cache-0"})", "2"},
          {R"(ringside_store_limit_bytes{shard="cache-0"})", "3"},
          {R"(ringside_store_evictions_total{shard="cache-1"})", "4"},
          {R"(ringside_store_flights{shard="cache-1"})", "5"},
          {"ringside_build_info{version=\"" RINGSIDE_VERSION "\"}", "1"},
      }) {
    EXPECT_EQ(value(exposition, series), expected) << series;
  }
  EXPECT_TRUE(value(exposition, "process_resident_memory_bytes"));
}

TEST(Exposition, ReplicasOfOneProcessAreAddedUpWhereTheShardIsNoLabel) {
  const auto exposition = parsed(touched());
  for (const auto& [series, expected] : std::map<std::string, std::string>{
           {R"(ringside_country_requests_total{role="cache",country="ZZ",result="hit"})", "2"},
           {R"(ringside_response_bytes_total{role="cache",result="hit"})", "36000"},
           {R"(ringside_retries_total{role="cache"})", "2"},
           {R"(ringside_request_duration_seconds_count{role="cache",result="hit"})", "36"}}) {
    EXPECT_EQ(value(exposition, series), expected) << series;
  }
}

TEST(Exposition, BucketsAreCumulativeAndEndWithAllOfThem) {
  Sheet sheet(Role::sidecar, "", 1);
  for (const int duration_us : {40, 60, 70, 20'000'000}) {
    sheet.core(0).count_request(0, "NO", Outcome::hit, microseconds(duration_us), 0);
  }
  const auto exposition = parsed(expose({&sheet}));
  const std::string labels = R"({role="sidecar",result="hit")";
  const std::string bucket = "ringside_request_duration_seconds_bucket" + labels + ",le=\"";
  EXPECT_EQ(value(exposition, bucket + "5e-05\"}"), "1");
  EXPECT_EQ(value(exposition, bucket + "0.0001\"}"), "3");
  EXPECT_EQ(value(exposition, bucket + "0.5\"}"), "3");
  EXPECT_EQ(value(exposition, bucket + "10\"}"), "3");
  EXPECT_EQ(value(exposition, bucket + "+Inf\"}"), "4");
  EXPECT_EQ(value(exposition, "ringside_request_duration_seconds_count" + labels + "}"), "4");
  EXPECT_EQ(value(exposition, "ringside_request_duration_seconds_sum" + labels + "}"), "20.00017");
}

TEST(Exposition, LabelsAreEscaped) {
  Totals totals;
  totals.role = Role::cache;
  totals.name = "a\"b\\c\nd";
  const std::string text = expose({totals}, std::nullopt, "1");
  EXPECT_NE(text.find(R"(shard="a\"b\\c\nd")"), std::string::npos) << text;
}

TEST(Exposition, PromtoolHasNothingToSay) {
  const std::string path = testing::TempDir() + fmt::format("ringside_exposition.{}", ::getpid());
  std::ofstream(path) << touched();
  std::FILE* promtool = ::popen(("promtool check metrics < '" + path + "' 2>&1").c_str(), "r");
  ASSERT_NE(promtool, nullptr);
  std::string said;
  for (int c = std::fgetc(promtool); c != EOF; c = std::fgetc(promtool)) {
    said.push_back(static_cast<char>(c));
  }
  const int status = ::pclose(promtool);
  ASSERT_TRUE(WIFEXITED(status));
  ASSERT_NE(WEXITSTATUS(status), 127) << "promtool is missing: run scripts/setup, or install the "
                                         "package that has it (Debian: prometheus)";
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(said, "");
  std::remove(path.c_str());
}

std::string documentation() {
  std::ifstream file(RINGSIDE_SOURCE_DIR "/docs/metrics.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Exposition, TheDocumentationNamesEveryFamilyWithItsLabelsAndNoOther) {
  // A row is | `name{label,label}` | kind | meaning |
  std::map<std::string, std::string> documented;  // kind, by name and labels
  for (const std::string& line : split(documentation(), '\n')) {
    const auto cells = split(line, '|');
    if (cells.size() < 4) continue;
    for (const std::string kind : {"counter", "gauge", "histogram"}) {
      if (cells[2] == " " + kind + " ") {
        documented[between(cells[1], "`", "`").value_or(cells[1])] = kind;
      }
    }
  }
  const auto exposition = parsed(touched());
  std::map<std::string, std::string> exposed;
  for (const auto& [series, sample] : exposition.samples) {
    const std::string family = family_of(series, exposition.types);
    const std::string labels = label_names(series);
    exposed[labels.empty() ? family : family + "{" + labels + "}"] = exposition.types.at(family);
  }
  EXPECT_EQ(documented, exposed);
}

TEST(Exposition, TheDocumentationNamesEveryKindOfError) {
  const std::string text = documentation();
  const auto begin = text.find("\n## Errors\n");
  ASSERT_NE(begin, std::string::npos);
  const std::string section = text.substr(begin, text.find("\n## ", begin + 1) - begin);
  std::vector<std::string> kinds{"failed_over"}, documented;
  for (std::size_t i = 0; i < error_kind_count; ++i) {
    kinds.emplace_back(ringside::name(static_cast<ErrorKind>(i)));
  }
  for (const std::string& line : split(section, '\n')) {
    if (!line.starts_with("| `")) continue;
    // A row's first cell has several where they are told together.
    const auto parts = split(split(line, '|')[1], '`');
    for (std::size_t i = 1; i < parts.size(); i += 2) documented.push_back(parts[i]);
  }
  EXPECT_THAT(documented, testing::UnorderedElementsAreArray(kinds));
}

TEST(Exposition, TheDocumentedHitRateIsTheOneOfTheCode) {
  const std::string text = documentation();
  const auto hits = between(text, "result=~\"", "\""), left_out = between(text, "result!~\"", "\"");
  ASSERT_TRUE(hits && left_out);
  std::vector<std::string> are_hits, do_not_count;
  for (std::size_t i = 0; i < outcome_count; ++i) {
    const auto outcome = static_cast<Outcome>(i);
    if (is_hit(outcome)) are_hits.emplace_back(name(outcome));
    if (!counts_for_hit_rate(outcome)) do_not_count.emplace_back(name(outcome));
  }
  EXPECT_THAT(split(*hits, '|'), testing::UnorderedElementsAreArray(are_hits));
  EXPECT_THAT(split(*left_out, '|'), testing::UnorderedElementsAreArray(do_not_count));
}

}  // namespace
}  // namespace ringside::metrics
