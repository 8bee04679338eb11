#include "cache/freshness.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/limits.h"
#include "tests/cache/some_fields.h"
#include "tests/support/fake_clock.h"

namespace ringside::cache {
namespace {

using support::FakeClock;

constexpr TimePoint received = FakeClock::start;
const http::Field date{"Date", "Sun, 06 Nov 1994 08:49:37 GMT"};
const http::Field hour{"Expires", "Sun, 06 Nov 1994 09:49:37 GMT"};
const http::Field tenth_of_an_hour{"Last-Modified", "Sun, 06 Nov 1994 08:43:37 GMT"};  // 36 s

Freshness freshness(const http::Fields& fields, const Rules& rules = {}, int status = 200,
                    Seconds delay = Seconds{0}) {
  const auto directives = effective_directives(fields, rules);
  return freshness_of({status, fields, directives, {received - delay, received}, rules});
}

struct LifetimeRow {
  http::Fields fields;
  Seconds lifetime;
  LifetimeSource source = LifetimeSource::origin;
};

void expect_lifetimes(const std::vector<LifetimeRow>& rows, const Rules& rules = {}) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const Freshness got = freshness(rows[row].fields, rules);
    EXPECT_EQ(got.lifetime, rows[row].lifetime) << row;
    EXPECT_EQ(got.source, rows[row].source) << row;
  }
}

TEST(Freshness, NamesWhoGaveTheLifetime) {
  using enum LifetimeBy;
  Rules rules;
  rules.ttl_by_status = {{404, 404, Seconds{9}}};
  Rules lasting = rules;
  lasting.default_ttl = Seconds{5};
  struct Row {
    http::Fields fields;
    int status;
    const Rules& rules;
    LifetimeBy by;
  };
  const std::vector<Row> rows{
      {fields_of({{"Cache-Control", "max-age=5, s-maxage=7"}, date, hour}), 200, rules, s_maxage},
      {fields_of({{"Cache-Control", "max-age=5"}, date, hour}), 404, rules, max_age},
      {fields_of({date, hour}), 404, rules, expires},
      {fields_of({date}), 404, lasting, ttl_by_status},
      {fields_of({date, tenth_of_an_hour}), 200, lasting, default_ttl},
      {fields_of({date, tenth_of_an_hour}), 200, rules, heuristic},
      {fields_of({date}), 200, rules, nobody},
  };
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto& [fields, status, of_route, by] = rows[row];
    const auto directives = effective_directives(fields, of_route);
    const FreshnessInput input{status, fields, directives, {received, received}, of_route};
    EXPECT_EQ(lifetime_by(input), by) << row;
    EXPECT_EQ(source_of(by), freshness_of(input).source) << row;
  }
}

TEST(Freshness, Rfc9111Section4Point2Point1ChoosesTheLifetime) {
  expect_lifetimes({
      {fields_of({{"Cache-Control", "max-age=5, s-maxage=7"}, date, hour}), Seconds{7}},
      {fields_of({{"Cache-Control", "s-maxage=0, max-age=5"}}), Seconds{0}},
      {fields_of({{"Cache-Control", "max-age=5"}, date, hour}), Seconds{5}},
      {fields_of({{"Cache-Control", "max-age=0"}, date, hour}), Seconds{0}},
      {fields_of({{"Cache-Control", "max-age=5, max-age=9"}}), Seconds{5}},
      {fields_of({{"Cache-Control", "max-age=5"}, {"Cache-Control", "max-age=9"}}), Seconds{5}},
      {fields_of({{"Cache-Control", "max-age=99999999999"}}), limits::delta_seconds_most},
      {fields_of({{"Cache-Control", "max-age=soon"}, date, hour}), Seconds{0}},
      {fields_of({{"Cache-Control", "s-maxage=soon, max-age=5"}}), Seconds{0}},
      {fields_of({{"Cache-Control", "public"}, date, hour}), Seconds{3600}},
      {fields_of({{"Cache-Control", "max-age=5"}, date, tenth_of_an_hour}), Seconds{5}},
      {fields_of({{"Cache-Control", "max-age=0"}, date, tenth_of_an_hour}), Seconds{0}},
      {fields_of({date}), Seconds{0}, LifetimeSource::none},
      {fields_of({}), Seconds{0}, LifetimeSource::none},
      {fields_of({{"Cache-Control", "stale-if-error=5"}}), Seconds{0}, LifetimeSource::none},
  });
}

