#include "cache/conditional.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/cache/some_fields.h"
#include "tests/support/fake_clock.h"

namespace ringside::cache {
namespace {

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

struct Row {
  http::Fields request;
  http::Fields stored;
  bool not_modified;
};

TEST(NotModified, Rfc9110Section13Point2Point2) {
  const http::Field tag{"ETag", "\"a\""};
  const http::Field changed{"Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"};
  const http::Field date{"Date", "Sun, 06 Nov 1994 08:49:37 GMT"};
  const http::Field since{"If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"};
  const http::Field since_before{"If-Modified-Since", "Sun, 06 Nov 1994 08:49:36 GMT"};
  const auto both = fields_of({tag, changed});
  const std::vector<Row> rows{
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

}  // namespace
}  // namespace ringside::cache
