#include "http/hop.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/limits.h"
#include "http1/head_parser.h"
namespace ringside::http {
namespace {

constexpr std::string_view own = "ringside (5d1f09ab)";

Result<Hop> look(const std::string& start, const std::string& lines) {
  const std::string bytes = start + "\r\nHost: a.test\r\n" + lines + "\r\n";
  RequestHead head;
  const auto parsed = parse_request_head(bytes, HeadLimits::defaults(), head);
  EXPECT_TRUE(parsed) << bytes;
  return look_at_hop(head, own);
}

Result<Hop> get(const std::string& lines) { return look("GET / HTTP/1.1", lines); }

TEST(HopIdentity, IsANameAndAMark) {
  const HopIdentity identity("cache-3", "", "5d1f09ab");
  EXPECT_EQ(identity.name, "cache-3");
  EXPECT_EQ(identity.via_name, "cache-3");
  const HopIdentity hidden("cache-3", "edge", "5d1f09ab");
  EXPECT_EQ(hidden.name, "cache-3");
  EXPECT_EQ(hidden.via_name, "edge");
  EXPECT_EQ(hidden.via, "edge (5d1f09ab)");
  EXPECT_EQ(identity.via, "cache-3 (5d1f09ab)");
  EXPECT_EQ(via_member(0, identity.via), "1.0 cache-3 (5d1f09ab)");
  EXPECT_EQ(via_member(1, "ringside"), "1.1 ringside");
}

// There was one mark for a whole process, so that two of its hops took each other for themselves.
TEST(HopIdentity, AMarkIsOfOneHopAlone) {
  const std::string mark = random_mark();
  ASSERT_EQ(mark.size(), 8U);
  EXPECT_EQ(mark.find_first_not_of("0123456789abcdef"), std::string::npos) << mark;
  // Four equal ones in a row: once in 2^96.
  EXPECT_FALSE(mark == random_mark() && mark == random_mark() && mark == random_mark());
}

// RFC 9110 §7.6.3
TEST(Hop, ARequestThatHasBeenHereGoesRoundInCircles) {
  struct Row {
    std::string lines;
    bool loops;
  };
  std::string many = "Via: 1.1 p";
  for (unsigned count = 1; count < limits::via_elements; ++count) many += ", 1.1 p";
  const std::vector<Row> rows{
      {"", false},
      {"Via: 1.1 ringside (5d1f09ab)\r\n", true},
      {"Via: 1.0 ringside (5d1f09ab)\r\n", true},
      {"Via: HTTP/1.1 ringside (5d1f09ab)\r\n", true},
      {"Via: 1.1 \t ringside (5d1f09ab) \t\r\n", true},
      {"Via: 1.0 fred, 1.1 ringside (5d1f09ab), 1.1 p.test (nginx)\r\n", true},
      {"Via: 1.0 fred\r\nvia: 1.1 p.test\r\nVIA: 1.1 ringside (5d1f09ab)\r\n", true},
      {"Via: 1.1 ringside (5d1f09ac)\r\n", false},  // another of the same name
      {"Via: 1.1 ringside\r\n", false},             // or we, with the comment taken away
      {"Via: 1.1 ringside (5d1f09ab) x\r\n", false},
      {"Via: 1.1 my-ringside (5d1f09ab)\r\n", false},
      {"Via: ringside\r\n", false},
      {"Via:\r\n", false},
      {"Via: , ,\r\n", false},
      {many + "\r\n", false},
      {many + ", 1.1 p\r\n", true},
  };
  for (const Row& row : rows) {
    const auto hop = get(row.lines);
    EXPECT_EQ(hop.has_error(), row.loops) << row.lines;
    if (hop.has_error()) {
      EXPECT_EQ(hop.error().kind, ErrorKind::loop);
      EXPECT_EQ(hop.error().source, ErrorSource::client);
    }
  }
}

TEST(Hop, AProcessWhoseCommentIsTakenAwayEachTimeIsStoppedByTheNumberOfHops) {
  std::string via = "1.1 ringside";
  unsigned rounds = 1;
  while (get("Via: " + via + "\r\n")) {
    via += ", 1.1 ringside";
    ASSERT_LT(++rounds, 1000U);
  }
  EXPECT_EQ(rounds, limits::via_elements + 1);
}

// RFC 9110 §9.3.8
TEST(Hop, TraceIsNotAllowedEvenWhereItWouldGoNoFurther) {
  for (const auto* lines : {"", "Max-Forwards: 0\r\n", "Max-Forwards: 9\r\n"}) {
    const auto hop = look("TRACE / HTTP/1.1", lines);
    ASSERT_TRUE(hop.has_error());
    EXPECT_EQ(hop.error().kind, ErrorKind::method_not_allowed);
  }
}

// RFC 9110 §7.6.2
TEST(Hop, MaxForwardsIsForOptions) {
  struct Row {
    std::string start;
    std::string value;
    bool here;
    std::optional<std::uint64_t> onwards;
  };
  const std::vector<Row> rows{
      {"OPTIONS / HTTP/1.1", "0", true, {}},
      {"OPTIONS * HTTP/1.1", "0", true, {}},
      {"OPTIONS / HTTP/1.1", "00", true, {}},
      {"OPTIONS / HTTP/1.1", "1", false, 0},
      {"OPTIONS / HTTP/1.1", "10", false, 9},
      {"OPTIONS / HTTP/1.1", "18446744073709551615", false, 18446744073709551614U},
      {"OPTIONS / HTTP/1.1", "18446744073709551616", false, {}},
      {"OPTIONS / HTTP/1.1", "-1", false, {}},
      {"OPTIONS / HTTP/1.1", "+1", false, {}},
      {"OPTIONS / HTTP/1.1", "1x", false, {}},
      {"OPTIONS / HTTP/1.1", "", false, {}},
      {"GET / HTTP/1.1", "0", false, {}},
      {"POST / HTTP/1.1", "3", false, {}},
  };
  for (const Row& row : rows) {
    const auto hop = look(row.start, "Max-Forwards: " + row.value + "\r\n");
    ASSERT_TRUE(hop);
    EXPECT_EQ(hop->answer_here, row.here) << row.start << " " << row.value;
    EXPECT_EQ(hop->max_forwards, row.onwards) << row.start << " " << row.value;
  }
  EXPECT_FALSE(look("OPTIONS / HTTP/1.1", "")->answer_here);
}

// RFC 9110 §7.8; h2c would let requests past us unseen.
TEST(Hop, OnlyWebSocketIsSwitchedTo) {
  struct Row {
    std::string start;
    std::string lines;
    bool upgrades;
  };
  const std::string wanted = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
  const std::vector<Row> rows{
      {"GET /chat HTTP/1.1", wanted, true},
      {"GET /chat HTTP/1.1", "Connection: keep-alive, upgrade\r\nUpgrade: WebSocket\r\n", true},
      {"GET /chat HTTP/1.1",
       "Connection: keep-alive\r\nConnection: UPGRADE\r\nUpgrade: h2c, "
       "websocket\r\n",
       true},
      {"GET /chat HTTP/1.1", "Upgrade: websocket\r\n", false},
      {"GET /chat HTTP/1.1", "Connection: Upgrade\r\n", false},
      {"GET /chat HTTP/1.1", "Connection: Upgrades\r\nUpgrade: websocket\r\n", false},
      {"GET /chat HTTP/1.1", "Connection: Upgrade\r\nUpgrade: h2c\r\n", false},
      {"GET /chat HTTP/1.1",
       "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
       "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n",
       false},
      {"GET /chat HTTP/1.1", "Connection: Upgrade\r\nUpgrade: websocket2\r\n", false},
      {"GET /chat HTTP/1.1", wanted + "Content-Length: 5\r\n", false},
      {"GET /chat HTTP/1.1", wanted + "Transfer-Encoding: chunked\r\n", false},
      {"POST /chat HTTP/1.1", wanted, false},
      {"HEAD /chat HTTP/1.1", wanted, false},
      {"GET /chat HTTP/1.0", wanted, false},
  };
  for (const Row& row : rows) {
    const auto hop = look(row.start, row.lines);
    ASSERT_TRUE(hop);
    EXPECT_EQ(hop->upgrades, row.upgrades) << row.start << "\n" << row.lines;
  }
}

}  // namespace
}  // namespace ringside::http
