#include "http/byte_range.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "base/limits.h"

namespace ringside::http {

static std::ostream& operator<<(std::ostream& out, const ByteSpan& span) {
  return out << span.first << '-' << span.last;
}

namespace {

constexpr std::uint64_t kMost = UINT64_MAX;

// The set as range_text has it; empty: the field is to be ignored.
std::string understood(std::string_view value) {
  const auto ranges = parse_range(value);
  return ranges ? range_text(*ranges) : "";
}

struct Text {
  std::string value;
  std::string expected;
};

void expect_understood(const std::vector<Text>& rows) {
  for (const Text& row : rows) EXPECT_EQ(understood(row.value), row.expected) << row.value;
}

TEST(RangeTest, Rfc9110Section14Point1Point2TakesTheThreeForms) {
  const auto ranges = parse_range("bytes=0-499,500-,-5");
  ASSERT_TRUE(ranges);
  const std::vector<RangeSpec> specs{{0, 499}, {500, std::nullopt}, {std::nullopt, 5}};
  EXPECT_EQ(ranges->specs, specs);
}

TEST(RangeTest, Rfc9110Section14Point1Point1TakesAnyListOfRanges) {
  expect_understood({
      {"bytes=0-0", "bytes=0-0"},
      {"bytes=9-", "bytes=9-"},
      {"bytes=-0", "bytes=-0"},
      {"bytes=007-08", "bytes=7-8"},
      {"bytes=5-6,0-1", "bytes=5-6,0-1"},
      {"bytes=1-2,1-2", "bytes=1-2,1-2"},
      {"bytes= 0-1 ,\t2-3 ", "bytes=0-1,2-3"},
      {"bytes=,,0-1, ,-2,", "bytes=0-1,-2"},
      {"bytes=0-18446744073709551614", "bytes=0-18446744073709551614"},
  });
}

TEST(RangeTest, Rfc9110Section14Point1ComparesTheUnitInAnyCase) {
  expect_understood({
      {"Bytes=0-1", "bytes=0-1"},
      {"BYTES=0-1", "bytes=0-1"},
      {"bites=0-1", ""},
      {"byte=0-1", ""},
      {"bytess=0-1", ""},
      {"lines=0-1", ""},
      {"none", ""},
  });
}

TEST(RangeTest, Rfc9110Section14Point2IgnoresWhatIsMalformed) {
  for (const auto* value : {"",
                            "bytes",
                            "bytes=",
                            "bytes=,",
                            "bytes= ,\t",
                            "=0-1",
                            "bytes=-",
                            "bytes=1",
                            "bytes=a-1",
                            "bytes=1-a",
                            "bytes=1-2-3",
                            "bytes=--1",
                            "bytes=1--",
                            "bytes=+1-2",
                            "bytes=0x1-2",
                            "bytes=1 - 2",
                            "bytes=1 -2",
                            "bytes=1- 2",
                            "bytes =0-1",
                            " bytes=0-1",
                            "bytes:0-1",
                            "bytes 0-1",
                            "bytes=0-1;2-3",
                            "bytes=0-1 2-3",
                            "bytes=\"0-1\"",
                            "bytes=0-1,x",
                            "bytes=*",
                            "bytes=0-*",
                            "bytes=0-1/2",
                            "bytes=0-1, bytes=2-3"}) {
    EXPECT_FALSE(parse_range(value)) << value;
  }
  EXPECT_FALSE(parse_range(std::string_view("bytes=0-1\0", 10)));
}

TEST(RangeTest, Rfc9110Section14Point1Point2OneRangeBackwardsMakesAllInvalid) {
  expect_understood({
      {"bytes=1-0", ""},
      {"bytes=0-1,500-400", ""},
      {"bytes=500-400,0-1", ""},
      {"bytes=10-9", ""},
      {"bytes=18446744073709551614-18446744073709551613", ""},
  });
}

TEST(RangeTest, Rfc9110Section14Point1Point2NumbersBeyond64BitsAreTheLargest) {
  expect_understood({
      {"bytes=0-18446744073709551615", "bytes=0-18446744073709551615"},
      {"bytes=0-18446744073709551616", "bytes=0-18446744073709551615"},
      {"bytes=-18446744073709551625", "bytes=-18446744073709551615"},
      {"bytes=0-" + std::string(200, '9'), "bytes=0-18446744073709551615"},
      {"bytes=" + std::string(200, '9') + "-", "bytes=18446744073709551615-"},
      {"bytes=" + std::string(200, '9') + "-5", ""},
      {"bytes=0-" + std::string(200, '0') + "5", "bytes=0-5"},
  });
}

TEST(RangeTest, Rfc9110Section14Point2IgnoresMoreRangesThanTheLimit) {
  std::string value = "bytes=,,0-0";
  for (std::size_t i = 1; i < limits::ranges_per_request; ++i) value += ", ,0-0";
  ASSERT_TRUE(parse_range(value));
  EXPECT_EQ(parse_range(value)->specs.size(), limits::ranges_per_request);
  EXPECT_TRUE(parse_range(value + ", ,"));
  EXPECT_FALSE(parse_range(value + ",0-0"));
}

TEST(RangeTest, TextIsOneForAllSpellingsAndTellsOrdersApart) {
  EXPECT_EQ(understood("Bytes= 00-1,, -03"), understood("bytes=0-1,-3"));
  EXPECT_NE(understood("bytes=0-1,5-6"), understood("bytes=5-6,0-1"));
  EXPECT_NE(understood("bytes=5-"), understood("bytes=-5"));
}

struct Resolution {
  std::string value;
  std::uint64_t length;
  std::vector<ByteSpan> spans;
};

void expect_resolved(const std::vector<Resolution>& rows) {
  for (const Resolution& row : rows) {
    const auto ranges = parse_range(row.value);
    ASSERT_TRUE(ranges) << row.value;
    EXPECT_EQ(resolve(*ranges, row.length), row.spans) << row.value << " of " << row.length;
  }
}

TEST(ResolveTest, Rfc9110Section14Point1Point2CutsRangesAtTheEnd) {
  expect_resolved({
      {"bytes=0-499", 10'000, {{0, 499}}},
      {"bytes=500-999", 10'000, {{500, 999}}},
      {"bytes=9500-", 10'000, {{9500, 9999}}},
      {"bytes=9500-20000", 10'000, {{9500, 9999}}},
      {"bytes=0-0", 1, {{0, 0}}},
      {"bytes=0-", 1, {{0, 0}}},
      {"bytes=9-18446744073709551615", 10, {{9, 9}}},
      {"bytes=0-18446744073709551615", kMost, {{0, kMost - 1}}},
      {"bytes=18446744073709551614-", kMost, {{kMost - 1, kMost - 1}}},
  });
}

TEST(ResolveTest, Rfc9110Section14Point1Point2SuffixLongerThanTheObjectIsTheObject) {
  expect_resolved({
      {"bytes=-500", 10'000, {{9500, 9999}}},
      {"bytes=-1", 10, {{9, 9}}},
      {"bytes=-10", 10, {{0, 9}}},
      {"bytes=-11", 10, {{0, 9}}},
      {"bytes=-18446744073709551615", 10, {{0, 9}}},
      {"bytes=-18446744073709551615", kMost, {{0, kMost - 1}}},
  });
}

TEST(ResolveTest, Rfc9110Section14Point1Point2WhatCannotBeSatisfiedIsLeftOut) {
  expect_resolved({
      {"bytes=10-", 10, {}},
      {"bytes=10-11", 10, {}},
      {"bytes=-0", 10, {}},
      {"bytes=18446744073709551615-", kMost, {}},
      {"bytes=0-", 0, {}},
      {"bytes=0-0", 0, {}},
      {"bytes=-1", 0, {}},
      {"bytes=10-,-0,2-3,99-100", 10, {{2, 3}}},
  });
}

TEST(ResolveTest, Rfc9110Section15Point3Point7Point2KeepsTheOrderOfTheRequest) {
  expect_resolved({
      {"bytes=8-9,0-1,4-5", 10, {{8, 9}, {0, 1}, {4, 5}}},
      {"bytes=-1,0-0", 10, {{9, 9}, {0, 0}}},
      {"bytes=0-0,2-2", 10, {{0, 0}, {2, 2}}},  // one byte lies between them
  });
}

TEST(ResolveTest, Rfc9110Section15Point3Point7Point2RangesThatMeetBecomeOne) {
  expect_resolved({
      {"bytes=0-1,2-3", 10, {{0, 3}}},
      {"bytes=2-3,0-1", 10, {{0, 3}}},
      {"bytes=0-5,3-9", 20, {{0, 9}}},
      {"bytes=0-9,3-4", 20, {{0, 9}}},
      {"bytes=3-4,0-9", 20, {{0, 9}}},
      {"bytes=5-6,5-6,5-6", 20, {{5, 6}}},
      {"bytes=0-,-5", 20, {{0, 19}}},
      // At the place of the first of them.
      {"bytes=0-1,8-9,2-3", 10, {{0, 3}, {8, 9}}},
      {"bytes=8-9,0-1,5-5,7-7", 10, {{7, 9}, {0, 1}, {5, 5}}},
      // One that closes the gaps between several.
      {"bytes=0-1,15-16,4-5,8-9,2-7", 20, {{0, 9}, {15, 16}}},
      {"bytes=15-16,8-9,4-5,0-1,0-9", 20, {{15, 16}, {0, 9}}},
      {"bytes=2-3,0-0,6-6,-20", 20, {{0, 19}}},
      {"bytes=0-18446744073709551614,0-0", kMost, {{0, kMost - 1}}},
  });
}

TEST(ResolveTest, Rfc9110Section17Point15TheSameBytesOverAndOverAreSentOnce) {
  std::string value = "bytes=0-";
  for (std::size_t i = 1; i < limits::ranges_per_request; ++i) value += ",0-";
  expect_resolved({{value, 1000, {{0, 999}}}});
}

TEST(ContentRangeTest, Rfc9110Section14Point4TakesTheThreeForms) {
  const std::vector<std::pair<std::string, ContentRange>> rows{
      {"bytes 0-0/1", {ByteSpan{0, 0}, 1}},
      {"bytes 42-1233/1234", {ByteSpan{42, 1233}, 1234}},
      {"bytes 42-1233/*", {ByteSpan{42, 1233}, std::nullopt}},
      {"bytes */1234", {std::nullopt, 1234}},
      {"bytes */0", {std::nullopt, 0}},
      {"BYTES 0-1/02", {ByteSpan{0, 1}, 2}},
      {"bytes 0-18446744073709551613/18446744073709551614", {ByteSpan{0, kMost - 2}, kMost - 1}},
      {"bytes 0-18446744073709551614/*", {ByteSpan{0, kMost - 1}, std::nullopt}},
  };
  for (const auto& [value, expected] : rows) {
    EXPECT_EQ(parse_content_range(value), expected) << value;
  }
}

TEST(ContentRangeTest, Rfc9110Section14Point4RefusesWhatIsInvalid) {
  for (const auto* value : {"",
                            "bytes",
                            "bytes ",
                            "bytes 0-1",
                            "bytes 0-1/",
                            "bytes /2",
                            "bytes */*",
                            "bytes *",
                            "bytes=0-1/2",
                            "bytes  0-1/2",
                            "bytes\t0-1/2",
                            " bytes 0-1/2",
                            "bytes 0-1/2 ",
                            "bytes 0 - 1/2",
                            "bytes 0-1 / 2",
                            "bytes 0-/2",
                            "bytes -1/2",
                            "bytes -/2",
                            "bytes 1-0/2",
                            "bytes 1-0/*",
                            "bytes 0-2/2",
                            "bytes 0-1/1",
                            "bytes 0-0/0",
                            "bytes 5-6/5",
                            "bytes 0-1/+2",
                            "bytes 0-1/2/3",
                            "bytes 0-1,2-3/4",
                            "bytes a-b/c",
                            "bytes 0-1/x",
                            "bytes x/2",
                            "bytes **/2",
                            "lines 0-1/2",
                            "bytess 0-1/2"}) {
    EXPECT_FALSE(parse_content_range(value)) << value;
  }
}

TEST(ContentRangeTest, Rfc9110Section14Point4RefusesNumbersBeyond64Bits) {
  for (const auto* value :
       {"bytes 0-18446744073709551615/*", "bytes 0-18446744073709551616/*",
        "bytes 0-1/18446744073709551615", "bytes 0-1/18446744073709551616",
        "bytes */99999999999999999999999", "bytes 99999999999999999999-99999999999999999999/*"}) {
    EXPECT_FALSE(parse_content_range(value)) << value;
  }
}

TEST(ContentRangeTest, Rfc9110Section14Point4IsWritten) {
  EXPECT_EQ(content_range_text({42, 1233}, 1234), "bytes 42-1233/1234");
  EXPECT_EQ(content_range_text({42, 1233}, std::nullopt), "bytes 42-1233/*");
  EXPECT_EQ(unsatisfied_range_text(47'022), "bytes */47022");
  EXPECT_EQ(unsatisfied_range_text(0), "bytes */0");
}

TEST(ByteSpanTest, SizeCountsBothEnds) {
  EXPECT_EQ((ByteSpan{0, 0}.size()), 1u);
  EXPECT_EQ((ByteSpan{5, 9}.size()), 5u);
  EXPECT_EQ((ByteSpan{0, kMost - 1}.size()), kMost);
}

}  // namespace
}  // namespace ringside::http
