#include "cache/serving.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/limits.h"
#include "tests/cache/some_fields.h"
#include "tests/cache/some_freshness.h"
#include "tests/support/fake_clock.h"

namespace ringside::cache {
namespace {

struct VerdictRow {
  std::string response;  // Cache-Control
  std::string request;   // Cache-Control
  Seconds passed;        // since it was received
  Verdict verdict;
};

void expect_verdicts(const std::vector<VerdictRow>& rows) {
  for (const VerdictRow& row : rows) {
    const Freshness stored = stored_with(row.response);
    EXPECT_EQ(judge(&stored, asked_with(row.request), received + row.passed), row.verdict)
        << row.response << " / " << row.request << " after " << row.passed.count();
  }
}

TEST(Judge, Rfc9111Section4WhatIsFresh) {
  using enum Verdict;
  expect_verdicts({
      {"max-age=60", "", Seconds{0}, fresh},
      {"max-age=60", "", Seconds{59}, fresh},
      {"max-age=60", "", Seconds{60}, must_validate},  // as old as its lifetime is stale
      {"max-age=60", "", Seconds{61}, must_validate},
      {"max-age=60", "", Seconds{6000}, must_validate},
      {"max-age=60", "", Seconds{-10}, fresh},  // the wall clock was set back
      {"max-age=1", "", Seconds{0}, fresh},
      {"max-age=0", "", Seconds{0}, must_validate},
      {"", "", Seconds{0}, must_validate},
      {"max-age=60, immutable", "", Seconds{60}, must_validate},
      {"max-age=60", "no-store", Seconds{0}, fresh},
      {"max-age=60", "only-if-cached", Seconds{0}, fresh},
      {"max-age=60", "only-if-cached", Seconds{60}, must_validate},
      {"max-age=60", "stale-if-error=9", Seconds{60}, must_validate},
      {"max-age=60, stale-if-error=9", "", Seconds{60}, must_validate},
  });
  EXPECT_EQ(judge(nullptr, {}, received), absent);
  EXPECT_EQ(judge(nullptr, asked_with("no-cache"), received), absent);
}

TEST(Judge, Rfc9111Section5Point2Point2Point4NoCacheIsNeverGivenUnvalidated) {
  using enum Verdict;
  expect_verdicts({
      {"no-cache, max-age=60", "", Seconds{0}, must_validate},
      {"no-cache, max-age=60", "max-stale", Seconds{0}, must_validate},
      {"no-cache, max-age=60", "max-stale", Seconds{61}, must_validate},
      {"no-cache, max-age=60, stale-while-revalidate=9", "", Seconds{61}, must_validate},
      {"no-cache=\"x\", max-age=60", "", Seconds{59}, fresh},
      {"no-cache=\"x\", max-age=60", "", Seconds{60}, must_validate},
      {"no-cache=\"x\", max-age=60", "max-stale", Seconds{60}, stale},
  });
}

TEST(Judge, Rfc9111Section5Point2Point1RequestDirectives) {
  using enum Verdict;
  expect_verdicts({
      {"max-age=60", "no-cache", Seconds{0}, must_validate},
      {"max-age=60, immutable", "no-cache", Seconds{0}, must_validate},
      {"max-age=60", "no-cache, max-stale=99", Seconds{0}, must_validate},
      {"max-age=60", "no-cache, max-age=99, min-fresh=0", Seconds{0}, must_validate},
      {"max-age=60", "max-age=10", Seconds{9}, fresh},
      {"max-age=60", "max-age=10", Seconds{10}, fresh},
      {"max-age=60", "max-age=10", Seconds{11}, must_validate},
      {"max-age=60", "max-age=0", Seconds{0}, fresh},
      {"max-age=60", "max-age=0", Seconds{1}, must_validate},
      {"max-age=60", "max-age=junk", Seconds{1}, must_validate},
      {"max-age=60", "max-age=99", Seconds{60}, must_validate},
      {"max-age=60", "min-fresh=20", Seconds{39}, fresh},
      {"max-age=60", "min-fresh=20", Seconds{40}, fresh},
      {"max-age=60", "min-fresh=20", Seconds{41}, must_validate},
      {"max-age=60", "min-fresh=0", Seconds{59}, fresh},
      {"max-age=60", "min-fresh=0", Seconds{60}, must_validate},
      {"max-age=60", "min-fresh=61", Seconds{0}, must_validate},
      {"max-age=60", "max-age=30, min-fresh=40", Seconds{20}, fresh},
      {"max-age=60", "max-age=30, min-fresh=40", Seconds{21}, must_validate},
      {"max-age=60", "max-age=10, min-fresh=40", Seconds{11}, must_validate},
      {"max-age=60", "max-stale", Seconds{59}, fresh},
      {"max-age=60", "max-stale", Seconds{60}, stale},
      {"max-age=60", "max-stale", Seconds{6000}, stale},
      {"max-age=60", "max-stale=10", Seconds{60}, stale},
      {"max-age=60", "max-stale=10", Seconds{69}, stale},
      {"max-age=60", "max-stale=10", Seconds{70}, stale},
      {"max-age=60", "max-stale=10", Seconds{71}, must_validate},
      {"max-age=60", "max-stale=0", Seconds{60}, stale},
      {"max-age=60", "max-stale=0", Seconds{61}, must_validate},
      {"max-age=60", "max-stale=junk", Seconds{61}, must_validate},
      {"max-age=60", "max-stale=10, max-age=65", Seconds{65}, stale},
      {"max-age=60", "max-stale=10, max-age=65", Seconds{66}, must_validate},
      {"max-age=60", "max-stale, min-fresh=0", Seconds{60}, stale},
      {"max-age=60", "max-stale, min-fresh=0", Seconds{61}, must_validate},
      {"max-age=60", "max-stale, min-fresh=1", Seconds{60}, must_validate},
  });
}

TEST(Judge, Rfc9111Section4Point2Point4WhatForbidsToBeStale) {
  using enum Verdict;
  for (const std::string forbids : {"must-revalidate, max-age=60", "proxy-revalidate, max-age=60",
                                    "s-maxage=60", "s-maxage=60, max-age=600"}) {
    expect_verdicts({
        {forbids, "max-stale", Seconds{59}, fresh},
        {forbids, "", Seconds{60}, must_validate},
        {forbids, "max-stale", Seconds{60}, must_validate},
        {forbids + ", stale-while-revalidate=9", "", Seconds{60}, must_validate},
        {forbids + ", stale-while-revalidate=9", "max-stale", Seconds{60}, must_validate},
    });
  }
}

TEST(Judge, Rfc5861Section3StaleWhileRevalidate) {
  using enum Verdict;
  const std::string both = "max-age=60, stale-while-revalidate=10";
  expect_verdicts({
      {both, "", Seconds{59}, fresh},
      {both, "", Seconds{60}, stale_while_revalidating},
      {both, "", Seconds{69}, stale_while_revalidating},
      {both, "", Seconds{70}, must_validate},
      {both, "", Seconds{71}, must_validate},
      {"max-age=60, stale-while-revalidate=0", "", Seconds{60}, must_validate},
      {"max-age=60, stale-while-revalidate=1", "", Seconds{60}, stale_while_revalidating},
      {"max-age=60, stale-while-revalidate=1", "", Seconds{61}, must_validate},
      {"max-age=0, stale-while-revalidate=10", "", Seconds{9}, stale_while_revalidating},
      {"stale-while-revalidate=10", "", Seconds{9}, stale_while_revalidating},
      {both, "only-if-cached", Seconds{60}, stale_while_revalidating},
      {both, "no-store", Seconds{60}, stale_while_revalidating},
      {both, "no-cache", Seconds{60}, must_validate},
      {both, "max-age=99", Seconds{60}, must_validate},
      {both, "min-fresh=0", Seconds{60}, must_validate},
      {both, "max-stale", Seconds{69}, stale_while_revalidating},
      {both, "max-stale", Seconds{70}, stale},
      {both, "max-stale=5", Seconds{65}, stale_while_revalidating},
      {both, "max-stale=5", Seconds{66}, must_validate},
      {both, "max-stale=15", Seconds{75}, stale},
      {both, "max-stale=15", Seconds{76}, must_validate},
      {both, "max-stale, max-age=99", Seconds{65}, stale},
  });
}

TEST(Judge, ARouteMaySayStaleWhileRevalidate) {
  Rules rules;
  rules.stale_while_revalidate = Seconds{10};
  const Freshness stored = stored_with("max-age=60", rules);
  EXPECT_EQ(judge(&stored, {}, received + Seconds{69}), Verdict::stale_while_revalidating);
  EXPECT_EQ(judge(&stored, {}, received + Seconds{70}), Verdict::must_validate);
  const Freshness silent = stored_with("public", rules);
  EXPECT_EQ(judge(&silent, {}, received), Verdict::must_validate);
}

struct FailureRow {
  std::string response;
  std::string request;
  Seconds passed;
  bool unreachable;
  bool on_error;
};

void expect_after_failure(const std::vector<FailureRow>& rows) {
  for (const FailureRow& row : rows) {
    const Freshness stored = stored_with(row.response);
    const auto request = asked_with(row.request);
    const TimePoint now = received + row.passed;
    EXPECT_EQ(may_be_given_unreachable(stored, request, now), row.unreachable)
        << row.response << " / " << row.request << " after " << row.passed.count();
    EXPECT_EQ(may_be_given_on_error(stored, request, now), row.on_error)
        << row.response << " / " << row.request << " after " << row.passed.count();
  }
}

TEST(AfterFailure, Rfc9111Section4Point2Point4ForHowLong) {
  const Seconds day = limits::stale_unreachable_most;
  expect_after_failure({
      {"max-age=60", "", Seconds{59}, true, false},  // fresh, but an error is an answer
      {"max-age=60", "", Seconds{60}, true, false},
      {"max-age=60", "", Seconds{59} + day, true, false},
      {"max-age=60", "", Seconds{60} + day, false, false},
      {"", "", Seconds{0}, true, false},
      {"", "", day, false, false},
      // RFC 5861 §4
      {"max-age=60, stale-if-error=10", "", Seconds{59}, true, true},
      {"max-age=60, stale-if-error=10", "", Seconds{60}, true, true},
      {"max-age=60, stale-if-error=10", "", Seconds{69}, true, true},
      {"max-age=60, stale-if-error=10", "", Seconds{70}, false, false},
      {"max-age=60, stale-if-error=0", "", Seconds{60}, false, false},
      {"max-age=60, stale-if-error=100000", "", Seconds{100'059}, true, true},
      {"max-age=60, stale-if-error=100000", "", Seconds{100'060}, false, false},
      {"max-age=60, stale-while-revalidate=10", "", Seconds{65}, true, false},
  });
}

TEST(AfterFailure, Rfc9111Section4Point2Point4WhatForbidsToBeStale) {
  for (const std::string forbids : {"must-revalidate, max-age=60", "proxy-revalidate, max-age=60",
                                    "s-maxage=60", "s-maxage=60, max-age=600"}) {
    expect_after_failure({
        {forbids, "", Seconds{59}, true, false},
        {forbids, "", Seconds{60}, false, false},
        {forbids, "max-stale", Seconds{60}, false, false},
        {forbids + ", stale-if-error=10", "", Seconds{59}, true, true},
        {forbids + ", stale-if-error=10", "", Seconds{60}, false, false},
        {forbids, "stale-if-error=10", Seconds{59}, true, true},
        {forbids, "stale-if-error=10", Seconds{60}, false, false},
    });
  }
  expect_after_failure({
      {"no-cache, max-age=60", "", Seconds{0}, false, false},
      {"no-cache, max-age=60, stale-if-error=10", "", Seconds{0}, false, false},
      {"no-cache, max-age=60", "max-stale", Seconds{60}, false, false},
      {"no-cache, max-age=60", "stale-if-error=10", Seconds{0}, false, false},
      {"no-cache=\"x\", max-age=60, stale-if-error=10", "", Seconds{60}, true, true},
  });
}

TEST(AfterFailure, Rfc9111Section5Point2Point1WhatTheRequestExcludes) {
  const std::string both = "max-age=60, stale-if-error=10";
  expect_after_failure({
      {both, "no-cache", Seconds{0}, false, false},
      {both, "no-cache, max-stale", Seconds{60}, false, false},
      {both, "max-age=5", Seconds{5}, true, true},
      {both, "max-age=5", Seconds{6}, false, false},
      {both, "max-age=99", Seconds{59}, true, true},
      {both, "max-age=99", Seconds{60}, false, false},  // "does not wish to receive a stale one"
      {both, "max-age=99, max-stale", Seconds{60}, true, true},
      {both, "max-age=65, max-stale", Seconds{65}, true, true},
      {both, "max-age=65, max-stale", Seconds{66}, false, false},
      {both, "min-fresh=5", Seconds{55}, true, true},
      {both, "min-fresh=5", Seconds{56}, false, false},
      {both, "min-fresh=0", Seconds{59}, true, true},
      {both, "min-fresh=0", Seconds{60}, false, false},
      {both, "max-stale=5", Seconds{65}, true, true},
      {both, "max-stale=5", Seconds{66}, false, false},
      {both, "max-stale=20", Seconds{80}, true, true},
      {both, "max-stale=20", Seconds{81}, false, false},
      {"max-age=60", "max-stale=5", Seconds{65}, true, false},
      {"max-age=60", "max-stale=5", Seconds{66}, false, false},
      {both, "only-if-cached", Seconds{60}, true, true},
      {both, "no-store", Seconds{60}, true, true},
  });
}

TEST(AfterFailure, Rfc5861Section4StaleIfErrorOfTheRequest) {
  expect_after_failure({
      {"max-age=60", "stale-if-error=10", Seconds{59}, true, true},
      {"max-age=60", "stale-if-error=10", Seconds{60}, true, true},
      {"max-age=60", "stale-if-error=10", Seconds{69}, true, true},
      {"max-age=60", "stale-if-error=10", Seconds{70}, false, false},
      {"max-age=60", "stale-if-error=0", Seconds{60}, false, false},
      {"max-age=60, stale-if-error=5", "stale-if-error=10", Seconds{69}, true, true},
      {"max-age=60, stale-if-error=20", "stale-if-error=10", Seconds{70}, false, false},
      // Whatever else it prefers while the origin is there.
      {"max-age=60", "no-cache, stale-if-error=10", Seconds{69}, true, true},
      {"max-age=60", "max-age=0, stale-if-error=10", Seconds{69}, true, true},
      {"max-age=60", "min-fresh=5, stale-if-error=10", Seconds{69}, true, true},
      {"max-age=60", "max-stale=1, stale-if-error=10", Seconds{69}, true, true},
      {"max-age=60", "max-stale=1, stale-if-error=10", Seconds{70}, false, false},
  });
}

TEST(AfterFailure, ARouteMaySayStaleIfError) {
  Rules rules;
  rules.stale_if_error = Seconds{10};
  const Freshness stored = stored_with("max-age=60", rules);
  EXPECT_TRUE(may_be_given_on_error(stored, {}, received + Seconds{69}));
  EXPECT_FALSE(may_be_given_on_error(stored, {}, received + Seconds{70}));
  EXPECT_TRUE(may_be_given_unreachable(stored, {}, received + Seconds{69}));
  EXPECT_FALSE(may_be_given_unreachable(stored, {}, received + Seconds{70}));
}

TEST(AfterFailure, WhatComesWithoutAKnownAgeIsNotGiven) {
  Rules rules;
  rules.invalid_age = InvalidAge::stale;
  const auto fields = fields_of({{"Cache-Control", "max-age=60, stale-if-error=10"}, {"Age", "x"}});
  const auto directives = effective_directives(fields, rules);
  const auto stored = freshness_of({200, fields, directives, {received, received}, rules});
  EXPECT_EQ(judge(&stored, {}, received), Verdict::must_validate);
  EXPECT_EQ(judge(&stored, asked_with("max-stale=1000"), received), Verdict::must_validate);
  EXPECT_FALSE(may_be_given_unreachable(stored, {}, received));
  EXPECT_FALSE(may_be_given_on_error(stored, {}, received));
}

TEST(AfterFailure, Rfc5861Section4WhatCountsAsAnError) {
  for (int status = 100; status < 600; ++status) {
    const bool counts = status == 500 || status == 502 || status == 503 || status == 504;
    EXPECT_EQ(is_error_of_rfc5861(status), counts) << status;
  }
}

// Every response against every request at every age: what holds whatever else is said.
TEST(Judge, Rfc9111Section4EveryDirectiveAgainstEveryOther) {
  const std::vector<std::string> responses{"",
                                           "no-cache",
                                           "no-cache=\"x\"",
                                           "must-revalidate",
                                           "proxy-revalidate",
                                           "s-maxage=60",
                                           "immutable",
                                           "stale-while-revalidate=10",
                                           "stale-if-error=10"};
  const std::vector<std::string> requests{
      "",          "no-cache",    "max-age=65",       "max-age=30",    "min-fresh=5",
      "max-stale", "max-stale=5", "stale-if-error=5", "only-if-cached"};
  const auto check = [](const Freshness& stored, const http::RequestDirectives& request,
                        Seconds passed) {
    const TimePoint now = received + passed;
    const Verdict verdict = judge(&stored, request, now);
    const bool unreachable = may_be_given_unreachable(stored, request, now);
    const bool on_error = may_be_given_on_error(stored, request, now);
    const bool is_fresh = time_to_live(stored, now) > Seconds{0};
    EXPECT_EQ(verdict == Verdict::fresh, is_fresh && verdict != Verdict::must_validate);
    if (stored.no_cache) {
      EXPECT_EQ(verdict, Verdict::must_validate);
      EXPECT_FALSE(unreachable || on_error);
    }
    if (stored.must_revalidate && !is_fresh) {
      EXPECT_EQ(verdict, Verdict::must_validate);
      EXPECT_FALSE(unreachable || on_error);
    }
    if (request.no_cache) {
      EXPECT_EQ(verdict, Verdict::must_validate);
    }
    if (on_error) {
      EXPECT_TRUE(unreachable);
      EXPECT_TRUE(stored.stale_if_error || request.stale_if_error);
    }
    if (verdict == Verdict::stale) {
      EXPECT_TRUE(request.max_stale);
    }
    // A failure takes nothing away from what was allowed.
    if (verdict != Verdict::must_validate && !request.stale_if_error && !stored.stale_if_error) {
      EXPECT_TRUE(unreachable);
    }
  };
  for (const std::string& first : responses) {
    for (const std::string& second : responses) {
      const std::string response = "max-age=60, " + first + ", " + second;
      const Freshness stored = stored_with(response);
      for (const std::string& third : requests) {
        for (const std::string& fourth : requests) {
          const std::string request = third + ", " + fourth;
          for (const int passed : {0, 30, 31, 55, 56, 59, 60, 61, 64, 65, 66, 69, 70, 71, 90'000}) {
            SCOPED_TRACE(response + " / " + request + " after " + std::to_string(passed));
            check(stored, asked_with(request), Seconds{passed});
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace ringside::cache