TEST(Freshness, Rfc9111Section5Point3Expires) {
  expect_lifetimes({
      {fields_of({date, hour}), Seconds{3600}},
      {fields_of({hour}), Seconds{3600}},  // without Date: from when it came
      {fields_of({{"Date", "gestern"}, hour}), Seconds{3600}},
      {fields_of({{"Date", "Sun, 06 Nov 1994 08:49:07 GMT"}, hour}), Seconds{3630}},
      {fields_of({{"Date", "Sun, 06 Nov 1994 08:50:07 GMT"}, hour}), Seconds{3570}},
      {fields_of({{"Expires", "Sun, 06 Nov 1994 08:49:38 GMT"}, date}), Seconds{1}},
      {fields_of({{"Expires", "Sun, 06 Nov 1994 08:49:37 GMT"}, date}), Seconds{0}},
      {fields_of({{"Expires", "Sun, 06 Nov 1994 08:49:36 GMT"}, date}), Seconds{0}},
      {fields_of({{"Expires", "Fri, 31 Dec 9999 23:59:59 GMT"}, date}), limits::delta_seconds_most},
      {fields_of({{"Expires", "0"}, date}), Seconds{0}},
      {fields_of({{"Expires", ""}, date}), Seconds{0}},
      {fields_of({{"Expires", "Sun, 99 Nov 1994 08:49:37 GMT"}, date}), Seconds{0}},
      // No heuristic for what says that it is invalid.
      {fields_of({{"Expires", "0"}, date, tenth_of_an_hour}), Seconds{0}},
      {fields_of({hour, hour, date}), Seconds{3600}},
      {fields_of({hour, {"Expires", "Sun, 06 Nov 1994 10:49:37 GMT"}, date}), Seconds{0}},
      {fields_of({hour, {"Expires", "0"}, date}), Seconds{0}},
      {fields_of({{"Expires", "0"}, hour, date}), Seconds{0}},
  });
}

