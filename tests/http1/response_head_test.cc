#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "http1/head_parser.h"

namespace ringside::http {
namespace {

Result<void> parse(const std::string& bytes, ResponseHead& head, std::string_view method = "GET") {
  return parse_response_head(bytes, HeadLimits::defaults(), method, ErrorSource::origin, head);
}

TEST(ResponseHead, Rfc9112Section4ReadsTheStatusLine) {
  struct Row {
    std::string line;
    int status;
    int minor_version;
    std::string reason;
  };
  const std::vector<Row> rows{
      {"HTTP/1.1 200 OK", 200, 1, "OK"},
      {"HTTP/1.0 404 Not Found", 404, 0, "Not Found"},
      {"HTTP/1.1 200", 200, 1, ""},  // the space is due; many origins leave it out
      {"HTTP/1.1 200 ", 200, 1, ""},
      {"HTTP/1.1 599 caf\xc3\xa9\tx", 599, 1, "caf\xc3\xa9\tx"},
      {"HTTP/1.1 100 Continue", 100, 1, "Continue"},
  };
  ResponseHead head;  // one for all: nothing of the one before may stay
  for (const auto& row : rows) {
    const std::string bytes = row.line + "\r\nContent-Length: 3\r\n\r\n";
    const std::string interim = row.line + "\r\n\r\n";
    ASSERT_TRUE(parse(row.status == 100 ? interim : bytes, head)) << row.line;
    EXPECT_EQ(head.status, row.status);
    EXPECT_EQ(head.minor_version, row.minor_version);
    EXPECT_EQ(head.reason, row.reason);
  }
}

TEST(ResponseHead, Rfc9112RefusesWhatCanBeReadInTwoWays) {
  struct Row {
    std::string head;
    std::string message;
    ErrorKind kind = ErrorKind::malformed;
  };
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  const std::string digits = "the status is not three digits";
  const std::string range = "a status outside 100 to 599";
  const std::string no_version = "no HTTP version where one is due";
  const std::string other_version = "an HTTP version other than 1.0 and 1.1";
  const std::vector<Row> rows{
      {"HTTP/1.1 20 OK\r\n\r\n", digits},
      {"HTTP/1.1 2000 OK\r\n\r\n", digits},
      {"HTTP/1.1 2x0 OK\r\n\r\n", digits},
      {"HTTP/1.1 -20 OK\r\n\r\n", digits},
      {"HTTP/1.1  200 OK\r\n\r\n", digits},
      {"HTTP/1.1\r\n\r\n", "no space after the version"},
      {"HTTP/1.1\t200 OK\r\n\r\n", "no space after the version"},
      {"HTTP/1.1 099 OK\r\n\r\n", range},
      {"HTTP/1.1 600 OK\r\n\r\n", range},
      {"HTTP/1.1 999 OK\r\n\r\n", range},
      {"HTTP/1.1 200\tOK\r\n\r\n", "no space after the status"},
      {"HTTP/1.1 200 O\x01K\r\n\r\n", "control byte in the reason of a status line"},
      {"HTTP/1.1 200 OK\n\r\n", "bare LF in the reason of a status line"},
      {"HTTP/1.1 200 O\rK\r\n\r\n", "bare CR in the reason of a status line"},
      {"HTTP/1.1 200\r \r\n\r\n", "bare CR in the end of the status line"},
      {"\r\nHTTP/1.1 200 OK\r\n\r\n", no_version},
      {"HTTP 200 OK\r\n\r\n", no_version},
      {"ICY 200 OK\r\n\r\n", no_version},
      {"http/1.1 200 OK\r\n\r\n", no_version},
      {"", "head without its empty line"},
      {"\r\n", no_version},
      {"HTTP/1.1 200 OK\r\n", "head without its empty line"},
      {"HTTP/2.0 200 OK\r\n\r\n", other_version, ErrorKind::unsupported_version},
      {"HTTP/0.9 200 OK\r\n\r\n", other_version, ErrorKind::unsupported_version},
      {ok + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
       "Content-Length with Transfer-Encoding"},
      {ok + "Content-Length: 5\r\nContent-Length: 5\r\n\r\n", "several Content-Length lines"},
      {ok + "Content-Length: 5, 5\r\n\r\n", "Content-Length is not a number"},
      {ok + "Content-Length: -1\r\n\r\n", "Content-Length is not a number"},
      {ok + "Transfer-Encoding: gzip\r\n\r\n", "chunked is not the final transfer coding"},
      {ok + "Transfer-Encoding: chunked, chunked\r\n\r\n", "chunked more than once"},
      {ok + "Transfer-Encoding: gzip, chunked\r\n\r\n", "a transfer coding other than chunked",
       ErrorKind::unsupported},
      {"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "Transfer-Encoding in HTTP/1.0"},
      {ok + "A: b\r\n c\r\n\r\n", "white space before a field name (obs-fold)"},
      {ok + "A : b\r\n\r\n", "white space before the colon of a field line"},
      {ok + ": b\r\n\r\n", "empty field name"},
      {ok + "A: b\nC: d\r\n\r\n", "bare LF in a field value"},
      {ok + "\r\nbody\r\n", "bytes after the empty line of a head"},
      {"HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\n\r\n", "an interim answer with a body"},
      {"HTTP/1.1 100 Continue\r\nTransfer-Encoding: chunked\r\n\r\n",
       "an interim answer with a body"},
  };
  for (const auto& row : rows) {
    for (const ErrorSource source : {ErrorSource::origin, ErrorSource::peer}) {
      ResponseHead head;
      const auto parsed =
          parse_response_head(row.head, HeadLimits::defaults(), "GET", source, head);
      ASSERT_FALSE(parsed) << row.head;
      EXPECT_EQ(parsed.error().message, row.message) << row.head;
      EXPECT_EQ(parsed.error().kind, row.kind) << row.head;
      EXPECT_EQ(parsed.error().source, source);
    }
  }
}

TEST(ResponseHead, Rfc9112Section6Point3FramingAndPersistence) {
  struct Row {
    std::string method;
    std::string head;
    Framing framing;
    bool keep_alive;
  };
  using Kind = Framing::Kind;
  const std::string length = "Content-Length: 5\r\n";
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  const std::vector<Row> rows{
      {"GET", ok + length, {Kind::length, 5}, true},
      {"GET", ok + "Content-Length: 0\r\n", {Kind::length, 0}, true},
      {"GET", ok + chunked, {Kind::chunked, 0}, true},
      {"GET", ok, {Kind::until_close, 0}, false},
      {"GET", ok + "Connection: keep-alive\r\n", {Kind::until_close, 0}, false},
      {"GET", ok + length + "Connection: close\r\n", {Kind::length, 5}, false},
      {"GET", "HTTP/1.0 200 OK\r\n" + length, {Kind::length, 5}, false},
      {"GET", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n" + length, {Kind::length, 5}, true},
      {"HEAD", ok + length, {Kind::none, 0}, true},
      {"HEAD", ok + chunked, {Kind::none, 0}, true},
      {"HEAD", ok, {Kind::none, 0}, true},
      {"head", ok, {Kind::until_close, 0}, false},
      {"GET", "HTTP/1.1 304 Not Modified\r\n" + length, {Kind::none, 0}, true},
      {"GET", "HTTP/1.1 204 No Content\r\n", {Kind::none, 0}, true},
      {"GET", "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n", {Kind::none, 0}, true},
      {"GET", "HTTP/1.1 204 No Content\r\n" + length, {Kind::none, 0}, false},
      {"GET", "HTTP/1.1 204 No Content\r\n" + chunked, {Kind::none, 0}, false},
      {"GET", "HTTP/1.1 103 Early Hints\r\n", {Kind::none, 0}, true},
      {"GET", "HTTP/1.1 103 Early Hints\r\nContent-Length: 0\r\n", {Kind::none, 0}, true},
  };
  ResponseHead head;  // one for all: nothing of the one before may stay
  for (const auto& row : rows) {
    const std::string bytes = row.head + "\r\n";
    ASSERT_TRUE(parse(bytes, head, row.method)) << row.head;
    EXPECT_EQ(head.framing.kind, row.framing.kind) << row.method << " " << row.head;
    EXPECT_EQ(head.framing.length_bytes, row.framing.length_bytes) << row.head;
    EXPECT_EQ(head.keep_alive, row.keep_alive) << row.method << " " << row.head;
  }
}

TEST(ResponseHead, KeepsItsFieldsInOrder) {
  ResponseHead head;
  const std::string bytes =
      "HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 1\r\nSet-Cookie: c=d\r\n\r\n";
  ASSERT_TRUE(parse(bytes, head));
  EXPECT_EQ(head.fields.combined("set-cookie"), "a=b, c=d");
  EXPECT_EQ(head.fields.size(), 3u);
}

}  // namespace
}  // namespace ringside::http
