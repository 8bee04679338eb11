#include "replay/access_log.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/limits.h"
#include "hop/access_record.h"

namespace ringside::replay {
namespace {

const std::string tail = R"( 200 512 "http://example.com/" "Mozilla/5.0")";

std::string line_with(const std::string& request) {
  return R"(192.0.2.7 - - [17/May/2015:10:05:03 +0000] ")" + request + "\"" + tail;
}

struct Good {
  const char* name;
  std::string line;
  const char* client;
  const char* method;
  const char* target;
};

TEST(ParseLogLine, TakesTheRequestAndItsClient) {
  const Good table[] = {
      {"combined", line_with("GET /a?b=c HTTP/1.1"), "192.0.2.7", "GET", "/a?b=c"},
      {"IPv6", R"(2001:db8::7 - - [x] "GET / HTTP/1.1" 200 5 "-" "-")", "2001:db8::7", "GET", "/"},
      {"common, no referer", R"(192.0.2.7 - frank [x] "HEAD /x HTTP/1.0" 200 -)", "192.0.2.7",
       "HEAD", "/x"},
      {"HTTP/0.9", line_with("GET /old"), "192.0.2.7", "GET", "/old"},
      {"escaped quotes", line_with(R"(GET /say?\"hi\" HTTP/1.1)"), "192.0.2.7", "GET",
       "/say?\"hi\""},
      {"escaped byte", line_with(R"(GET /caf\xc3\xa9 HTTP/1.1)"), "192.0.2.7", "GET",
       "/caf\xc3\xa9"},
      {"absolute form", line_with("GET http://example.com/a HTTP/1.1"), "192.0.2.7", "GET",
       "http://example.com/a"},
      {"any method", line_with("PROPFIND /dav HTTP/1.1"), "192.0.2.7", "PROPFIND", "/dav"},
      {"bracket in the time's place only", line_with("GET /a[1] HTTP/1.1"), "192.0.2.7", "GET",
       "/a[1]"},
      // A line of a real log: cut within the user agent.
      {"user agent without an end",
       R"(46.118.127.106 - - [x] "GET /c.py HTTP/1.1" 200 235 "-" "Mozilla/5.0 (compatible)",
       "46.118.127.106", "GET", "/c.py"},
  };
  for (const Good& row : table) {
    const auto request = parse_log_line(row.line);
    ASSERT_TRUE(request.has_value()) << row.name << ": " << request.error().message;
    EXPECT_EQ(request->client.text(), row.client) << row.name;
    EXPECT_EQ(request->method, row.method) << row.name;
    EXPECT_EQ(request->target, row.target) << row.name;
  }
}

struct Bad {
  const char* name;
  std::string line;
  const char* why;  // a part of the message
};

TEST(ParseLogLine, SaysWhyThereIsNothingToReplay) {
  const Bad table[] = {
      {"empty", "", "no client address"},
      {"prose", "this is no log", "[time]"},
      {"no time", R"(192.0.2.7 - - "GET / HTTP/1.1" 200 5)", "[time]"},
      {"no closing quote", R"(192.0.2.7 - - [x] "GET / HTTP/1.1 200 5)", "\"request\""},
      {"ends in a backslash", R"(192.0.2.7 - - [x] "GET / \)", "\"request\""},
      {"no status", R"(192.0.2.7 - - [x] "GET / HTTP/1.1" abc 5)", "status"},
      {"short status", R"(192.0.2.7 - - [x] "GET / HTTP/1.1" 20 5)", "status"},
      {"no size", R"(192.0.2.7 - - [x] "GET / HTTP/1.1" 200)", "size"},
      {"host name", R"(crawl.example.com - - [x] "GET / HTTP/1.1" 200 5)", "no IP address"},
      {"no request", line_with("-"), "sent no request"},
      {"TLS", line_with(R"(\x16\x03\x01\x02)"), "no HTTP request"},
      {"raw binary", line_with("\x16\x03\x01"), "no HTTP request"},
      {"no target", line_with("GET"), "no target"},
      {"empty target", line_with("GET  HTTP/1.1"), "HTTP can't carry"},
      {"space", line_with("GET /a b HTTP/1.1"), "HTTP can't carry"},
      {"line break smuggled in", line_with(R"(GET /a\r\nX:\x20y HTTP/1.1)"), "HTTP can't carry"},
      {"no path", line_with("GET a HTTP/1.1"), "neither a path nor a URL"},
      {"tunnel", line_with("CONNECT example.com:443 HTTP/1.1"), "tunnel"},
      {"too long", line_with("GET /" + std::string(limits::request_line_size_bytes, 'a')),
       "too long"},
  };
  for (const Bad& row : table) {
    const auto request = parse_log_line(row.line);
    ASSERT_FALSE(request.has_value()) << row.name;
    EXPECT_NE(request.error().message.find(row.why), std::string::npos)
        << row.name << ": " << request.error().message;
  }
}

