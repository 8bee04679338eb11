#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cache/serving.h"
#include "tests/cache/some_fields.h"
#include "tests/cache/some_freshness.h"
#include "tests/support/fake_clock.h"

namespace ringside::cache {
namespace {

TEST(Judgement, NamesWhatDecides) {
  using enum Grounds;
  struct Row {
    std::string response;  // Cache-Control
    std::string request;   // Cache-Control
    Seconds passed;        // since it was received
    Grounds grounds;
  };
  const std::vector<Row> rows{
      {"max-age=60", "", Seconds{59}, lifetime},
      {"max-age=60", "", Seconds{60}, stale},
      {"max-age=60", "no-cache", Seconds{0}, request_no_cache},
      {"max-age=60, no-cache", "", Seconds{0}, response_no_cache},
      {"max-age=60, no-cache", "no-cache", Seconds{0}, request_no_cache},
      {"max-age=60", "max-age=9", Seconds{10}, request_max_age},
      {"max-age=60", "max-age=10", Seconds{10}, lifetime},
      {"max-age=60", "min-fresh=50", Seconds{11}, request_min_fresh},
      {"max-age=60", "max-stale=9", Seconds{69}, request_max_stale},
      {"max-age=60", "max-stale=9", Seconds{70}, stale},
      {"max-age=60, stale-while-revalidate=9", "", Seconds{68}, stale_while_revalidate},
      {"max-age=60, stale-while-revalidate=9", "", Seconds{69}, stale},
      {"max-age=60, must-revalidate", "max-stale", Seconds{60}, never_stale},
      {"s-maxage=60", "max-stale", Seconds{60}, never_stale},
  };
  for (const Row& row : rows) {
    const Freshness stored = stored_with(row.response);
    const TimePoint now = received + row.passed;
    const auto judged = judgement(&stored, asked_with(row.request), now);
    EXPECT_EQ(judged.grounds, row.grounds)
        << row.response << " / " << row.request << " after " << row.passed.count();
    EXPECT_EQ(judged.verdict, judge(&stored, asked_with(row.request), now));
  }
  EXPECT_EQ(judgement(nullptr, {}, received).grounds, nothing);
}

}  // namespace
}  // namespace ringside::cache
