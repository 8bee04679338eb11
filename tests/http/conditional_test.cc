#include "http/conditional.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/cache/some_fields.h"
#include "tests/support/fake_clock.h"

namespace ringside::http {
namespace {

using cache::fields_of;

TEST(SameEntity, Rfc9110Section8Point8Point3ComparesWeakly) {
  EXPECT_TRUE(same_entity("\"1\"", "\"1\""));
  EXPECT_TRUE(same_entity("W/\"1\"", "W/\"1\""));
  EXPECT_TRUE(same_entity("W/\"1\"", "\"1\""));
  EXPECT_TRUE(same_entity("\"1\"", "W/\"1\""));
  EXPECT_FALSE(same_entity("\"1\"", "\"2\""));
  EXPECT_FALSE(same_entity("W/\"1\"", "W/\"2\""));
  EXPECT_FALSE(same_entity("w/\"1\"", "\"1\""));  // the W is case-sensitive
  EXPECT_FALSE(same_entity("", ""));
}

struct ConditionRow {
  Fields request;
  Fields stored;
  bool not_modified;
};

TEST(NotModified, Rfc9110Section13Point2Point2) {
  const http::Field tag{"ETag", "\"a\""};
  const http::Field changed{"Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"};
  const http::Field date{"Date", "Sun, 06 Nov 1994 08:49:37 GMT"};
  const http::Field since{"If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"};
  const http::Field since_before{"If-Modified-Since", "Sun, 06 Nov 1994 08:49:36 GMT"};
  const auto both = fields_of({tag, changed});
  const std::vector<ConditionRow> rows{
      {fields_of({}), both, false},
      {fields_of({{"If-None-Match", "\"a\""}}), both, true},
      {fields_of({{"If-None-Match", "W/\"a\""}}), both, true},
      {fields_of({{"If-None-Match", "\"a\""}}), fields_of({{"ETag", "W/\"a\""}}), true},
      {fields_of({{"If-None-Match", "\"b\", W/\"c\",\"a\""}}), both, true},
      {fields_of({{"If-None-Match", "\"b\""}, {"If-None-Match", "\"a\""}}), both, true},
      // Entity tags have no escapes: `"b,\"` is one, then comes text, then `"` and a tag without
      // end.
      {fields_of({{"If-None-Match", "\"b,\\\"a\\\"\""}}), both, false},
      {fields_of({{"If-None-Match", "\"b\\\", \"a\""}}), both, true},
      {fields_of({{"If-None-Match", "\"b\", \"c\""}}), both, false},
      {fields_of({{"If-None-Match", "a"}}), both, false},
      {fields_of({{"If-None-Match", "*"}}), both, true},
      {fields_of({{"If-None-Match", "*"}}), fields_of({}), true},
      {fields_of({{"If-None-Match", "\"*\""}}), both, false},
      {fields_of({{"If-None-Match", ""}}), both, false},
      {fields_of({{"If-None-Match", "\"a\""}}), fields_of({changed}), false},
      // If-None-Match speaks alone where it is there.
      {fields_of({{"If-None-Match", "\"b\""}, since}), both, false},
      {fields_of({{"If-None-Match", "\"a\""}, since_before}), both, true},
      {fields_of({since}), both, true},
      {fields_of({since_before}), both, false},
      {fields_of({{"If-Modified-Since", "Sunday, 06-Nov-94 08:49:37 GMT"}}), both, true},
      {fields_of({{"If-Modified-Since", "yesterday"}}), both, false},
      {fields_of({since}), fields_of({tag, date}), true},
      {fields_of({since_before}), fields_of({date}), false},
      {fields_of({since}), fields_of({{"Last-Modified", "?"}, date}), false},
      {fields_of({since}), fields_of({tag}), false},
      // Several are none (§13.1.3).
      {fields_of({since, since}), both, false},
      {fields_of({{"If-Match", "\"b\""}}), both, false},
      {fields_of({{"If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"}}), both, false},
  };
  for (std::size_t row = 0; row < rows.size(); ++row) {
    EXPECT_EQ(is_not_modified(rows[row].request, rows[row].stored, support::FakeClock::start),
              rows[row].not_modified)
        << row;
  }
}

TEST(Condition, IsWhatMakesAnAnswerLessThanTheWhole) {
  for (const auto* name : {"If-None-Match", "if-modified-since", "If-Match", "If-Range",
                           "If-Unmodified-Since", "RANGE"}) {
    EXPECT_TRUE(is_condition(name)) << name;
  }
  for (const auto* name : {"If", "If-None-Matches", "Ranges", "Accept", ""}) {
    EXPECT_FALSE(is_condition(name)) << name;
  }
}

constexpr TimePoint now = support::FakeClock::start;
constexpr http::Field tag_a{"ETag", "\"a\""};
constexpr http::Field weak_a{"ETag", "W/\"a\""};
constexpr http::Field tag_b{"ETag", "\"b\""};
constexpr http::Field weak_b{"ETag", "W/\"b\""};
constexpr http::Field changed{"Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"};
constexpr http::Field changed_rfc850{"Last-Modified", "Sunday, 06-Nov-94 08:49:37 GMT"};
constexpr http::Field changed_later{"Last-Modified", "Sun, 06 Nov 1994 08:49:38 GMT"};
constexpr http::Field date_same{"Date", "Sun, 06 Nov 1994 08:49:37 GMT"};
constexpr http::Field date_59s{"Date", "Sun, 06 Nov 1994 08:50:36 GMT"};
constexpr http::Field date_60s{"Date", "Sun, 06 Nov 1994 08:50:37 GMT"};

struct RangeRow {
  Fields stored;
  std::string_view if_range;
  bool applies;
};

void expect_applies(const std::vector<RangeRow>& rows) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto request = fields_of({{"Range", "bytes=0-1"}, {"If-Range", rows[row].if_range}});
    EXPECT_EQ(range_applies(request, rows[row].stored, now), rows[row].applies) << row;
  }
}

