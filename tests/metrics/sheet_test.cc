#include "metrics/sheet.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/support/errors_by.h"

namespace ringside::metrics {
namespace {

using std::chrono::microseconds;

constexpr const char* durations = "ringside_request_duration_seconds";

std::uint64_t requests(const Totals::Shard& shard) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < outcome_count; ++i) {
    sum += shard.of("ringside_requests_total", static_cast<Outcome>(i));
  }
  return sum;
}

std::uint64_t requests(const Totals& totals, std::string_view country, Outcome outcome) {
  return totals.of("ringside_country_requests_total", country_from(country), outcome);
}

TEST(Sheet, ANameKeepsItsIndexAndTheOwnNameIsZero) {
  Sheet sidecar(Role::sidecar, "", 1);
  EXPECT_EQ(sidecar.shard(""), 0u);
  EXPECT_EQ(sidecar.shard("cache-0"), 1u);
  EXPECT_EQ(sidecar.shard("cache-1"), 2u);
  EXPECT_EQ(sidecar.shard("cache-0"), 1u);

  Sheet cache(Role::cache, "cache-3", 1);
  EXPECT_EQ(cache.shard("cache-3"), 0u);
}

TEST(Sheet, SumsOverCores) {
  Sheet sheet(Role::sidecar, "", 3);
  const ShardIndex shard = sheet.shard("cache-0");
  for (std::size_t i = 0; i < 3; ++i) {
    CoreSheet& core = sheet.core(i);
    core.count_request(shard, "NO", Outcome::hit, microseconds(100), 10);
    core.count_request(0, "ZZ", Outcome::error, microseconds(7), 1);
    core.count("ringside_origin_requests_total", OriginAnswer::status_3xx);
    core.count("ringside_retries_total");
    core.count_error({ErrorKind::timeout, ErrorSource::peer, Retry::no, ""});
    core.connection_opened();
    core.connection_opened();
    core.connection_closed();
  }
  const Totals totals = sheet.totals();
  ASSERT_EQ(totals.shards.size(), 2u);
  EXPECT_EQ(totals.shards[0].name, "");
  EXPECT_EQ(totals.shards[0].of("ringside_requests_total", Outcome::error), 3u);
  EXPECT_EQ(totals.shards[1].name, "cache-0");
  EXPECT_EQ(totals.shards[1].of("ringside_requests_total", Outcome::hit), 3u);
  EXPECT_EQ(requests(totals.shards[1]), 3u);
  EXPECT_EQ(requests(totals, "NO", Outcome::hit), 3u);
  EXPECT_EQ(requests(totals, "ZZ", Outcome::error), 3u);
  EXPECT_EQ(totals.of("ringside_response_bytes_total", Outcome::hit), 30u);
  EXPECT_EQ(totals.of(durations, Outcome::hit, Bucket::sum_us), 300u);
  EXPECT_EQ(totals.of("ringside_origin_requests_total", OriginAnswer::status_3xx), 3u);
  EXPECT_EQ(totals.of("ringside_retries_total"), 3u);
  EXPECT_EQ(support::errors_by(totals, ErrorSource::peer), 3u);
  EXPECT_EQ(totals.of("ringside_connections_total"), 6u);
  EXPECT_EQ(totals.of("ringside_connections"), 3u);
  EXPECT_FALSE(totals.topology);
  EXPECT_FALSE(totals.store);
}

TEST(Sheet, CountsErrorsBySourceAndKind) {
  Sheet sheet(Role::cache, "cache-0", 2);
  const Error malformed{ErrorKind::malformed, ErrorSource::origin, Retry::no, "a bad chunk"};
  const Error disconnected{ErrorKind::disconnected, ErrorSource::origin, Retry::yes, "cut"};
  const Error internal{ErrorKind::internal, ErrorSource::ourselves, Retry::no, ""};
  for (std::size_t i = 0; i < 2; ++i) {
    sheet.core(i).count_error(malformed);
    sheet.core(i).count_error(internal);
  }
  sheet.core(0).count_error(disconnected);
  const Totals totals = sheet.totals();
  const auto expect = [&](ErrorSource source, std::map<ErrorKind, std::uint64_t> counted) {
    for (std::size_t i = 0; i < error_kind_count; ++i) {
      const auto kind = static_cast<ErrorKind>(i);
      EXPECT_EQ(totals.of("ringside_errors_total", error_cause(source, kind)), counted[kind])
          << name(source) << " " << name(kind);
    }
  };
  expect(ErrorSource::origin, {{ErrorKind::malformed, 2}, {ErrorKind::disconnected, 1}});
  expect(ErrorSource::ourselves, {{ErrorKind::internal, 2}});
  expect(ErrorSource::client, {});
  expect(ErrorSource::peer, {});
  EXPECT_EQ(support::errors_by(totals, ErrorSource::origin), 3u);
  EXPECT_EQ(support::errors_by(totals, ErrorSource::ourselves), 2u);
}

