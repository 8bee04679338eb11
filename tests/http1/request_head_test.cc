#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "http1/head_parser.h"

namespace ringside::http {
namespace {

using namespace std::string_literals;

constexpr std::string_view kHost = "Host: a.example\r\n";

std::string get(std::string_view fields) {
  return std::string("GET / HTTP/1.1\r\n").append(kHost).append(fields).append("\r\n");
}

struct Refusal {
  std::string head;
  std::string message;
  ErrorKind kind = ErrorKind::malformed;
};

void expect_refused(const std::vector<Refusal>& rows) {
  for (const auto& row : rows) {
    RequestHead head;
    const auto parsed = parse_request_head(row.head, HeadLimits::defaults(), head);
    ASSERT_FALSE(parsed) << row.head;
    EXPECT_EQ(parsed.error().message, row.message) << row.head;
    EXPECT_EQ(name(parsed.error().kind), name(row.kind)) << row.head;
    EXPECT_EQ(parsed.error().source, ErrorSource::client);
    EXPECT_EQ(parsed.error().retry, Retry::no);
  }
}

RequestHead accepted(const std::string& bytes) {
  RequestHead head;
  const auto parsed = parse_request_head(bytes, HeadLimits::defaults(), head);
  EXPECT_TRUE(parsed) << bytes << parsed.error().message;
  return head;
}

void expect_lines(const Fields& fields,
                  const std::vector<std::pair<std::string_view, std::string_view>>& lines) {
  ASSERT_EQ(fields.size(), lines.size());
  std::size_t i = 0;
  for (const Field& field : fields) {
    EXPECT_EQ(field.name, lines[i].first);
    EXPECT_EQ(field.value, lines[i].second);
    ++i;
  }
}

TEST(RequestHead, Rfc9112Section3ReadsTheRequestLineAndFields) {
  const std::string bytes =
      "POST /a/b?c=d HTTP/1.1\r\nHost: a.example:8080\r\nX-Empty:\r\nX-Spaces: \t one\ttwo  \t\r\n"
      "X-Text: caf\xc3\xa9 \"quoted, text\"; and more of it\r\nContent-Length: 12\r\n\r\n";
  const RequestHead head = accepted(bytes);
  EXPECT_EQ(head.method, "POST");
  EXPECT_EQ(head.target, "/a/b?c=d");
  EXPECT_EQ(head.host, "a.example:8080");
  EXPECT_EQ(head.minor_version, 1);
  EXPECT_EQ(head.framing.kind, Framing::Kind::length);
  EXPECT_EQ(head.framing.length_bytes, 12u);
  EXPECT_TRUE(head.keep_alive);
  EXPECT_FALSE(head.expects_continue);
  expect_lines(head.fields, {{"Host", "a.example:8080"},
                             {"X-Empty", ""},
                             {"X-Spaces", "one\ttwo"},
                             {"X-Text", "caf\xc3\xa9 \"quoted, text\"; and more of it"},
                             {"Content-Length", "12"}});
  EXPECT_GE(head.method.data(), bytes.data());
  EXPECT_LT(head.method.data(), bytes.data() + bytes.size());
}

TEST(RequestHead, IsReusedWithoutTracesOfTheOneBefore) {
  RequestHead head;
  const std::string first =
      "PUT http://b.example/ HTTP/1.1\r\nHost: a.example\r\nExpect: 100-continue\r\n"
      "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string second = "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
  ASSERT_TRUE(parse_request_head(first, HeadLimits::defaults(), head));
  EXPECT_EQ(head.framing.kind, Framing::Kind::chunked);
  EXPECT_TRUE(head.expects_continue);
  EXPECT_FALSE(head.keep_alive);
  ASSERT_TRUE(parse_request_head(second, HeadLimits::defaults(), head));
  EXPECT_EQ(head.framing.kind, Framing::Kind::none);
  EXPECT_EQ(head.host, default_host);
  EXPECT_EQ(head.fields.size(), 1u);
  EXPECT_EQ(head.minor_version, 0);
  EXPECT_FALSE(head.expects_continue);
  EXPECT_TRUE(head.keep_alive);
}

TEST(RequestHead, Rfc9112Section6RefusesAmbiguousFraming) {
  const std::string not_a_number = "Content-Length is not a number";
  const std::string several = "several Content-Length lines";
  const std::string both = "Content-Length with Transfer-Encoding";
  const std::string no_list = "Transfer-Encoding is not a list of codings";
  const std::string not_final = "chunked is not the final transfer coding";
  const std::string twice = "chunked more than once";
  const std::string unknown = "a transfer coding other than chunked";
  expect_refused({
      {get("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), both},
      {get("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n"), both},
      {get("Content-Length: 5\r\nContent-Length: 6\r\n"), several},
      {get("Content-Length: 5\r\nContent-Length: 5\r\n"), several},
      {get("Content-Length: 5\r\ncontent-length: 5\r\n"), several},
      {get("Content-Length: 5, 6\r\n"), not_a_number},
      {get("Content-Length: 5, 5\r\n"), not_a_number},
      {get("Content-Length: 5,\r\n"), not_a_number},
      {get("Content-Length: +5\r\n"), not_a_number},
      {get("Content-Length: -5\r\n"), not_a_number},
      {get("Content-Length: 0x5\r\n"), not_a_number},
      {get("Content-Length: 5f\r\n"), not_a_number},
      {get("Content-Length: 5 5\r\n"), not_a_number},
      {get("Content-Length: 5.0\r\n"), not_a_number},
      {get("Content-Length: \"5\"\r\n"), not_a_number},
      {get("Content-Length: \xd9\xa5\r\n"), not_a_number},  // an Arabic five
      {get("Content-Length:\r\n"), "empty Content-Length"},
      {get("Content-Length: \t \r\n"), "empty Content-Length"},
      {get("Content-Length: 18446744073709551616\r\n"), "Content-Length is too large"},
      {get("Content-Length: 99999999999999999999999\r\n"), "Content-Length is too large"},
      {get("Transfer-Encoding: chunked, chunked\r\n"), twice},
      {get("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), twice},
      {get("Transfer-Encoding: chunked, gzip\r\n"), not_final},
      {get("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"), not_final},
      {get("Transfer-Encoding: gzip\r\n"), not_final},
      {get("Transfer-Encoding: identity\r\n"), not_final},
      {get("Transfer-Encoding: xchunked\r\n"), not_final},
      {get("Transfer-Encoding: chunke\r\n"), not_final},
      {get("Transfer-Encoding: gzip, chunked\r\n"), unknown, ErrorKind::unsupported},
      {get("Transfer-Encoding: foo;a=\"b,c\", chunked\r\n"), unknown, ErrorKind::unsupported},
      {get("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n"), unknown,
       ErrorKind::unsupported},
      {get("Transfer-Encoding:\r\n"), no_list},
      {get("Transfer-Encoding: ,chunked\r\n"), no_list},
      {get("Transfer-Encoding: chunked,\r\n"), no_list},
      {get("Transfer-Encoding: \"chunked\"\r\n"), no_list},
      {get("Transfer-Encoding: chun ked\r\n"), no_list},
      {get("Transfer-Encoding: chunked;a=b\r\n"), "parameters of chunked"},
      {get("Transfer-Encoding: chunked;\r\n"), "parameters of chunked"},
      {get("Transfer-Encoding: \x0b"
           "chunked\r\n"),
       "control byte in a field value"},
      {"GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "Transfer-Encoding in HTTP/1.0"},
  });
}

TEST(RequestHead, Rfc9112Section6ReadsTheFraming) {
  struct Row {
    std::string fields;
    Framing::Kind kind;
    std::uint64_t length_bytes;
  };
  const std::vector<Row> rows{
      {"", Framing::Kind::none, 0},
      {"Content-Length: 0\r\n", Framing::Kind::length, 0},
      {"CONTENT-LENGTH: 0042\r\n", Framing::Kind::length, 42},
      {"Content-Length:18446744073709551615 \r\n", Framing::Kind::length, 18446744073709551615u},
      {"Transfer-Encoding: chunked\r\n", Framing::Kind::chunked, 0},
      {"transfer-encoding: \tChunked \r\n", Framing::Kind::chunked, 0},
      {"X-Content-Length: 5\r\nTransfer-Encodings: gzip\r\n", Framing::Kind::none, 0},
  };
  for (const auto& row : rows) {
    const std::string bytes = get(row.fields);
    const RequestHead head = accepted(bytes);
    EXPECT_EQ(head.framing.kind, row.kind) << row.fields;
    EXPECT_EQ(head.framing.length_bytes, row.length_bytes) << row.fields;
  }
}

TEST(RequestHead, Rfc9112Section5RefusesFieldLinesThatCanBeReadInTwoWays) {
  const std::string fold = "white space before a field name (obs-fold)";
  const std::string colon = "white space before the colon of a field line";
  expect_refused({
      {get("A: b\r\n c\r\n"), fold},
      {get("A: b\r\n\tc\r\n"), fold},
      {get("A: b\r\n \r\n"), fold},
      {"GET / HTTP/1.1\r\n Host: a.example\r\n\r\n", fold},
      {get("A : b\r\n"), colon},
      {get("A\t: b\r\n"), colon},
      {get("Content-Length : 5\r\n"), colon},
      {get("A b: c\r\n"), colon},
      {get(": b\r\n"), "empty field name"},
      {get("no colon\r\n"), colon},
      {get("nocolon\r\n"), "bare CR in a field name"},
      {get("A(b): c\r\n"), "misplaced byte in a field name"},
      {get("\"A\": c\r\n"), "misplaced byte in a field name"},
      {get("A\xc3\xa4: c\r\n"), "misplaced byte in a field name"},
      {get("A\x01: c\r\n"), "control byte in a field name"},
      {get("A\x7f: c\r\n"), "control byte in a field name"},
      {get("A\0: c\r\n"s), "NUL in a field name"},
      {get("A: b\0c\r\n"s), "NUL in a field value"},
      {get("A: long enough for eight at once \0 and on\r\n"s), "NUL in a field value"},
      {get("A: b\x01"
           "c\r\n"),
       "control byte in a field value"},
      {get("A: b\x1f\r\n"), "control byte in a field value"},
      {get("A: b\x7f\r\n"), "control byte in a field value"},
      {get("A: long enough for eight \x7f at once\r\n"), "control byte in a field value"},
      {get("A: b\nB: c\r\n"), "bare LF in a field value"},
      {get("A: b\rB: c\r\n"), "bare CR in a field value"},
      {get("A: b\r\r\n"), "bare CR in a field value"},
      {get("A: b\n"), "bare LF in a field value"},
      {get("A\n: b\r\n"), "bare LF in a field name"},
      {get("\r"), "bare CR in the start of a line"},
      {get("\rA: b\r\n"), "bare CR in the start of a line"},
      {get("\r\nA: b\r\n"), "bytes after the empty line of a head"},
  });
}

TEST(RequestHead, Rfc9110Section5Point5ValueBytes) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool allowed = byte == '\t' || (byte >= 0x20 && byte != 0x7f);
    // Eight bytes are looked at at once: at each place among them, and behind a tab.
    for (std::size_t before = 0; before <= 17; ++before) {
      const std::string around = before > 1 ? "a\t" + std::string(before - 2, 'b') : "";
      const std::string value = around + static_cast<char>(byte) + around + "c";
      const std::string bytes = get("A: a" + value + "\r\n");
      RequestHead head;
      const auto parsed = parse_request_head(bytes, HeadLimits::defaults(), head);
      ASSERT_EQ(parsed.has_value(), allowed) << byte << " in " << value;
      EXPECT_TRUE(!allowed || head.fields.first("a") == "a" + value) << byte << " in " << value;
    }
  }
}

TEST(RequestHead, Rfc9112Section3RefusesRequestLines) {
  const std::string rest = "\r\nHost: a.example\r\n\r\n";
  const std::string spaced = "the target is not followed by a space and the version";
  const std::string no_version = "no HTTP version where one is due";
  const std::string other_version = "an HTTP version other than 1.0 and 1.1";
  const std::string no_method = "no method at the start of the request line";
  const std::string no_target = "no target after the method and one space";
  const std::string form = "a target that starts with neither / nor http://";
  const ErrorKind version = ErrorKind::unsupported_version;
  expect_refused({
      {"GET  / HTTP/1.1" + rest, no_target},
      {"GET /  HTTP/1.1" + rest, no_version},
      {"GET / HTTP/1.1 " + rest, "misplaced byte in the end of the request line"},
      {" GET / HTTP/1.1" + rest, no_method},
      {"GET\t/ HTTP/1.1" + rest, "the method is not a token"},
      {"GET /\tHTTP/1.1" + rest, spaced},
      {"GET /a b HTTP/1.1" + rest, no_version},
      {"GET /a\x01 HTTP/1.1" + rest, spaced},
      {"GET /a\0b HTTP/1.1"s + rest, spaced},
      {"GET /a\x7f HTTP/1.1" + rest, spaced},
      {"G@T / HTTP/1.1" + rest, "the method is not a token"},
      {"G\xc3\x89T / HTTP/1.1" + rest, "the method is not a token"},
      {"GET  HTTP/1.1" + rest, no_target},
      {"GET HTTP/1.1" + rest, spaced},
      {"GET" + rest, "the method is not a token"},
      {"GET /" + rest, spaced},
      {"GET / " + rest, no_version},
      {"GET / HTTP/1" + rest, no_version},
      {"GET / HTTP/11" + rest, no_version},
      {"GET / HTTP/1.x" + rest, no_version},
      {"GET / HTTP/x.1" + rest, no_version},
      {"GET / HTTP/1,1" + rest, no_version},
      {"GET / http/1.1" + rest, no_version},
      {"GET / HTTPS/1.1" + rest, no_version},
      {"GET / HTTP/1.10" + rest, "misplaced byte in the end of the request line"},
      {"GET / HTTP/01.1" + rest, no_version},
      {"GET / HTTP/1.1\n" + rest, "bare LF in the end of the request line"},
      {"GET / HTTP/1.1\r" + rest, "bare CR in the end of the request line"},
      {"GET / HTTP/1.2" + rest, other_version, version},
      {"GET / HTTP/2.0" + rest, other_version, version},
      {"GET / HTTP/0.9" + rest, other_version, version},
      {"PRI * HTTP/2.0\r\n\r\n", other_version, version},
      {"GET a.example HTTP/1.1" + rest, form},
      {"GET a/b HTTP/1.1" + rest, form},
      {"GET ?a HTTP/1.1" + rest, form},
      {"GET ftp://a.example/ HTTP/1.1" + rest, form},
      {"GET http:/a HTTP/1.1" + rest, form},
      {"GET * HTTP/1.1" + rest, "the target * with a method but OPTIONS"},
      {"CONNECT a.example:443 HTTP/1.1" + rest, "CONNECT: this is no tunnel",
       ErrorKind::unsupported},
      {"CONNECT / HTTP/1.1" + rest, "CONNECT: this is no tunnel", ErrorKind::unsupported},
      {"\r\n\r\nGET / HTTP/1.1" + rest, no_method},
      {"\r\n\r\n", no_method},
      {"\r\n", no_method},
      {"", "head without its empty line"},
      {"GET / HTTP/1.1\r\n", "head without its empty line"},
      {"GET / HTTP/1.1\r\nHost: a.example\r\n", "head without its empty line"},
      {"GET / HTTP/1.1\r\nHost: a.example", "head without its empty line"},
  });
}

TEST(RequestHead, Rfc9112Section2Point2OneEmptyLineBeforeTheRequestLine) {
  const std::string bytes = "\r\n" + get("");
  const RequestHead head = accepted(bytes);
  EXPECT_EQ(head.method, "GET");
  const auto end = find_head_end(bytes, 0, HeadLimits::defaults(), ErrorSource::client);
  ASSERT_TRUE(end);
  EXPECT_EQ(*end, bytes.size());
}

TEST(RequestHead, Rfc9112Section3Point2Host) {
  const std::string line = "GET / HTTP/1.1\r\n";
  const std::string absolute = "GET http://b.example/ HTTP/1.1\r\n";
  expect_refused({
      {line + "\r\n", "no Host"},
      {absolute + "\r\n", "no Host"},
      {line + "Host: a\r\nHost: b\r\n\r\n", "several Host lines"},
      {line + "Host: a\r\nhOST: a\r\n\r\n", "several Host lines"},
      {absolute + "Host: b.example\r\nHost: b.example\r\n\r\n", "several Host lines"},
      {"GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", "several Host lines"},
      {line + "Host:\r\n\r\n", "invalid Host"},
      {line + "Host: a b\r\n\r\n", "invalid Host"},
      {line + "Host: a/b\r\n\r\n", "invalid Host"},
      {line + "Host: a, b\r\n\r\n", "invalid Host"},
      {line + "Host: user@a\r\n\r\n", "invalid Host"},
      {line + "Host: a:b\r\n\r\n", "invalid Host"},
      {absolute + "Host: @\r\n\r\n", "invalid Host"},
      {"GET / HTTP/1.0\r\nHost: @\r\n\r\n", "invalid Host"},
      {"GET http:///a HTTP/1.1\r\nHost: a\r\n\r\n", "invalid host in the target"},
      {"GET http://user@b/ HTTP/1.1\r\nHost: a\r\n\r\n", "invalid host in the target"},
      {"GET http://b:99999/ HTTP/1.1\r\nHost: a\r\n\r\n", "invalid host in the target"},
  });
}

TEST(RequestHead, Rfc9112Section3Point2TargetForms) {
  struct Row {
    std::string line;
    std::string host;
  };
  const std::vector<Row> rows{
      {"GET / HTTP/1.1", "a.example"},
      {"GET /a?b HTTP/1.1", "a.example"},
      {"GET //b.example/ HTTP/1.1", "a.example"},
      {"GET /\xc3\xa9|\"<>[] HTTP/1.1", "a.example"},
      {"OPTIONS * HTTP/1.1", "a.example"},
      {"PURGE * HTTP/1.1", "a.example"},
      {"GET http://b.example/a HTTP/1.1", "b.example"},
      {"GET HTTP://b.example:81?a HTTP/1.1", "b.example:81"},
      {"GET https://b.example HTTP/1.1", "b.example"},
  };
  for (const auto& row : rows) {
    const std::string bytes = row.line + "\r\nHost: a.example\r\n\r\n";
    EXPECT_EQ(accepted(bytes).host, row.host) << row.line;
  }
}

TEST(RequestHead, Rfc9112Section9Point3Persistence) {
  struct Row {
    int minor_version;
    std::string fields;
    bool keep_alive;
  };
  const std::vector<Row> rows{
      {1, "", true},
      {1, "Connection: close\r\n", false},
      {1, "Connection: CLOSE\r\n", false},
      {1, "Connection: upgrade,  Close\r\n", false},
      {1, "Connection: x\r\nConnection: close\r\n", false},
      {1, "Connection: keep-alive, close\r\n", false},
      {1, "Connection: closed\r\n", true},
      {1, "Connection: \"close\"\r\n", true},
      {1, "Connection:\r\n", true},
      {0, "", false},
      {0, "Connection: keep-alive\r\n", true},
      {0, "Connection: Keep-Alive\r\n", true},
      {0, "Connection: keep-alive, close\r\n", false},
  };
  for (const auto& row : rows) {
    const std::string bytes = "GET / HTTP/1." + std::to_string(row.minor_version) +
                              "\r\nHost: a\r\n" + row.fields + "\r\n";
    EXPECT_EQ(accepted(bytes).keep_alive, row.keep_alive) << bytes;
  }
}

TEST(RequestHead, Rfc9110Section10Point1Point1Expect) {
  struct Row {
    std::string version;
    std::string fields;
    bool expects_continue;
  };
  const std::vector<Row> rows{
      {"1.1", "Expect: 100-continue\r\n", true},
      {"1.1", "expect: 100-Continue\r\n", true},
      {"1.0", "Expect: 100-continue\r\n", false},
      {"1.1", "Expect: 100-continue, other\r\n", false},
      {"1.1", "Expect: 100-continue;a=b\r\n", false},
      {"1.1", "Expect: 100\r\n", false},
      {"1.1", "Expect:\r\n", false},
      {"1.1", "Expect: 100-continue\r\nExpect: 100-continue\r\n", false},
      {"1.1", "", false},
  };
  for (const auto& row : rows) {
    const std::string bytes = "PUT / HTTP/" + row.version + "\r\nHost: a\r\n" + row.fields + "\r\n";
    EXPECT_EQ(accepted(bytes).expects_continue, row.expects_continue) << bytes;
  }
}

}  // namespace
}  // namespace ringside::http