TEST(Freshness, Rfc9111Section4Point2Point2Heuristic) {
  const auto heuristic = LifetimeSource::heuristic;
  const auto none = LifetimeSource::none;
  expect_lifetimes({
      {fields_of({date, tenth_of_an_hour}), Seconds{36}, heuristic},
      {fields_of({tenth_of_an_hour}), Seconds{36}, heuristic},  // without Date: when it came
      {fields_of({{"Date", "?"}, tenth_of_an_hour}), Seconds{36}, heuristic},
      {fields_of({{"Date", "Sun, 06 Nov 1994 08:45:17 GMT"}, tenth_of_an_hour}), Seconds{10},
       heuristic},
      {fields_of({date, {"Last-Modified", "Sun, 06 Nov 1994 08:49:27 GMT"}}), Seconds{1},
       heuristic},
      {fields_of({date, {"Last-Modified", "Sun, 06 Nov 1994 08:49:28 GMT"}}), Seconds{0},
       heuristic},
      {fields_of({date, {"Last-Modified", date.value}}), Seconds{0}, heuristic},
      {fields_of({date, {"Last-Modified", "Sun, 06 Nov 1994 08:49:38 GMT"}}), Seconds{0}, none},
      {fields_of({date, {"Last-Modified", "yesterday"}}), Seconds{0}, none},
      // Ten days are a day; more are no more.
      {fields_of({date, {"Last-Modified", "Thu, 27 Oct 1994 08:49:47 GMT"}}), Seconds{86'399},
       heuristic},
      {fields_of({date, {"Last-Modified", "Thu, 27 Oct 1994 08:49:37 GMT"}}), Seconds{86'400},
       heuristic},
      {fields_of({date, {"Last-Modified", "Thu, 27 Oct 1994 08:49:27 GMT"}}), Seconds{86'400},
       heuristic},
      {fields_of({date, {"Last-Modified", "Thu, 01 Jan 1970 00:00:00 GMT"}}), Seconds{86'400},
       heuristic},
      {fields_of({{"Cache-Control", "no-cache"}, tenth_of_an_hour}), Seconds{36}, heuristic},
  });
  Rules off;
  off.heuristic = false;
  expect_lifetimes({{fields_of({date, tenth_of_an_hour}), Seconds{0}, none}}, off);
}

// RFC 9110 §15.1, and `public` (RFC 9111 §5.2.2.9).
TEST(Freshness, Rfc9110Section15Point1StatusesThatHeuristicsAreFor) {
  const std::set<int> cacheable{200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501};
  Rules ttl;
  ttl.default_ttl = Seconds{50};
  for (int status = 200; status < 600; ++status) {
    const auto plain = fields_of({date, tenth_of_an_hour});
    const auto open = fields_of({date, tenth_of_an_hour, {"Cache-Control", "public"}});
    const bool counts = cacheable.contains(status);
    EXPECT_EQ(is_heuristically_cacheable(status), counts) << status;
    EXPECT_EQ(freshness(plain, {}, status).lifetime, Seconds{counts ? 36 : 0}) << status;
    EXPECT_EQ(freshness(plain, ttl, status).lifetime, Seconds{counts ? 50 : 0}) << status;
    EXPECT_EQ(freshness(open, {}, status).lifetime, Seconds{36}) << status;
    EXPECT_EQ(freshness(open, ttl, status).lifetime, Seconds{50}) << status;
    const auto said = fields_of({{"Cache-Control", "max-age=7"}});
    EXPECT_EQ(freshness(said, ttl, status).lifetime, Seconds{7}) << status;
  }
}

TEST(Freshness, RulesSayTheLifetimeWhereTheResponseDoesNot) {
  Rules rules;
  rules.ttl_by_status = {{404, 404, Seconds{4}}, {400, 499, Seconds{9}}, {500, 500, Seconds{0}}};
  rules.default_ttl = Seconds{50};
  const auto silent = fields_of({date, tenth_of_an_hour});
  struct Row {
    int status;
    Seconds lifetime;
    LifetimeSource source;
  };
  const std::vector<Row> rows{
      {404, Seconds{4}, LifetimeSource::rule},  {400, Seconds{9}, LifetimeSource::rule},
      {499, Seconds{9}, LifetimeSource::rule},  {410, Seconds{9}, LifetimeSource::rule},
      {500, Seconds{0}, LifetimeSource::rule},  {399, Seconds{0}, LifetimeSource::none},
      {501, Seconds{50}, LifetimeSource::rule}, {200, Seconds{50}, LifetimeSource::rule},
      {302, Seconds{0}, LifetimeSource::none},
  };
  for (const Row& row : rows) {
    const Freshness got = freshness(silent, rules, row.status);
    EXPECT_EQ(got.lifetime, row.lifetime) << row.status;
    EXPECT_EQ(got.source, row.source) << row.status;
  }
  const auto said = fields_of({{"Cache-Control", "max-age=0"}});
  EXPECT_EQ(freshness(said, rules, 404).source, LifetimeSource::origin);
  const auto expired = fields_of({{"Expires", "0"}});
  EXPECT_EQ(freshness(expired, rules, 404).source, LifetimeSource::origin);
}

TEST(Freshness, Rfc9213Section2Point1ExpiresSaysNothingBesideATargetedField) {
  const auto fields = fields_of({{"CDN-Cache-Control", "must-revalidate"}, date, hour});
  EXPECT_EQ(freshness(fields).source, LifetimeSource::none);
  Rules deaf;
  deaf.targeted.clear();
  EXPECT_EQ(freshness(fields, deaf).lifetime, Seconds{3600});
}

TEST(Freshness, ARouteThatDoesNotHeedTheOriginHearsNoLifetime) {
  Rules rules;
  rules.heed_origin = false;
  rules.default_ttl = Seconds{50};
  for (const auto& fields :
       {fields_of({date, hour}), fields_of({{"Cache-Control", "max-age=5"}}),
        fields_of({{"Cache-Control", "s-maxage=5, must-revalidate, no-cache"}}),
        fields_of({{"CDN-Cache-Control", "max-age=5"}}), fields_of({{"Expires", "0"}})}) {
    const Freshness got = freshness(fields, rules);
    EXPECT_EQ(got.lifetime, Seconds{50});
    EXPECT_EQ(got.source, LifetimeSource::rule);
    EXPECT_FALSE(got.must_revalidate);
    EXPECT_FALSE(got.no_cache);
  }
  rules.default_ttl.reset();
  EXPECT_EQ(freshness(fields_of({date, hour, tenth_of_an_hour}), rules).lifetime, Seconds{36});
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
      {fields_of({ten_ago}), Seconds{11}, Seconds{11}},
      {fields_of({ten_ago, {"Age", "8"}}), Seconds{3}, Seconds{11}},
      {fields_of({ten_ago, {"Age", "7"}}), Seconds{3}, Seconds{10}},
      {fields_of({ten_ago, {"Age", "4"}}), Seconds{3}, Seconds{10}},
      {fields_of({{"Date", "Thu, 01 Jan 1970 00:00:00 GMT"}}), Seconds{0}, Seconds{784'111'777}},
      {fields_of({ahead}), Seconds{0}, Seconds{0}},  // a clock that is ahead makes nothing younger
      {fields_of({ahead, {"Age", "5"}}), Seconds{2}, Seconds{7}},
      {fields_of({{"Age", "5"}}), Seconds{-2}, Seconds{5}},  // our clock was set back meanwhile
      {fields_of({{"Age", "00005"}}), Seconds{0}, Seconds{5}},
      {fields_of({{"Age", "2147483648"}}), Seconds{0}, limits::delta_seconds_most},
      {fields_of({{"Age", "2147483649"}}), Seconds{0}, limits::delta_seconds_most},
      {fields_of({{"Age", "99999999999999999999999"}}), Seconds{0}, limits::delta_seconds_most},
  };
  for (std::size_t row = 0; row < rows.size(); ++row) {
    EXPECT_EQ(freshness(rows[row].fields, {}, 200, rows[row].delay).initial_age,
              rows[row].initial_age)
        << row;
    Rules stale;
    stale.invalid_age = InvalidAge::stale;
    EXPECT_EQ(freshness(rows[row].fields, stale, 200, rows[row].delay).initial_age,
              rows[row].initial_age)
        << row << ", and these are all valid";
  }
}

TEST(Freshness, Rfc9111Section5Point1AnInvalidAgeIsIgnoredOrMakesStale) {
  struct Row {
    http::Fields fields;
    Seconds age;  // where it is ignored
  };
  const std::vector<Row> rows{
      {fields_of({{"Age", "5"}, {"Age", "50"}}), Seconds{5}},
      {fields_of({{"Age", "0"}, {"Age", "7200"}}), Seconds{0}},
      {fields_of({{"Age", "7200"}, {"Age", "0"}}), Seconds{7200}},
      {fields_of({{"Age", "0"}, {"Age", "0"}}), Seconds{0}},
      {fields_of({{"Age", "0, 0"}}), Seconds{0}},
      {fields_of({{"Age", "3600, 3600"}}), Seconds{3600}},
      {fields_of({{"Age", "x"}, {"Age", "5"}}), Seconds{0}},
      {fields_of({{"Age", "-5"}}), Seconds{0}},
      {fields_of({{"Age", "+5"}}), Seconds{0}},
      {fields_of({{"Age", "-99999999999999999999999"}}), Seconds{0}},
      {fields_of({{"Age", "7200.0"}}), Seconds{0}},
      {fields_of({{"Age", "5s"}}), Seconds{0}},
      {fields_of({{"Age", "7200;foo=bar"}}), Seconds{0}},
      {fields_of({{"Age", "7200;foo=111"}}), Seconds{0}},
      {fields_of({{"Age", "\"5\""}}), Seconds{0}},
      {fields_of({{"Age", "0x10"}}), Seconds{0}},
      {fields_of({{"Age", "old"}}), Seconds{0}},
      {fields_of({{"Age", ""}}), Seconds{0}},
  };
  Rules stale;
  stale.invalid_age = InvalidAge::stale;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    http::Fields fields = rows[row].fields;
    fields.add("Cache-Control", "max-age=2147483648");
    EXPECT_EQ(freshness(fields).initial_age, rows[row].age) << row;
    EXPECT_LE(time_to_live(freshness(fields, stale), received), Seconds{0}) << row;
  }
}

// Not doubted even where doubtful ones are.
TEST(Freshness, Rfc9111Section5Point1OfAListOfDifferentAgesTheFirstCounts) {
  for (const auto& [text, age] :
       std::vector<std::pair<std::string, Seconds>>{{"5, 50", Seconds{5}},
                                                    {"5 , 50", Seconds{5}},
                                                    {"0,7200", Seconds{0}},
                                                    {"7200,0", Seconds{7200}}}) {
    for (const InvalidAge invalid : {InvalidAge::ignore, InvalidAge::stale}) {
      Rules rules;
      rules.invalid_age = invalid;
      const auto fields = fields_of({{"Cache-Control", "max-age=60"}, {"Age", text}});
      EXPECT_EQ(freshness(fields, rules).initial_age, age) << text;
    }
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
  EXPECT_EQ(time_to_live(got, received + Seconds{50}), Seconds{0});
  EXPECT_EQ(time_to_live(got, received + Seconds{70}), Seconds{-20});
}

TEST(Freshness, Rfc9111Section5Point2Point2RemembersWhatForbidsReuse) {
  struct Row {
    std::string cache_control;
    bool no_cache;
    bool must_revalidate;
    bool immutable = false;
  };
  const std::vector<Row> rows{
      {"max-age=5", false, false},
      {"no-cache", true, false},
      {"no-cache=\"set-cookie\"", false, false},
      {"no-cache=\"set-cookie\", no-cache", true, false},
      {"no-cache=\"a, Content-Type\"", true, false},
      {"must-revalidate", false, true},
      {"proxy-revalidate", false, true},
      {"s-maxage=5", false, true},                   // §5.2.2.10
      {"max-age=5, immutable", false, false, true},  // RFC 8246
  };
  for (const Row& row : rows) {
    const Freshness got = freshness(fields_of({{"Cache-Control", row.cache_control}}));
    EXPECT_EQ(got.no_cache, row.no_cache) << row.cache_control;
    EXPECT_EQ(got.must_revalidate, row.must_revalidate) << row.cache_control;
    EXPECT_EQ(got.immutable, row.immutable) << row.cache_control;
  }
}

TEST(Freshness, Rfc5861TheResponseIsAskedBeforeTheRules) {
  struct Row {
    std::string cache_control;
    std::optional<Seconds> while_revalidate;
    std::optional<Seconds> if_error;
  };
  const std::vector<Row> rows{
      {"max-age=5", Seconds{20}, Seconds{30}},
      {"max-age=5, stale-while-revalidate=1", Seconds{1}, Seconds{30}},
      {"max-age=5, stale-if-error=0", Seconds{20}, Seconds{0}},
      {"max-age=5, stale-while-revalidate=1, stale-if-error=2", Seconds{1}, Seconds{2}},
      {"public", std::nullopt, std::nullopt},  // never was fresh
      {"stale-while-revalidate=1", Seconds{1}, std::nullopt},
      {"stale-if-error=2", std::nullopt, Seconds{2}},
  };
  Rules rules;
  rules.stale_while_revalidate = Seconds{20};
  rules.stale_if_error = Seconds{30};
  for (const Row& row : rows) {
    const Freshness got = freshness(fields_of({{"Cache-Control", row.cache_control}}), rules);
    EXPECT_EQ(got.stale_while_revalidate, row.while_revalidate) << row.cache_control;
    EXPECT_EQ(got.stale_if_error, row.if_error) << row.cache_control;
  }
  rules.heed_origin = false;
  rules.default_ttl = Seconds{5};
  const auto said = fields_of({{"Cache-Control", "stale-while-revalidate=1, stale-if-error=2"}});
  EXPECT_EQ(freshness(said, rules).stale_while_revalidate, Seconds{20});
  EXPECT_EQ(freshness(said, rules).stale_if_error, Seconds{30});
}

}  // namespace
}  // namespace ringside::cache