TEST(RangeApplies, Rfc9110Section13Point1Point5ATagIsComparedStrongly) {
  expect_applies({
      {fields_of({tag_a}), "\"a\"", true},
      {fields_of({tag_a}), "\"b\"", false},
      {fields_of({tag_a}), "\"A\"", false},
      {fields_of({tag_a}), "W/\"a\"", false},
      {fields_of({weak_a}), "\"a\"", false},
      {fields_of({weak_a}), "W/\"a\"", false},
      {fields_of({}), "\"a\"", false},
      {fields_of({changed, date_60s}), "\"a\"", false},
      {fields_of({{"ETag", "\"\""}}), "\"\"", true},
      {fields_of({tag_a, tag_b}), "\"a\"", false},
  });
}

TEST(RangeApplies, Rfc9110Section13Point1Point5ADateIsComparedExactly) {
  const auto stored = fields_of({tag_a, changed, date_60s});
  expect_applies({
      {stored, "Sun, 06 Nov 1994 08:49:37 GMT", true},
      {stored, "Sunday, 06-Nov-94 08:49:37 GMT", true},
      {stored, "Sun, 06 Nov 1994 08:49:38 GMT", false},  // later, as If-Modified-Since may be
      {stored, "Sun, 06 Nov 1994 08:49:36 GMT", false},
      {fields_of({date_60s}), "Sun, 06 Nov 1994 08:50:37 GMT", false},
      {fields_of({{"Last-Modified", "?"}, date_60s}), "?", false},
  });
}

TEST(RangeApplies, Rfc9110Section8Point8Point2Point2ADateIsStrongAMinuteBeforeDateOnly) {
  const std::string_view since = changed.value;
  expect_applies({
      {fields_of({changed, date_60s}), since, true},
      {fields_of({changed, date_59s}), since, false},
      {fields_of({changed, date_same}), since, false},
      {fields_of({changed_later, date_same}), changed_later.value, false},
      {fields_of({changed}), since, false},
      {fields_of({changed, {"Date", "?"}}), since, false},
      {fields_of({changed, changed_later, date_60s}), since, false},
  });
}

TEST(RangeApplies, Rfc9110Section13Point1Point5AMalformedIfRangeMakesRangeIgnored) {
  const auto stored = fields_of({{"ETag", "a"}, changed, date_60s});
  expect_applies({
      {stored, "", false},
      {stored, "a", false},
      {stored, "*", false},
      {stored, "\"a", false},
      {stored, "\"a\", \"b\"", false},
      {stored, "yesterday", false},
      {fields_of({{"ETag", "\"a"}}), "\"a", false},
      {fields_of({{"ETag", "\"a b\""}}), "\"a b\"", false},
      {fields_of({{"ETag", "\""}}), "\"", false},
      {fields_of({{"ETag", "\"a\"b\""}}), "\"a\"b\"", false},
  });
  const auto twice = fields_of({{"If-Range", "\"a\""}, {"If-Range", "\"a\""}});
  EXPECT_FALSE(range_applies(twice, fields_of({tag_a}), now));
}

