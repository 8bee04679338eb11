#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/limits.h"
#include "http1/head_parser.h"

namespace ringside::http {
namespace {

using namespace std::string_literals;

// What find_head_end says after each byte, with what was seen before counted as searched.
std::string verdict_byte_by_byte(const std::string& bytes, const HeadLimits& limits,
                                 ErrorSource source) {
  for (std::size_t size = 1; size <= bytes.size(); ++size) {
    const auto found =
        find_head_end(std::string_view(bytes).substr(0, size), size - 1, limits, source);
    if (!found) return found.error().message + " after " + std::to_string(size);
    if (*found) return "end at " + std::to_string(**found) + " after " + std::to_string(size);
  }
  return "incomplete";
}

struct HeadEndRow {
  std::string bytes;
  std::string verdict;
};

TEST(FindHeadEnd, Rfc9112Section2Point2AsSoonAsKnown) {
  const std::vector<HeadEndRow> rows{
      {"GET / HTTP/1.1\r\nA: b\r\n\r\nbody", "end at 24 after 24"},
      {"GET / HTTP/1.1\r\n\r\n", "end at 18 after 18"},
      {"\r\nG\r\n\r\n", "end at 7 after 7"},
      {"GET / HTTP/1.1\r\nA: b\r\n", "incomplete"},
      {"GET / HTTP/1.1\r\nA: b\r\n\r", "incomplete"},
      {"\r\n", "incomplete"},
      {"GET /\nA: b\r\n\r\n", "bare LF in a head after 6"},
      {"GET / HTTP/1.1\r\n\n", "bare LF in a head after 17"},
      {"\n", "bare LF in a head after 1"},
      {"G\0ET"s, "NUL in a head after 2"},
      {"\r\n\r\n", "more than one empty line before the request line after 4"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(verdict_byte_by_byte(row.bytes, HeadLimits::defaults(), ErrorSource::client),
              row.verdict)
        << row.bytes;
  }
  EXPECT_EQ(verdict_byte_by_byte("\r\nHTTP", HeadLimits::defaults(), ErrorSource::origin),
            "empty line before the status line after 2");
}

TEST(FindHeadEnd, Rfc9112Section2Point3HoldsItsLimits) {
  const HeadLimits limits{50, 20, 100};
  const std::string line(20, 'a');
  const std::vector<HeadEndRow> rows{
      {line + "\r\n" + std::string(24, 'b') + "\r\n\r\n", "end at 50 after 50"},
      {line + "\r\n" + std::string(25, 'b') + "\r\n\r\n", "head too large after 50"},
      {line + "\r\n" + std::string(99, 'b'), "head too large after 50"},
      {line + "c\r\n\r\n", "request line too long after 22"},
      {"\r\n" + line + "\r\n\r\n", "end at 26 after 26"},
      {"\r\n" + line + "c\r\n\r\n", "request line too long after 24"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(verdict_byte_by_byte(row.bytes, limits, ErrorSource::client), row.verdict);
  }
  // A status line has no limit of its own.
  EXPECT_EQ(verdict_byte_by_byte(line + "c\r\n\r\n", limits, ErrorSource::origin),
            "end at 25 after 25");
}

TEST(FindHeadEnd, SaysTheSameInAnyTwoCuts) {
  const HeadLimits limits{60, 30, 100};
  const std::vector<std::string> inputs{
      "GET / HTTP/1.1\r\nA: b\r\nC: d\r\n\r\nmore\r\n\r\n",
      "\r\nGET / HTTP/1.1\r\nA: b\r\n\r\n",
      "GET / HTTP/1.1\r\nA: b\nC: d\r\n\r\n",
      "\r\n\r\nGET / HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\r\n" + std::string(80, 'a') + "\r\n\r\n",
      "GET /" + std::string(50, 'a'),
  };
  const auto text = [](const Result<std::optional<std::size_t>>& found) {
    if (!found) return found.error().message;
    return *found ? std::to_string(**found) : std::string("incomplete");
  };
  for (const auto& input : inputs) {
    const std::string whole = text(find_head_end(input, 0, limits, ErrorSource::client));
    for (std::size_t cut = 0; cut <= input.size(); ++cut) {
      const auto first =
          find_head_end(std::string_view(input).substr(0, cut), 0, limits, ErrorSource::client);
      const bool goes_on = first.has_value() && !first->has_value();
      const auto last = find_head_end(input, cut, limits, ErrorSource::client);
      EXPECT_EQ(goes_on ? text(last) : text(first), whole) << input << " cut at " << cut;
    }
  }
}

// The fuzzer's find: whole, these were a head (or another fault); cut, they were refused earlier.
TEST(FindHeadEnd, AFaultWasJudgedByTheCutsInWhichItCame) {
  const HeadLimits limits{200, 20, 100};
  const std::string too_long = "GET /" + std::string(30, 'a');
  struct Row {
    std::string bytes;
    ErrorKind kind;
  };
  const std::vector<Row> rows{
      {"GET / HTTP/2.0\r\nA: \0\r\n\r\n"s, ErrorKind::malformed},
      {too_long + " HTTP/1.1\r\n\r\n", ErrorKind::target_too_long},
      {too_long + "\n", ErrorKind::target_too_long},
      {too_long + "\0"s, ErrorKind::target_too_long},
      {"GET \0"s + too_long, ErrorKind::malformed},
  };
  for (const auto& row : rows) {
    const auto whole = find_head_end(row.bytes, 0, limits, ErrorSource::client);
    ASSERT_FALSE(whole) << row.bytes;
    EXPECT_EQ(whole.error().kind, row.kind) << row.bytes;
    const std::string cut = verdict_byte_by_byte(row.bytes, limits, ErrorSource::client);
    EXPECT_TRUE(cut.starts_with(whole.error().message)) << row.bytes << ": " << cut;
  }
}

TEST(RequestHead, Rfc9112Section2Point3HoldsItsLimits) {
  const HeadLimits limits{200, 40, 3};
  const auto parse = [&limits](const std::string& bytes) {
    RequestHead head;
    const auto parsed = parse_request_head(bytes, limits, head);
    return parsed ? "accepted" : std::string(name(parsed.error().kind));
  };
  const auto line = [](std::size_t size_bytes) {
    return "GET /" + std::string(size_bytes - 14, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n";
  };
  EXPECT_EQ(parse(line(40)), "accepted");
  EXPECT_EQ(parse(line(41)), "target_too_long");
  EXPECT_EQ(parse("\r\n" + line(40)), "accepted");
  EXPECT_EQ(parse("GET / HTTP/1.1\r\nHost: a\r\nb:\r\nc:\r\n\r\n"), "accepted");
  EXPECT_EQ(parse("GET / HTTP/1.1\r\nHost: a\r\nb:\r\nc:\r\nd:\r\n\r\n"), "head_too_large");
  const std::string start = "GET / HTTP/1.1\r\nHost: a\r\nb:";
  EXPECT_EQ(parse(start + std::string(200 - start.size() - 4, 'b') + "\r\n\r\n"), "accepted");
  EXPECT_EQ(parse(start + std::string(201 - start.size() - 4, 'b') + "\r\n\r\n"), "head_too_large");
}

TEST(Methods, Rfc9110Section9Point2Properties) {
  struct Row {
    std::string_view method;
    bool safe;
    bool idempotent;
  };
  for (const auto& row : std::vector<Row>{{"GET", true, true},
                                          {"HEAD", true, true},
                                          {"OPTIONS", true, true},
                                          {"TRACE", true, true},
                                          {"PUT", false, true},
                                          {"DELETE", false, true},
                                          {"POST", false, false},
                                          {"PATCH", false, false},
                                          {"get", false, false},
                                          {"", false, false}}) {
    EXPECT_EQ(is_safe(row.method), row.safe) << row.method;
    EXPECT_EQ(is_idempotent(row.method), row.idempotent) << row.method;
  }
}

// A list of 32 KiB was looked through for each field: a quarter of a second a request.
TEST(RequestHead, AConnectionWithTooManyOptionsIsRefused) {
  for (const unsigned options : {limits::connection_options, limits::connection_options + 1}) {
    std::string list = "a";
    for (unsigned count = 1; count < options; ++count) list += ", b";
    RequestHead head;
    const std::string bytes = "GET / HTTP/1.1\r\nHost: a\r\nConnection: " + list + "\r\n\r\n";
    const auto parsed = parse_request_head(bytes, HeadLimits::defaults(), head);
    EXPECT_EQ(parsed.has_value(), options == limits::connection_options);
  }
}

}  // namespace
}  // namespace ringside::http