TEST(ParseLogLine, ReadsTheProgramsOwnLog) {
  hop::AccessRecord record;
  const auto written = [&record](const std::string& target) {
    http::RequestHead head;
    head.method = "GET";
    head.target = target;
    head.fields.add("User-Agent", "\" 200 5 \\");
    record.begin(TimePoint(Seconds(1'500'000'000)), *IpAddress::parse("2001:db8::7"), &head);
    record.status = 200;
    record.end("hit", "GB", std::chrono::microseconds(250), 512);
    std::string line;
    hop::append_log_line(line, record);
    EXPECT_TRUE(line.ends_with("country=GB\n"));
    line.pop_back();
    return parse_log_line(line);
  };
  for (const std::string target : {"/", "/a?b=c", "/say?\"hi\"\\", "/caf\xc3\xa9", "*",
                                   "http://example.com/a", "/a[1]\\x41"}) {
    const auto request = written(target);
    ASSERT_TRUE(request) << target << ": " << request.error().message;
    EXPECT_EQ(request->client.text(), "2001:db8::7");
    EXPECT_EQ(request->method, "GET");
    EXPECT_EQ(request->target, target);
  }
  // What was cut would be another request.
  const auto cut = written("/" + std::string(limits::access_log_field_size_bytes, 'a'));
  ASSERT_FALSE(cut);
  EXPECT_NE(cut.error().message.find("HTTP can't carry"), std::string::npos);
}

TEST(ReadAccessLog, NumbersLinesAndSkipsJunk) {
  std::istringstream in(line_with("GET /1 HTTP/1.1") + "\r\n\n" + "junk\n" +
                        std::string(limits::replay_line_size_bytes + 1, 'x') + "\n" +
                        line_with("-") + "\n" + line_with("GET /6 HTTP/1.1"));
  const auto log = read_access_log(in, "test.log", 0);
  ASSERT_TRUE(log.has_value()) << log.error().message;
  ASSERT_EQ(log->requests.size(), 2U);
  EXPECT_EQ(log->requests[0].line, 1U);
  EXPECT_EQ(log->requests[1].target, "/6");
  EXPECT_EQ(log->requests[1].line, 6U);
  EXPECT_EQ(log->lines, 6U);
  EXPECT_EQ(log->skipped, 3U);
  ASSERT_EQ(log->first_skipped.size(), 3U);
  EXPECT_EQ(log->first_skipped[0].line, 3U);
  EXPECT_EQ(log->first_skipped[1].line, 4U);
  EXPECT_NE(log->first_skipped[1].why.find("longer than"), std::string::npos);
  EXPECT_EQ(log->first_skipped[2].line, 5U);
}

TEST(ReadAccessLog, ALineOfExactlyTheLimitIsRead) {
  std::string line = line_with("GET /1 HTTP/1.1");
  line += std::string(limits::replay_line_size_bytes - line.size(), 'x');
  std::istringstream in(line + "\n" + line);
  const auto log = read_access_log(in, "test.log", 0);
  ASSERT_TRUE(log.has_value());
  EXPECT_EQ(log->requests.size(), 2U);
  EXPECT_EQ(log->skipped, 0U);
}

TEST(ReadAccessLog, NamesOnlyTheFirstSkipped) {
  std::string text = line_with("GET / HTTP/1.1") + "\n";
  for (std::size_t i = 0; i < limits::replay_skipped_shown + 3; ++i) text += "junk\n";
  std::istringstream in(text);
  const auto log = read_access_log(in, "test.log", 0);
  ASSERT_TRUE(log.has_value());
  EXPECT_EQ(log->skipped, limits::replay_skipped_shown + 3);
  EXPECT_EQ(log->first_skipped.size(), limits::replay_skipped_shown);
}

TEST(ReadAccessLog, StopsAtTheLimit) {
  std::istringstream in(line_with("GET /1 HTTP/1.1") + "\n" + line_with("GET /2 HTTP/1.1") + "\n");
  const auto log = read_access_log(in, "test.log", 1);
  ASSERT_TRUE(log.has_value());
  EXPECT_EQ(log->requests.size(), 1U);
}

TEST(ReadAccessLog, WhatIsNoLogIsRefusedWithItsFirstLine) {
  std::istringstream in("\n{\"json\": true}\n");
  const auto log = read_access_log(in, "test.log", 0);
  ASSERT_FALSE(log.has_value());
  EXPECT_NE(log.error().message.find("test.log"), std::string::npos);
  EXPECT_NE(log.error().message.find("line 2"), std::string::npos);
  std::istringstream empty;
  EXPECT_FALSE(read_access_log(empty, "test.log", 0).has_value());
}

TEST(ReadAccessLog, AMissingFileAndAFolderAreNamed) {
  for (const std::string path : {"/nonexistent/access.log", "/"}) {
    const auto log = read_access_log(path, 0);
    ASSERT_FALSE(log.has_value()) << path;
    EXPECT_NE(log.error().message.find(path), std::string::npos) << log.error().message;
  }
}

}  // namespace
}  // namespace ringside::replay