TEST(Sheet, EveryKindOfErrorHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < error_kind_count; ++i) {
    names.insert(ringside::name(static_cast<ErrorKind>(i)));
  }
  EXPECT_EQ(names.size(), error_kind_count);
}

TEST(Sheet, EveryRowHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (const Row& row : rows) names.insert(row.name);
  EXPECT_EQ(names.size(), rows.size());
}

TEST(Sheet, WhatIsNoCountryCountsAsUnknown) {
  Sheet sheet(Role::sidecar, "", 1);
  for (const std::string_view code : {"ZZ", "", "n", "no", "NOR", "N1", "\xff\xff"}) {
    sheet.core(0).count_request(0, code, Outcome::hit, microseconds(1), 0);
  }
  EXPECT_EQ(requests(sheet.totals(), "ZZ", Outcome::hit), 7u);
}

TEST(Sheet, DurationsFallIntoTheBucketWhoseBoundTheyDoNotExceed) {
  struct Case {
    std::int64_t duration_us;
    std::size_t bucket;
  };
  constexpr std::size_t unbounded = duration_bounds_us.size();
  for (const auto& [duration_us, bucket] : std::vector<Case>{{-5, 0},
                                                             {0, 0},
                                                             {50, 0},
                                                             {51, 1},
                                                             {100, 1},
                                                             {101, 2},
                                                             {10'000'000, 16},
                                                             {10'000'001, unbounded},
                                                             {1LL << 40, unbounded}}) {
    SCOPED_TRACE(duration_us);
    Sheet sheet(Role::cache, "cache-0", 1);
    sheet.core(0).count_request(0, "NO", Outcome::miss, microseconds(duration_us), 0);
    const Totals totals = sheet.totals();
    EXPECT_EQ(totals.of(durations, Outcome::miss, static_cast<Bucket>(bucket)), 1u);
    EXPECT_EQ(totals.of(durations, Outcome::miss, Bucket::sum_us),
              static_cast<std::uint64_t>(std::max<std::int64_t>(0, duration_us)));
  }
}

TEST(Sheet, NamesBeyondTheLimitAreCountedTogether) {
  Sheet sheet(Role::sidecar, "", 2);
  ShardIndex last = 0;
  for (std::size_t i = 1; i < shard_names; ++i) last = sheet.shard("cache-" + std::to_string(i));
  EXPECT_EQ(last, shard_names - 1);
  const ShardIndex other = sheet.shard("one-more");
  EXPECT_EQ(other, shard_names);
  EXPECT_EQ(sheet.shard("and-another"), other);
  EXPECT_EQ(sheet.shard("cache-7"), 7u);

  sheet.core(0).count_request(last, "NO", Outcome::hit, microseconds(1), 0);
  sheet.core(1).count_request(other, "NO", Outcome::miss, microseconds(1), 0);
  const Totals totals = sheet.totals();
  ASSERT_EQ(totals.shards.size(), shard_names + 1);
  EXPECT_EQ(totals.shards[last].of("ringside_requests_total", Outcome::hit), 1u);
  EXPECT_EQ(totals.shards[other].name, "other");
  EXPECT_EQ(totals.shards[other].of("ringside_requests_total", Outcome::miss), 1u);
}

TEST(Sheet, AReplicaCalledOtherSharesTheSeriesOfThatName) {
  Sheet sheet(Role::sidecar, "", 1);
  EXPECT_EQ(sheet.shard("other"), shard_names);
  sheet.core(0).count_request(sheet.shard("other"), "NO", Outcome::hit, microseconds(1), 0);
  EXPECT_EQ(sheet.totals().shards.back().of("ringside_requests_total", Outcome::hit), 1u);
}

TEST(Sheet, KeepsTheLastTopologyAndStore) {
  Sheet sheet(Role::cache, "cache-0", 1);
  sheet.set_topology(1, 10, "aa");
  sheet.set_topology(2, 11, "bb");
  sheet.set_store({.entries = 1, .used_bytes = 2, .limit_bytes = 3, .evictions = 4, .flights = 5});
  const Totals totals = sheet.totals();
  EXPECT_EQ(totals.topology->version, 2u);
  EXPECT_EQ(totals.topology->replicas, 11u);
  EXPECT_EQ(totals.topology->id, "bb");
  EXPECT_EQ(totals.store->evictions, 4u);
}

