#include "cache/selection.h"

#include <gtest/gtest.h>

#include "tests/cache/some_part.h"

namespace ringside::cache {
namespace {

using support::FakeClock;
using Kind = Selection::Kind;
using Spans = std::vector<http::ByteSpan>;

StoredPointer dated() {
  return response_of(fields_of({{"Cache-Control", "max-age=60"},
                                {"ETag", "\"1\""},
                                {"Date", "Sun, 06 Nov 1994 08:49:37 GMT"},
                                {"Last-Modified", "Sun, 06 Nov 1994 08:00:00 GMT"}}),
                     "0123456789");
}

TEST(Select, Rfc9110Section13_2_2AndSection14_2WhatOfTheResponseARequestGets) {
  struct Row {
    std::string range;
    http::Fields request;
    Kind kind;
    Spans spans;
  };
  const std::vector<Row> rows{
      {"", {}, Kind::whole, {}},
      {"bytes=2-5", {}, Kind::parts, {{2, 5}}},
      {"bytes=-3", {}, Kind::parts, {{7, 9}}},
      {"bytes=-30", {}, Kind::parts, {{0, 9}}},
      {"bytes=8-30", {}, Kind::parts, {{8, 9}}},
      {"bytes=8-9,0-1", {}, Kind::parts, {{8, 9}, {0, 1}}},
      {"bytes=2-5,4-7,12-13", {}, Kind::parts, {{2, 7}}},
      {"bytes=10-", {}, Kind::unsatisfiable, {}},
      {"bytes=-0", {}, Kind::unsatisfiable, {}},
      {"bytes=10-,20-30", {}, Kind::unsatisfiable, {}},
      {"bytes=2-5", fields_of({{"If-Range", "\"1\""}}), Kind::parts, {{2, 5}}},
      {"bytes=2-5", fields_of({{"If-Range", "\"2\""}}), Kind::whole, {}},
      {"bytes=2-5", fields_of({{"If-Range", "W/\"1\""}}), Kind::whole, {}},
      {"bytes=10-", fields_of({{"If-Range", "\"2\""}}), Kind::whole, {}},
      {"bytes=2-5",
       fields_of({{"If-Range", "Sun, 06 Nov 1994 08:00:00 GMT"}}),
       Kind::parts,
       {{2, 5}}},
      {"bytes=2-5", fields_of({{"If-Range", "Sun, 06 Nov 1994 08:00:01 GMT"}}), Kind::whole, {}},
      // If-None-Match comes before Range.
      {"bytes=2-5", fields_of({{"If-None-Match", "\"1\""}}), Kind::not_modified, {}},
      {"bytes=10-", fields_of({{"If-None-Match", "\"1\""}}), Kind::not_modified, {}},
      {"bytes=2-5", fields_of({{"If-None-Match", "\"2\""}}), Kind::parts, {{2, 5}}},
      {"bytes=2-5",
       fields_of({{"If-None-Match", "\"1\""}, {"If-Range", "\"2\""}}),
       Kind::not_modified,
       {}},
  };
  const auto stored = dated();
  for (const Row& row : rows) {
    const auto selection =
        select(context_of(row.range), row.request, *stored->head, 10, FakeClock::start);
    EXPECT_EQ(selection.kind, row.kind) << row.range << " " << &row - rows.data();
    EXPECT_EQ(selection.spans, row.spans) << row.range << " " << &row - rows.data();
  }
}

TEST(Select, Rfc9110Section14_2RangesOfAnUnknownLengthAreIgnored) {
  const auto selection =
      select(context_of("bytes=2-5"), {}, *dated()->head, std::nullopt, FakeClock::start);
  EXPECT_EQ(selection.kind, Kind::whole);
}

TEST(Select, NothingIsTheWholeToo) {
  for (const std::string_view range : {"bytes=0-", "bytes=0-0", "bytes=-1"}) {
    const auto selection = select(context_of(range), {}, *whole_of("")->head, 0, FakeClock::start);
    EXPECT_EQ(selection.kind, Kind::whole) << range;
  }
}

TEST(Select, Rfc9110Section14_2OnlyA200HasRanges) {
  http::ResponseHead response;
  response.status = 404;
  response.reason = "Not Found";
  response.fields = fields_of({{"ETag", "\"1\""}});
  const StoredHead head(response, {{}, "cache-0", {}, {}, {}});
  const auto request = fields_of({{"If-None-Match", "\"1\""}});
  const auto selection = select(context_of("bytes=2-5"), request, head, 10, FakeClock::start);
  EXPECT_EQ(selection.kind, Kind::whole);
}

TEST(IsEnough, Rfc9111Section3_3OnlyForWhatLiesInThePart) {
  const auto part = part_of("3456", 3, 10);
  struct Row {
    std::string range;
    http::Fields request;
    bool enough;
  };
  const std::vector<Row> rows{
      {"", {}, false},
      {"bytes=3-6", {}, true},
      {"bytes=4-4", {}, true},
      {"bytes=-1", {}, false},
      {"bytes=6-", {}, false},
      {"bytes=2-3", {}, false},
      {"bytes=6-7", {}, false},
      {"bytes=3-3,6-6", {}, true},
      {"bytes=3-3,7-7", {}, false},
      {"bytes=10-", {}, true},  // 416
      {"bytes=4-4,10-", {}, true},
      {"", fields_of({{"If-None-Match", "\"1\""}}), true},  // 304
      {"bytes=0-", fields_of({{"If-None-Match", "\"1\""}}), true},
      {"", fields_of({{"If-None-Match", "\"2\""}}), false},
      {"bytes=3-6", fields_of({{"If-Range", "\"1\""}}), true},
      {"bytes=3-6", fields_of({{"If-Range", "\"2\""}}), false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(is_enough(*part, context_of(row.range), row.request, FakeClock::start), row.enough)
        << row.range << " " << &row - rows.data();
    EXPECT_TRUE(
        is_enough(*whole_of("0123456789"), context_of(row.range), row.request, FakeClock::start));
  }
  EXPECT_TRUE(is_enough(*part_of("6789", 6, 10), context_of("bytes=-4"), {}, FakeClock::start));
}

// RFC 9110 §14.2: a HEAD has no ranges, and what it says is of the whole.
TEST(IsEnough, APartIsNoAnswerToHead) {
  RequestContext head = context_of("");
  head.method = "HEAD";
  EXPECT_FALSE(is_enough(*part_of("3456", 3, 10), head, {}, FakeClock::start));
  EXPECT_TRUE(is_enough(*whole_of("3456"), head, {}, FakeClock::start));
}

}  // namespace
}  // namespace ringside::cache