TEST(RangeApplies, Rfc9110Section13Point1Point5WithoutIfRangeItDoes) {
  EXPECT_TRUE(range_applies(fields_of({{"Range", "bytes=0-1"}}), fields_of({}), now));
}

TEST(OriginCondition, Rfc9111Section4Point3Point2IsIfMatchAndIfUnmodifiedSince) {
  EXPECT_TRUE(has_origin_condition(fields_of({{"if-match", "\"a\""}})));
  EXPECT_TRUE(has_origin_condition(fields_of({{"If-Unmodified-Since", "?"}})));
  EXPECT_FALSE(has_origin_condition(fields_of(
      {{"If-None-Match", "*"}, {"If-Modified-Since", "?"}, {"If-Range", "?"}, {"Range", "?"}})));
}

struct Pair {
  Fields ours;
  Fields theirs;
  bool expected;
};

TEST(SameStrongValidator, Rfc9110Section15Point3Point7Point3IsTheSameStrongTag) {
  const std::vector<Pair> rows{
      {fields_of({tag_a}), fields_of({tag_a}), true},
      {fields_of({tag_a, changed}), fields_of({tag_a, changed_later}), true},
      {fields_of({tag_a}), fields_of({tag_b}), false},
      {fields_of({tag_a}), fields_of({weak_a}), false},
      {fields_of({weak_a}), fields_of({tag_a}), false},
      {fields_of({weak_a}), fields_of({weak_a}), false},
      {fields_of({tag_a}), fields_of({}), false},
      {fields_of({}), fields_of({tag_a}), false},
      {fields_of({}), fields_of({}), false},
      {fields_of({{"ETag", "a"}}), fields_of({{"ETag", "a"}}), false},
      {fields_of({tag_a, tag_a}), fields_of({tag_a}), false},
      {fields_of({tag_a}), fields_of({tag_a, tag_a}), false},
      // Not even a Last-Modified that is strong.
      {fields_of({changed, date_60s}), fields_of({changed, date_60s}), false},
  };
  for (std::size_t row = 0; row < rows.size(); ++row) {
    EXPECT_EQ(same_strong_validator(rows[row].ours, rows[row].theirs), rows[row].expected) << row;
  }
}

void expect_confirms(const std::vector<Pair>& rows) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    EXPECT_EQ(confirms(rows[row].ours, rows[row].theirs, now), rows[row].expected) << row;
  }
}

TEST(Confirms, Rfc9111Section4Point3Point4AStrongTagIsTheStoredOne) {
  expect_confirms({
      {fields_of({tag_a}), fields_of({tag_a}), true},
      {fields_of({tag_a, changed}), fields_of({tag_a, changed_later}), true},
      {fields_of({tag_a}), fields_of({tag_b}), false},
      {fields_of({tag_a, changed, date_60s}), fields_of({tag_b, changed}), false},
      {fields_of({weak_a}), fields_of({tag_a}), false},
      {fields_of({}), fields_of({tag_a}), false},
      {fields_of({changed, date_60s}), fields_of({tag_a}), false},
  });
}

TEST(Confirms, Rfc9111Section4Point3Point4AStrongLastModifiedIsAStrongValidatorToo) {
  expect_confirms({
      {fields_of({changed, date_60s}), fields_of({tag_a, changed}), true},
      {fields_of({changed, date_59s}), fields_of({tag_a, changed}), false},
      {fields_of({changed, date_60s}), fields_of({tag_a, changed_later}), false},
      // A tag that compression has made weak, but not in the 304.
      {fields_of({weak_a, changed, date_60s}), fields_of({tag_a, changed}), true},
      {fields_of({weak_a, changed, date_59s}), fields_of({tag_a, changed}), false},
      {fields_of({weak_b, changed, date_60s}), fields_of({tag_a, changed}), false},
  });
}