TEST(Sheet, CountsTheOriginsThatOneRequestAskedAfterEachOther) {
  struct Case {
    const char* what;
    unsigned requests;
    std::optional<int> status;
    std::uint64_t failed, answered, retries, errors;
  };
  for (const Case& one : std::vector<Case>{{"none", 0, std::nullopt, 0, 0, 0, 0},
                                           {"answered", 1, 404, 0, 1, 0, 0},
                                           {"failed", 1, std::nullopt, 1, 0, 0, 0},
                                           {"the third answered", 3, 404, 2, 1, 2, 2},
                                           {"all failed", 2, std::nullopt, 2, 0, 1, 1}}) {
    Sheet sheet(Role::cache, "cache-0", 1);
    sheet.core(0).count_origin_requests(one.requests, one.status);
    const Totals totals = sheet.totals();
    const auto answers = [&](OriginAnswer answer) {
      return totals.of("ringside_origin_requests_total", answer);
    };
    EXPECT_EQ(answers(OriginAnswer::failed), one.failed) << one.what;
    EXPECT_EQ(answers(OriginAnswer::status_4xx), one.answered) << one.what;
    EXPECT_EQ(totals.of("ringside_retries_total"), one.retries) << one.what;
    // The last failure is the answer, and counted by who gives it.
    EXPECT_EQ(support::errors_by(totals, ErrorSource::origin), one.errors) << one.what;
    EXPECT_EQ(totals.of("ringside_errors_total", ErrorCause::failed_over), one.errors) << one.what;
  }
}

TEST(OriginAnswer, IsTheClassOfTheStatus) {
  struct Case {
    int status;
    OriginAnswer answer;
  };
  for (const auto& [status, answer] : std::vector<Case>{{200, OriginAnswer::status_2xx},
                                                        {206, OriginAnswer::status_2xx},
                                                        {304, OriginAnswer::status_3xx},
                                                        {404, OriginAnswer::status_4xx},
                                                        {499, OriginAnswer::status_4xx},
                                                        {500, OriginAnswer::status_5xx},
                                                        {599, OriginAnswer::status_5xx}}) {
    EXPECT_EQ(origin_answer(status), answer) << status;
  }
}

TEST(SheetDeathTest, BrokenInvariantsCrash) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Sheet sheet(Role::sidecar, "", 1);
  EXPECT_DEATH(sheet.core(1).count("ringside_retries_total"), "broken invariant");
  EXPECT_DEATH(sheet.core(0).connection_closed(), "broken invariant");
  EXPECT_DEATH(sheet.core(0).count_request(64, "NO", Outcome::hit, microseconds(1), 0),
               "broken invariant");
}

// The race of sheet.h: a control thread adds names and hands their indices over, cores count under
// each as soon as they see it, and a scraper reads all the while. Nothing may be lost, no figure
// may go back, and ThreadSanitizer may have nothing to say.
TEST(Sheet, CoresCountWhileShardsAreAddedAndTotalsRead) {
  constexpr std::size_t core_count = 3;
  constexpr ShardIndex added = 200;  // crosses three blocks
  constexpr std::uint64_t repeats = 50;
  Sheet sheet(Role::sidecar, "", core_count);
  std::atomic<ShardIndex> handed_over{0};
  std::atomic<std::size_t> cores_done{0};

  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < core_count; ++i) {
    threads.emplace_back([&, i] {
      CoreSheet& core = sheet.core(i);
      for (ShardIndex next = 1; next <= added;) {
        if (next > handed_over.load(std::memory_order_acquire)) {
          std::this_thread::yield();
          continue;
        }
        for (std::uint64_t k = 0; k < repeats; ++k) {
          core.connection_opened();
          core.count_request(next, "NO", Outcome::hit, microseconds(k), k);
          core.connection_closed();
        }
        ++next;
      }
      cores_done.fetch_add(1);
    });
  }
  threads.emplace_back([&] {
    for (ShardIndex i = 1; i <= added; ++i) {
      const ShardIndex given = sheet.shard("cache-" + std::to_string(i));
      sheet.set_topology(i, i, "id");
      handed_over.store(given, std::memory_order_release);
    }
  });

  std::uint64_t before = 0;
  while (cores_done.load() < core_count) {
    const Totals totals = sheet.totals();
    std::uint64_t now = 0;
    for (const auto& shard : totals.shards) now += requests(shard);
    EXPECT_GE(now, before);
    EXPECT_LE(totals.of("ringside_connections"), core_count);
    before = now;
  }
  for (auto& thread : threads) thread.join();

  const Totals totals = sheet.totals();
  ASSERT_EQ(totals.shards.size(), added + 1);
  for (ShardIndex i = 1; i <= added; ++i) {
    EXPECT_EQ(totals.shards[i].of("ringside_requests_total", Outcome::hit), core_count * repeats);
  }
  EXPECT_EQ(requests(totals, "NO", Outcome::hit), core_count * repeats * added);
  EXPECT_EQ(totals.of("ringside_connections_total"), core_count * repeats * added);
  EXPECT_EQ(totals.of("ringside_connections"), 0u);
}

}  // namespace
}  // namespace ringside::metrics
