#include "cache/freshness.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/limits.h"
#include "tests/cache/some_fields.h"
#include "tests/support/fake_clock.h"

namespace ringside::cache {
namespace {

using support::FakeClock;

constexpr TimePoint received = FakeClock::start;  // Sun, 06 Nov 1994 08:49:37 GMT

Freshness freshness(const http::Fields& fields, Seconds delay = Seconds{0}) {
  return freshness_of(fields, http::parse_response_directives(fields),
                      {received - delay, received});
}

struct LifetimeRow {
  http::Fields fields;
  Seconds lifetime;
  bool is_explicit = true;
};

TEST(Freshness, Rfc9111Section4Point2Point1ChoosesTheLifetime) {
  const http::Field date{"Date", "Sun, 06 Nov 1994 08:49:37 GMT"};
  const http::Field hour{"Expires", "Sun, 06 Nov 1994 09:49:37 GMT"};
  const std::vector<LifetimeRow> rows{
      {fields_of({{"Cache-Control", "max-age=5, s-maxage=7"}, date, hour}), Seconds{7}},
      {fields_of({{"Cache-Control", "s-maxage=0, max-age=5"}}), Seconds{0}},
      {fields_of({{"Cache-Control", "max-age=5"}, date, hour}), Seconds{5}},
      {fields_of({{"Cache-Control", "max-age=5, max-age=9"}}), Seconds{5}},
      {fields_of({{"Cache-Control", "max-age=99999999999"}}), limits::delta_seconds_most},
      {fields_of({{"Cache-Control", "max-age=soon"}, date, hour}), Seconds{0}},
      {fields_of({date, hour}), Seconds{3600}},
      {fields_of({hour}), Seconds{3600}},  // without Date: from when it came
      {fields_of({{"Date", "gestern"}, hour}), Seconds{3600}},
      {fields_of({{"Date", "Sun, 06 Nov 1994 08:49:07 GMT"}, hour}), Seconds{3630}},
      {fields_of({{"Expires", "Sun, 06 Nov 1994 08:49:36 GMT"}, date}), Seconds{0}},
      {fields_of({{"Expires", "0"}, date}), Seconds{0}},
      {fields_of({{"Expires", ""}, date}), Seconds{0}},
      {fields_of({{"Expires", "Sun, 99 Nov 1994 08:49:37 GMT"}, date}), Seconds{0}},
      {fields_of({{"Cache-Control", "public"}, date, hour}), Seconds{3600}},
      {fields_of({date}), Seconds{0}, false},
      {fields_of({}), Seconds{0}, false},
  };
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const Freshness got = freshness(rows[row].fields);
    EXPECT_EQ(got.lifetime, rows[row].lifetime) << row;
    EXPECT_EQ(got.has_explicit_lifetime, rows[row].is_explicit) << row;
  }
}

struct AgeRow {
  http::Fields fields;
  Seconds delay;
  Seconds initial_age;
};

TEST(Freshness, Rfc9111Section4Point2Point3CorrectsTheAge) {
  const http::Field ten_ago{"Date", "Sun, 06 Nov 1994 08:49:27 GMT"};
  const http::Field ahead{"Date", "Sun, 06 Nov 1994 08:59:37 GMT"};
  const std::vector<AgeRow> rows{
      {fields_of({}), Seconds{0}, Seconds{0}},
      {fields_of({}), Seconds{3}, Seconds{3}},
      {fields_of({ten_ago}), Seconds{0}, Seconds{10}},
      {fields_of({ten_ago}), Seconds{3}, Seconds{10}},
      {fields_of({ten_ago, {"Age", "8"}}), Seconds{3}, Seconds{11}},
      {fields_of({ten_ago, {"Age", "4"}}), Seconds{3}, Seconds{10}},
      {fields_of({ahead}), Seconds{0}, Seconds{0}},  // a clock that is ahead makes nothing younger
      {fields_of({ahead, {"Age", "5"}}), Seconds{2}, Seconds{7}},
      {fields_of({{"Age", "5"}, {"Age", "50"}}), Seconds{0}, Seconds{5}},
      {fields_of({{"Age", "5, 50"}}), Seconds{0}, Seconds{5}},
      {fields_of({{"Age", "5 , 50"}}), Seconds{0}, Seconds{5}},
      {fields_of({{"Age", "99999999999999999999999"}}), Seconds{0}, limits::delta_seconds_most},
      {fields_of({{"Age", "2147483649"}}), Seconds{0}, limits::delta_seconds_most},
      {fields_of({{"Age", "-5"}}), Seconds{0}, Seconds{0}},
      {fields_of({{"Age", "-99999999999999999999999"}}), Seconds{0}, Seconds{0}},
      {fields_of({{"Age", "5s"}}), Seconds{0}, Seconds{0}},
      {fields_of({{"Age", "old"}}), Seconds{1}, Seconds{1}},
      {fields_of({{"Age", ""}}), Seconds{0}, Seconds{0}},
  };
  for (std::size_t row = 0; row < rows.size(); ++row) {
    EXPECT_EQ(freshness(rows[row].fields, rows[row].delay).initial_age, rows[row].initial_age)
        << row;
  }
}

TEST(Freshness, AgeGrowsWithTimeAndNeverShrinks) {
  const Freshness got = freshness(fields_of({{"Cache-Control", "max-age=60"}, {"Age", "10"}}));
  EXPECT_EQ(age(got, received), Seconds{10});
  EXPECT_EQ(age(got, received + Milliseconds{999}), Seconds{10});
  EXPECT_EQ(age(got, received + Seconds{50}), Seconds{60});
  EXPECT_EQ(age(got, received - Seconds{50}), Seconds{10});  // the wall clock was set back
  EXPECT_EQ(time_to_live(got, received), Seconds{50});
  EXPECT_EQ(time_to_live(got, received + Seconds{49}), Seconds{1});
  EXPECT_EQ(time_to_live(got, received + Seconds{70}), Seconds{-20});
}

TEST(Freshness, RemembersWhatForbidsReuse) {
  struct Row {
    std::string cache_control;
    bool no_cache;
    bool must_revalidate;
  };
  const std::vector<Row> rows{
      {"max-age=5", false, false},
      {"no-cache", true, false},
      {"no-cache=\"set-cookie\"", true, false},
      {"must-revalidate", false, true},
      {"proxy-revalidate", false, true},
      {"s-maxage=5", false, true},  // §5.2.2.10
  };
  for (const Row& row : rows) {
    const Freshness got = freshness(fields_of({{"Cache-Control", row.cache_control}}));
    EXPECT_EQ(got.no_cache, row.no_cache) << row.cache_control;
    EXPECT_EQ(got.must_revalidate, row.must_revalidate) << row.cache_control;
  }
}

struct VerdictRow {
  std::string response;  // Cache-Control
  std::string request;   // Cache-Control
  Seconds passed;        // since it was received
  Verdict verdict;
};

TEST(Judge, Rfc9111Section4EveryDirective) {
  using enum Verdict;
  const std::vector<VerdictRow> rows{
      {"max-age=60", "", Seconds{0}, fresh},
      {"max-age=60", "", Seconds{59}, fresh},
      {"max-age=60", "", Seconds{60}, must_validate},  // as old as its lifetime is stale
      {"max-age=60", "", Seconds{6000}, must_validate},
      {"", "", Seconds{0}, must_validate},
      {"no-cache, max-age=60", "", Seconds{0}, must_validate},
      {"no-cache, max-age=60", "max-stale", Seconds{0}, must_validate},
      {"max-age=60", "no-cache", Seconds{0}, must_validate},
      {"max-age=60", "no-cache, max-stale=99", Seconds{0}, must_validate},
      {"max-age=60", "max-age=10", Seconds{10}, fresh},
      {"max-age=60", "max-age=10", Seconds{11}, must_validate},
      {"max-age=60", "max-age=0", Seconds{0}, fresh},
      {"max-age=60", "max-age=0", Seconds{1}, must_validate},
      {"max-age=60", "max-age=junk", Seconds{1}, must_validate},
      {"max-age=60", "min-fresh=20", Seconds{40}, fresh},
      {"max-age=60", "min-fresh=20", Seconds{41}, must_validate},
      {"max-age=60", "min-fresh=61", Seconds{0}, must_validate},
      {"max-age=60", "max-stale", Seconds{6000}, stale},
      {"max-age=60", "max-stale", Seconds{59}, fresh},
      {"max-age=60", "max-stale=10", Seconds{60}, stale},
      {"max-age=60", "max-stale=10", Seconds{70}, stale},
      {"max-age=60", "max-stale=10", Seconds{71}, must_validate},
      {"max-age=60", "max-stale=junk", Seconds{61}, must_validate},
      {"max-age=60", "max-stale=10, max-age=65", Seconds{64}, stale},
      {"max-age=60", "max-stale=10, max-age=65", Seconds{66}, must_validate},
      {"max-age=60", "max-stale, min-fresh=1", Seconds{61}, must_validate},
      {"max-age=60, must-revalidate", "max-stale", Seconds{59}, fresh},
      {"max-age=60, must-revalidate", "max-stale", Seconds{61}, must_validate},
      {"max-age=60, proxy-revalidate", "max-stale", Seconds{61}, must_validate},
      {"s-maxage=60", "max-stale", Seconds{61}, must_validate},
      {"max-age=60", "no-store", Seconds{0}, fresh},
      {"max-age=60", "only-if-cached", Seconds{0}, fresh},
      {"max-age=60", "only-if-cached", Seconds{60}, must_validate},
  };
  for (const VerdictRow& row : rows) {
    const Freshness stored = freshness(fields_of({{"Cache-Control", row.response}}));
    const auto asked = http::parse_request_directives(fields_of({{"Cache-Control", row.request}}));
    EXPECT_EQ(judge(&stored, asked, received + row.passed), row.verdict)
        << row.response << " / " << row.request << " after " << row.passed.count();
  }
  EXPECT_EQ(judge(nullptr, {}, received), absent);
}

}  // namespace
}  // namespace ringside::cache