TEST(Confirms, Rfc9111Section4Point3Point4WeakValidatorsMatchWeakly) {
  expect_confirms({
      {fields_of({weak_a}), fields_of({weak_a}), true},
      {fields_of({tag_a}), fields_of({weak_a}), true},
      {fields_of({weak_a}), fields_of({weak_b}), false},
      {fields_of({tag_a}), fields_of({weak_b}), false},
      {fields_of({tag_a, changed}), fields_of({weak_b, changed}), false},
      {fields_of({}), fields_of({weak_a}), false},
      {fields_of({changed}), fields_of({weak_a, changed}), true},
      {fields_of({changed}), fields_of({weak_a, changed_later}), false},
      {fields_of({{"ETag", "a"}}), fields_of({{"ETag", "a"}}), true},
      {fields_of({{"ETag", "a"}}), fields_of({{"ETag", "b"}}), false},
      {fields_of({changed}), fields_of({changed}), true},
      {fields_of({changed}), fields_of({changed_rfc850}), true},
      {fields_of({tag_a, changed}), fields_of({changed}), true},
      {fields_of({changed}), fields_of({changed_later}), false},
      {fields_of({tag_a}), fields_of({changed}), false},
      {fields_of({{"Last-Modified", "?"}}), fields_of({{"Last-Modified", "?"}}), true},
      {fields_of({{"Last-Modified", "?"}}), fields_of({{"Last-Modified", "!"}}), false},
  });
}

TEST(Confirms, Rfc9111Section4Point3Point4WithoutAValidatorTheOnlyCandidateIsMeant) {
  expect_confirms({
      {fields_of({tag_a}), fields_of({}), true},
      {fields_of({changed}), fields_of({date_60s}), true},
      {fields_of({}), fields_of({}), true},
  });
}

struct HeadRow {
  int stored_status;
  Fields stored;
  int status;
  Fields received;
  HeadFinding expected;
};

TEST(HeadFindingTest, Rfc9111Section4Point3Point5) {
  const auto both = fields_of({tag_a, changed});
  const std::vector<HeadRow> rows{
      {200, both, 200, both, HeadFinding::updates},
      {200, both, 200, fields_of({}), HeadFinding::updates},
      {200, both, 200, fields_of({tag_a}), HeadFinding::updates},
      {200, both, 200, fields_of({changed}), HeadFinding::updates},
      {206, both, 200, both, HeadFinding::updates},
      {200, both, 200, fields_of({tag_b, changed}), HeadFinding::invalidates},
      {200, both, 200, fields_of({tag_a, changed_later}), HeadFinding::invalidates},
      {200, both, 200, fields_of({weak_a}), HeadFinding::invalidates},
      {200, fields_of({}), 200, fields_of({tag_a}), HeadFinding::invalidates},
      {200, fields_of({tag_a}), 200, fields_of({changed}), HeadFinding::invalidates},
      {200, fields_of({}), 200, fields_of({}), HeadFinding::updates},
      {200, both, 200, fields_of({tag_a, {"Content-Length", "1000"}}), HeadFinding::updates},
      {200, both, 200, fields_of({tag_a, {"Content-Length", "1001"}}), HeadFinding::invalidates},
      {200, both, 200, fields_of({tag_a, {"Content-Length", "0"}}), HeadFinding::invalidates},
      {200, both, 200, fields_of({{"Content-Length", "1000 "}}), HeadFinding::invalidates},
      {200, both, 200, fields_of({{"Content-Length", ""}}), HeadFinding::invalidates},
      {200, both, 200, fields_of({{"Content-Length", "99999999999999999999"}}),
       HeadFinding::invalidates},
      // A 404 that is kept must not get the fields of what exists now.
      {404, fields_of({}), 200, fields_of({}), HeadFinding::invalidates},
      {200, both, 304, fields_of({tag_b}), HeadFinding::nothing},
      {200, both, 404, fields_of({}), HeadFinding::nothing},
      {200, both, 500, fields_of({}), HeadFinding::nothing},
      {200, both, 206, both, HeadFinding::nothing},
      {200, both, 204, both, HeadFinding::nothing},
  };
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const GetResponse stored{rows[row].stored_status, rows[row].stored, 1000};
    EXPECT_EQ(head_finding(stored, rows[row].status, rows[row].received), rows[row].expected)
        << row;
  }
}

}  // namespace
}  // namespace ringside::http
