#include "http/target.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

// What is done with what a client may write, and why:
//
// | in the target                           | path              | query             |
// | --------------------------------------- | ----------------- | ----------------- |
// | unreserved, sub-delims, ":" "@" "/"     | kept              | kept, and "?"     |
// | %41 (an unreserved character)           | decoded           | kept: an origin's signature may
// cover it | | %2f (any other)                         | %2F               | %2F               | |
// "<>[]\^`{|} and bytes from 0x80         | %22 and so on     | %22 and so on     | | "%" without
// two hexadecimal digits      | refused           | kept: real links have it, and `100%` and
// `100%25` stay two keys and two requests to the origin | | %00 | refused           | kept: data |
// | control bytes, space, "#"               | refused           | refused           |
// | dot segments, after decoding            | removed           | data              |
// | empty segments                          | kept              | data              |
namespace ringside::http {
namespace {

using namespace std::string_literals;

struct TargetRow {
  std::string request_target;
  std::string text;
};

void expect_normal(const std::vector<TargetRow>& rows) {
  Target target;  // one for all: nothing of the one before may stay
  for (const auto& row : rows) {
    const auto normalised = normalise_target(row.request_target, target);
    ASSERT_TRUE(normalised) << row.request_target << normalised.error().message;
    EXPECT_EQ(target.text(), row.text) << row.request_target;
    Target again;
    ASSERT_TRUE(normalise_target(row.text, again)) << row.text;
    EXPECT_EQ(again.text(), row.text) << "not a fixed point: " << row.request_target;
    EXPECT_EQ(again.path, target.path);
  }
}

TEST(NormaliseTarget, Rfc3986Section6Point2Point2PercentEncodingOfPaths) {
  expect_normal({
      {"/", "/"},
      {"/a/b-c_d.e~f", "/a/b-c_d.e~f"},
      {"/a:b@c!$&'()*+,;=", "/a:b@c!$&'()*+,;="},
      {"/%41%7e%2D%5f%2e%39", "/A~-_.9"},
      {"/%2f", "/%2F"},
      {"/a%2Fb", "/a%2Fb"},
      {"/%c3%a9", "/%C3%A9"},
      {"/%25%32%35", "/%2525"},
      {"/%2541", "/%2541"},  // decoded once, never twice
      {"/%0d%0a%7f%20%23%3f", "/%0D%0A%7F%20%23%3F"},
      {"/a%3Fb", "/a%3Fb"},
  });
}

TEST(NormaliseTarget, Rfc3986Section3Point3BytesOutsideTheGrammarAreEncoded) {
  expect_normal({
      {"/\"<>[\\]^`{|}", "/%22%3C%3E%5B%5C%5D%5E%60%7B%7C%7D"},
      {"/caf\xc3\xa9", "/caf%C3%A9"},
      {"/\xff\x80", "/%FF%80"},
      {"/?a[]=\"<>\\^`{|}\xc3\xa9", "/?a%5B%5D=%22%3C%3E%5C%5E%60%7B%7C%7D%C3%A9"},
      {"/a\\..\\b", "/a%5C..%5Cb"},
  });
}

TEST(NormaliseTarget, Rfc3986Section5Point2Point4DotSegments) {
  expect_normal({
      {"/.", "/"},
      {"/..", "/"},
      {"/../..", "/"},
      {"/../a", "/a"},
      {"/a/.", "/a/"},
      {"/a/./b", "/a/b"},
      {"/a/..", "/"},
      {"/a/../", "/"},
      {"/a/b/..", "/a/"},
      {"/a/b/../c", "/a/c"},
      {"/a/b/c/./../../g", "/a/g"},
      {"/mid/content=5/../6", "/mid/6"},
      {"/a/%2e/b", "/a/b"},
      {"/a/%2E%2e/b", "/b"},
      {"/a/.%2e/b", "/b"},
      {"/a/%2e./b", "/b"},
      {"/%2e%2e/%2e%2e/etc", "/etc"},
      {"/a//../b", "/a/b"},
      {"//..", "/"},
      {"/a//b/", "/a//b/"},
      {"//a", "//a"},
      {"/...", "/..."},
      {"/.a/..b/c../.../d.", "/.a/..b/c../.../d."},
      {"/a/..;/b", "/a/..;/b"},
      {"/a/..%2Fb", "/a/..%2Fb"},  // %2F is data: this is one segment
      {"/a/../b?c/../d", "/b?c/../d"},
      {"/a?/./..", "/a?/./.."},
  });
}

TEST(NormaliseTarget, Rfc3986Section3Point4Queries) {
  expect_normal({
      {"/a?", "/a?"},
      {"/a??", "/a??"},
      {"/?a=b&c=d/e?f", "/?a=b&c=d/e?f"},
      {"/?%41%2f%c3%A9", "/?%41%2F%C3%A9"},
      {"/?%00", "/?%00"},
      {"/a?iframe=true&width=100%&height=100%", "/a?iframe=true&width=100%&height=100%"},
      {"/?%", "/?%"},
      {"/?%4", "/?%4"},
      {"/?%zz%4g%g4%%4a", "/?%zz%4g%g4%%4A"},
      {"/?%u00e9", "/?%u00e9"},
      {"/?a+b", "/?a+b"},
  });
}

TEST(NormaliseTarget, DifferentRequestsStayDifferent) {
  const std::vector<std::pair<std::string, std::string>> pairs{
      {"/a", "/a?"},
      {"/a", "/a/"},
      {"/a/b", "/a%2Fb"},
      {"/a//b", "/a/b"},
      {"/?a=100%", "/?a=100%25"},
      {"/A", "/a"},
      {"/a%3Fb", "/a?b"},
      {"/?a=%2B", "/?a=+"},
      {"/%2525", "/%25"},
  };
  for (const auto& [one, other] : pairs) {
    Target a;
    Target b;
    ASSERT_TRUE(normalise_target(one, a));
    ASSERT_TRUE(normalise_target(other, b));
    EXPECT_NE(a.text(), b.text()) << one << " and " << other;
  }
}

TEST(NormaliseTarget, Rfc9112Section3Point2Forms) {
  expect_normal({
      {"*", "*"},
      {"http://a.example", "/"},
      {"http://a.example/", "/"},
      {"http://a.example?b", "/?b"},
      {"http://a.example?b/../c", "/?b/../c"},
      {"HTTPS://a.example:8080/b/%2e%2e/c?d", "/c?d"},
      {"http://a.example/http://b.example/", "/http://b.example/"},
      {"/http://b.example/", "/http://b.example/"},
  });
  Target target;
  ASSERT_TRUE(normalise_target("/?", target));
  EXPECT_TRUE(target.has_query);
  ASSERT_TRUE(normalise_target("*", target));
  EXPECT_FALSE(target.has_query);
  EXPECT_EQ(target.path, "*");
}

TEST(NormaliseTarget, Rfc9112Section3Point2Refuses) {
  const std::string form = "a target that starts with neither / nor http://";
  const std::string broken = "broken percent-encoding in the path";
  const std::string control_in_path = "space or control byte in the path";
  const std::string control_in_query = "space or control byte in the query";
  struct Refusal {
    std::string request_target;
    std::string message;
  };
  const std::vector<Refusal> rows{
      {"", form},
      {"a", form},
      {"?a", form},
      {"**", form},
      {"*?a", form},
      {"a.example:80", form},
      {"ftp://a.example/", form},
      {"http:/a", form},
      {"://a", form},
      {"/%", broken},
      {"/%4", broken},
      {"/%4?1", broken},
      {"/%zz", broken},
      {"/%4g", broken},
      {"/%%41", broken},
      {"/%u00e9", broken},
      {"/a/..%", broken},
      {"/%00", "%00 in the path"},
      {"/a%00.png?b", "%00 in the path"},
      {"/a b", control_in_path},
      {"/a\tb", control_in_path},
      {"/a\x01", control_in_path},
      {"/a\x7f", control_in_path},
      {"/a\0b"s, control_in_path},
      {"/a\r\nb", control_in_path},
      {"/?a b", control_in_query},
      {"/?a\0b"s, control_in_query},
      {"/?a\nb", control_in_query},
      {"/?\x7f", control_in_query},
      {"/#a", "a fragment in the target"},
      {"/a?b#c", "a fragment in the target"},
  };
  for (const auto& row : rows) {
    Target target;
    const auto normalised = normalise_target(row.request_target, target);
    ASSERT_FALSE(normalised) << row.request_target;
    EXPECT_EQ(normalised.error().message, row.message) << row.request_target;
    EXPECT_EQ(normalised.error().kind, ErrorKind::malformed);
    EXPECT_EQ(normalised.error().source, ErrorSource::client);
  }
}

TEST(NormaliseTarget, EveryByteIsEncodedKeptOrRefused) {
  const std::string_view grammar =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=:@/";
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    if (c == '%' || c == '?') continue;
    Target target;
    const bool taken = normalise_target("/a"s + c + "b", target).has_value();
    const bool visible = byte > 0x20 && byte != 0x7f;
    EXPECT_EQ(taken, visible && c != '#') << byte;
    if (!taken) continue;
    const bool kept = grammar.find(c) != grammar.npos;
    EXPECT_EQ(target.path.size(), kept ? 4u : 6u) << byte;
    EXPECT_EQ(target.path[2], kept ? c : '%') << byte;
  }
}

TEST(NormaliseHost, Rfc9110Section4Point2Point3OneForm) {
  const std::vector<TargetRow> rows{
      {"a.example", "a.example"},
      {"A.Example", "a.example"},
      {"a.example.", "a.example"},
      {"a.example:80", "a.example"},
      {"a.example.:80", "a.example"},
      {"a.example:", "a.example"},
      {"a.example:0080", "a.example"},
      {"a.example:8080", "a.example:8080"},
      {"a.example:08080", "a.example:8080"},
      {"a.example:443", "a.example:443"},
      {"a.example:65535", "a.example:65535"},
      {"a_b-c~d", "a_b-c~d"},
      {"192.0.2.1:81", "192.0.2.1:81"},
      {"xn--caf-dma.example", "xn--caf-dma.example"},
      {"[2001:DB8::1]", "[2001:db8::1]"},
      {"[2001:db8::1]:80", "[2001:db8::1]"},
      {"[::1]:8080", "[::1]:8080"},
      {"[::ffff:192.0.2.1]", "[::ffff:192.0.2.1]"},
  };
  std::string out = "left over";
  for (const auto& row : rows) {
    ASSERT_TRUE(normalise_host(row.request_target, out)) << row.request_target;
    EXPECT_EQ(out, row.text);
  }
}

TEST(NormaliseHost, Rfc9112Section3Point2RefusesInvalidOnes) {
  for (const std::string& host : {""s,
                                  "."s,
                                  ":"s,
                                  ":80"s,
                                  ".a"s,
                                  "a..b"s,
                                  "a.."s,
                                  "a b"s,
                                  "a/b"s,
                                  "a?b"s,
                                  "a#b"s,
                                  "a@b"s,
                                  "user:pass@a"s,
                                  "a,b"s,
                                  "a\\b"s,
                                  "a%41"s,
                                  "a\0b"s,
                                  "caf\xc3\xa9"s,
                                  "a:b"s,
                                  "a:-1"s,
                                  "a:+1"s,
                                  "a:0"s,
                                  "a:65536"s,
                                  "a:99999999999"s,
                                  "a:80:80"s,
                                  "a: 80"s,
                                  "a:80 "s,
                                  "::1"s,
                                  "[::1"s,
                                  "::1]"s,
                                  "[]"s,
                                  "[]:80"s,
                                  "[1]"s,
                                  "[192.0.2.1]"s,
                                  "[::1]80"s,
                                  "[::1]a"s,
                                  "[::1%eth0]"s,
                                  "[v1.a]"s,
                                  "[::g]"s,
                                  "<a>"s,
                                  "\"a\""s,
                                  "a'b"s,
                                  "*"s}) {
    std::string out;
    const auto normalised = normalise_host(host, out);
    ASSERT_FALSE(normalised) << host;
    EXPECT_EQ(normalised.error().kind, ErrorKind::malformed) << host;
    EXPECT_EQ(normalised.error().message, "invalid host") << host;
  }
}

}  // namespace
}  // namespace ringside::http
