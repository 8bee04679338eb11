#include <gtest/gtest.h>

#include "base/limits.h"
#include "link/frame.h"
#include "tests/link/some_frames.h"

namespace ringside::link {
namespace {

using namespace std::string_literals;

void expect_malformed(const Error& error, const std::string& why, const std::string& row) {
  EXPECT_EQ(error.message, "link: " + why) << row;
  EXPECT_EQ(error.kind, ErrorKind::malformed) << row;
  EXPECT_EQ(error.source, ErrorSource::peer) << row;
  EXPECT_EQ(error.retry, Retry::no) << row;
}

struct BadRequest {
  RequestPayload payload;
  std::string row;
};

void expect_refused(const std::string& why, const std::vector<BadRequest>& rows) {
  for (const BadRequest& row : rows) {
    http::RequestHead head;
    const auto read = read_request(row.payload.bytes(), head);
    ASSERT_FALSE(read) << row.row;
    expect_malformed(read.error(), why, row.row);
  }
}

using Lines = std::vector<std::pair<std::string, std::string>>;

TEST(MalformedFrame, ARequestWhoseSizesLieIsRefused) {
  const Lines one{{"Accept", "text/html"}};
  http::RequestHead head;
  ASSERT_TRUE(read_request(RequestPayload{.fields = one}.bytes(), head));
  expect_refused("a request that is cut short",
                 {{{.method_bytes = 0xffff}, "the method is beyond the end"},
                  {{.host_bytes = 0xffff}, "the host is beyond the end"},
                  {{.target_bytes = 0xffffffff}, "the target is beyond the end"},
                  {{.count = limits::hop_head_fields}, "the fields' sizes are beyond the end"}});
  expect_refused("a request with too many fields",
                 {{{.count = limits::hop_head_fields + 1}, "one more than the limit"},
                  {{.count = 0xffff}, "the most that can be said"}});
  expect_refused("a request whose fields have other sizes",
                 {{{.fields = one, .method_bytes = 4}, "the method takes of the host"},
                  {{.fields = one, .target_bytes = 2}, "the target takes of the lines"},
                  {{.fields = one, .first_sizes = {{5, 9}}}, "a name too short"},
                  {{.fields = one, .first_sizes = {{7, 9}}}, "a name too long"},
                  {{.fields = one, .first_sizes = {{0, 9}}}, "no name"},
                  {{.fields = one, .first_sizes = {{6, 8}}}, "a value too short"},
                  {{.fields = one, .first_sizes = {{6, 10}}}, "a value too long"},
                  {{.fields = one, .first_sizes = {{6, 0xffff}}}, "a value beyond the end"},
                  {{.fields = one, .first_sizes = {{0xffff, 9}}}, "a name beyond the end"},
                  {{.fields = one, .name_end = ":"}, "no space after the colon"},
                  {{.fields = one, .name_end = "  "}, "no colon"},
                  {{.fields = one, .line_end = "\n"}, "a bare LF"},
                  {{.fields = one, .line_end = ""}, "no end of the line"}});
  expect_refused("a request that is none", {{{.fields = one, .count = 0}, "lines without sizes"}});
}

TEST(MalformedFrame, ARequestWhoseFieldNamesAreNoneIsRefused) {
  std::vector<BadRequest> rows{{{.fields = {{"", "a"}}}, "empty name"},
                               {{.fields = {{"A:", "b"}}}, "a colon in the name"},
                               {{.fields = {{"A: b", "c"}}}, "a line in the name"},
                               {{.fields = {{"A\r\nB", "c"}}}, "two lines in the name"},
                               {{.fields = {{"A ", "b"}}}, "a space before the colon"},
                               {{.fields = {{" A", "b"}}}, "a fold"},
                               {{.fields = {{"A\t", "b"}}}, "a tab before the colon"},
                               {{.fields = {{"A\xc3\xa4", "b"}}}, "no ASCII"}};
  for (const char c : "\r\n\0\x01\x0b\x1f\x7f"s) {
    rows.push_back({{.fields = {{"A"s + c, "b"}}}, std::to_string(static_cast<int>(c))});
  }
  expect_refused("a request whose fields have other sizes", rows);
}

TEST(MalformedFrame, ARequestWithControlCharactersIsRefused) {
  std::vector<BadRequest> rows{
      {{.fields = {{"A", "b\r\nC: d"}}}, "two lines in a value"},
      {{.fields = {{"A", "\r\n\r\n"}}}, "the end of the head in a value"},
      // An end of line less on one line hides none of another's.
      {{.target = "/\r\n", .fields = {{"A", "b"}}}, "an end of line in the target"}};
  for (const char c : "\r\n\0\x01\x0b\x1f\x7f"s) {
    const std::string where = " " + std::to_string(static_cast<int>(c));
    rows.push_back({{.fields = {{"A", "b"s + c + "d"}}}, "in a value" + where});
    rows.push_back({{.fields = {{"A", "b"s + c}, {"C", "d"}}}, "at a value's end" + where});
    rows.push_back({{.target = "/a"s + c}, "in the target" + where});
    rows.push_back({{.host = "a"s + c}, "in the host" + where});
    rows.push_back({{.method = "GET"s + c}, "in the method" + where});
  }
  expect_refused("a request that is none", rows);
}

// They are looked for in blocks of bytes.
TEST(MalformedFrame, AControlCharacterIsFoundWhereverItStands) {
  http::RequestHead head;
  Answer answer;
  const std::string value(200, 'v');
  for (std::size_t at = 0; at < value.size(); ++at) {
    std::string with = value;
    with[at] = '\x01';
    EXPECT_FALSE(read_request(RequestPayload{.fields = {{"A", with}}}.bytes(), head)) << at;
    const std::string line = "A: " + with + "\r\n";
    EXPECT_FALSE(read_answer(ResponsePayload{.ready = line, .flags = 0}.bytes(), false, answer));
    EXPECT_FALSE(read_answer(ResponsePayload{.rest = line, .flags = 0}.bytes(), false, answer));
  }
}

TEST(MalformedFrame, ARequestWithoutMethodTargetOrHostIsRefused) {
  expect_refused("a request that is none", {{{.method = ""}, "no method"},
                                            {{.method = "G T"}, "a space in the method"},
                                            {{.method = "GET:"}, "no token"},
                                            {{.method = "G\xc3\x84T"}, "no ASCII"},
                                            {{.target = ""}, "no target"},
                                            {{.target = "/ HTTP/1.1"}, "a space in the target"},
                                            {{.host = ""}, "no host"}});
}

TEST(MalformedFrame, NoPieceOfARequestIsOne) {
  const std::string whole = RequestPayload{.fields = {{"A", "b"}, {"C", ""}}}.bytes();
  http::RequestHead head;
  ASSERT_TRUE(read_request(whole, head));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(read_request(std::string_view(whole).substr(0, size), head)) << size;
  }
  EXPECT_FALSE(read_request(whole + "a", head));
  EXPECT_FALSE(read_request(whole + "\r\n", head));
}

struct BadAnswer {
  ResponsePayload payload;
  std::string row;
  bool is_head = false;
};

void expect_refused(const std::string& why, const std::vector<BadAnswer>& rows) {
  for (const BadAnswer& row : rows) {
    Answer answer;
    const auto read = read_answer(row.payload.bytes(), row.is_head, answer);
    ASSERT_FALSE(read) << row.row;
    expect_malformed(read.error(), why, row.row);
  }
}

TEST(MalformedFrame, AnAnswerThatIsNoneIsRefused) {
  std::vector<BadAnswer> rows{{{.reason_bytes = 0xffff}, "the reason is beyond the end"},
                              {{.ready_bytes = 0xffffffff}, "ready lines are beyond the end"},
                              {{.ready_bytes = 1}, "ready lines are one byte beyond the end"},
                              {{.rest_bytes = 0xffffffff}, "the lines are beyond the end"}};
  for (const unsigned status : {0U, 99U, 100U, 101U, 103U, 199U, 600U, 999U, 65535U}) {
    rows.push_back({{.status = status}, "status " + std::to_string(status)});
  }
  for (const char c : "\r\n\0\x01\x1f\x7f"s) {
    rows.push_back({{.reason = "OK"s + c}, std::to_string(c) + " in the reason"});
  }
  rows.push_back({{.reason = "OK\r\nA: b"}, "a line in the reason"});
  expect_refused("an answer that is none", rows);
}

TEST(MalformedFrame, AnAnswerWithContentWhereNoneCanBeIsRefused) {
  expect_refused("an answer with too much content",
                 {{{.status = 304, .content = "a"}, "a 304"},
                  {{.status = 204, .content = "a"}, "a 204"},
                  {{.content = "a"}, "an answer to HEAD", true},
                  {{.rest = "Content-Length: 1\r\n", .content = "a"}, "of that length", true}});
}

constexpr auto kUnfit = "an answer whose fields can't be sent on";

TEST(MalformedFrame, ReadyLinesThatFrameOrAreForHopsAreRefused) {
  std::vector<BadAnswer> rows;
  for (const char* const name :
       {"Content-Length", "content-length", "Transfer-Encoding", "TRANSFER-ENCODING", "Connection",
        "Keep-Alive", "Upgrade", "Proxy-Connection", "Cache-Status", "cache-status", "Proxy-Status",
        "Ringside-Ticket", "ringside-slice", "RINGSIDE-"}) {
    rows.push_back({{.ready = std::string(name) + ": 0\r\n", .flags = 0}, name});
    const std::string among = "A: b\r\n" + std::string(name) + ": 0\r\nC: d\r\n";
    rows.push_back({{.ready = among, .flags = 0}, name});
  }
  expect_refused(kUnfit, rows);
}

TEST(MalformedFrame, LinesForHopsThatFrameAreRefused) {
  std::vector<BadAnswer> rows;
  for (const char* const name : {"Transfer-Encoding", "transfer-encoding", "Connection", "Upgrade",
                                 "Keep-Alive", "Proxy-Connection"}) {
    rows.push_back({{.rest = std::string(name) + ": chunked\r\n", .flags = 0}, name});
    const std::string behind = "Cache-Status: a\r\n" + std::string(name) + ": b\r\n";
    rows.push_back({{.rest = behind, .flags = 0}, name});
  }
  std::string many;
  for (std::size_t i = 0; i < limits::hop_head_fields; ++i) many += "A: b\r\n";
  Answer answer;
  EXPECT_TRUE(read_answer(ResponsePayload{.rest = many, .flags = 0}.bytes(), false, answer));
  rows.push_back({{.rest = many + "A: b\r\n", .flags = 0}, "too many"});
  expect_refused(kUnfit, rows);
}

// What could make two answers of one (response splitting), in either block.
TEST(MalformedFrame, LinesThatCouldBeReadInTwoWaysAreRefused) {
  std::vector<std::string> blocks{"\r\n",
                                  "A: b\r\n\r\n",
                                  "\r\nA: b\r\n",
                                  "A: b\r\n\r\nHTTP/1.1 200 OK\r\n",
                                  "A: b\r\n\r\nC: d\r\n",
                                  "A: b",
                                  "A: b\r",
                                  "A: b\n",
                                  "A: b\r\r\n",
                                  "A: b\n\r\n",
                                  "A: b\r\nC: d",
                                  "A: b\nC: d\r\n",
                                  "A: b\rC: d\r\n",
                                  "A:b\r\n",
                                  "A\r\n",
                                  ": b\r\n",
                                  "A : b\r\n",
                                  " A: b\r\n",
                                  "A: b\r\n c: d\r\n",
                                  "A: b\r\n\tc: d\r\n",
                                  "A b: c\r\n",
                                  "A\nB: c\r\n",
                                  "A\r\nB: c\r\n",
                                  "A: b\0\r\n"s,
                                  "A\0: b\r\n"s};
  for (const char c : "\n\0\x01\x0b\x1f\x7f"s) {
    blocks.push_back("A: b"s + c + "c\r\n");
    blocks.push_back("A"s + c + ": b\r\n");
  }
  for (const std::string& block : blocks) {
    expect_refused(kUnfit, {BadAnswer{{.ready = block, .flags = 0}, "ready: " + block},
                            BadAnswer{{.rest = block, .flags = 0}, "for hops: " + block}});
    http::ResponseHead head;
    EXPECT_FALSE(read_interim(ResponsePayload{.status = 103, .rest = block}.bytes(), head))
        << block;
  }
}

TEST(MalformedFrame, TheLinesOfTheseTestsAreWellFormedButForOneThing) {
  const ResponsePayload right{.ready = "A: b\r\n", .rest = "C: d\r\n", .flags = 0};
  Answer answer;
  EXPECT_TRUE(read_answer(right.bytes(), false, answer));
}

TEST(MalformedFrame, AContentLengthOtherThanTheContentsIsRefused) {
  const auto length = [](std::string_view value) {
    return std::string("Content-Length: ").append(value).append("\r\n");
  };
  std::vector<BadAnswer> rows{
      {{.rest = length("4"), .content = "12345"}, "shorter"},
      {{.rest = length("6"), .content = "12345"}, "longer"},
      {{.rest = length("1")}, "no content"},
      {{.rest = length("5") + length("5"), .content = "12345"}, "twice the same"},
      {{.rest = length("5") + "content-length: 6\r\n", .content = "12345"}, "two"},
      {{.content = "12345"}, "none, though it is known"},
      {{.rest = length("5"), .content = "12345", .flags = 0}, "one, though it is not known"},
      {{.status = 304, .rest = length("5") + length("6")}, "two in a 304"}};
  for (const char* const digits :
       {"", "+5", "-5", "0x5", "5 ", " 5", "5, 5", "5a", "\xd9\xa5", "18446744073709551621"}) {
    rows.push_back({{.rest = length(digits), .content = "12345"}, digits});
    rows.push_back({{.rest = length(digits)}, digits, true});
  }
  expect_refused(kUnfit, rows);
  Answer answer;
  EXPECT_TRUE(read_answer(ResponsePayload{.rest = length("7")}.bytes(), true, answer));
  EXPECT_TRUE(
      read_answer(ResponsePayload{.status = 304, .rest = length("7")}.bytes(), false, answer));
}

TEST(MalformedFrame, NoPieceOfAnAnswerIsOne) {
  const std::string whole =
      ResponsePayload{.ready = "A: b\r\n", .rest = "Content-Length: 2\r\n", .content = "12"}
          .bytes();
  Answer answer;
  ASSERT_TRUE(read_answer(whole, false, answer));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(read_answer(std::string_view(whole).substr(0, size), false, answer)) << size;
  }
  EXPECT_FALSE(read_answer(whole + "3", false, answer));
}

TEST(MalformedFrame, AnInterimResponseThatIsNoneIsRefused) {
  http::ResponseHead head;
  const std::string whole = ResponsePayload{.status = 103, .rest = "Link: a\r\n"}.bytes();
  ASSERT_TRUE(read_interim(whole, head));
  std::vector<ResponsePayload> rows{{.status = 103, .content = "a"},
                                    {.status = 103, .ready = "A: b\r\n"},
                                    {.status = 103, .reason = "a\r\nb"},
                                    {.status = 103, .rest = "Transfer-Encoding: chunked\r\n"},
                                    {.status = 103, .rest = "Connection: a\r\n"},
                                    {.status = 103, .rest_bytes = 1},
                                    {.status = 103, .reason_bytes = 3}};
  for (const unsigned status : {0U, 99U, 101U, 200U, 600U}) rows.push_back({.status = status});
  for (const ResponsePayload& row : rows) {
    const auto read = read_interim(row.bytes(), head);
    ASSERT_FALSE(read) << row.status << row.rest;
    expect_malformed(read.error(), "an interim response that is none", row.rest);
  }
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(read_interim(std::string_view(whole).substr(0, size), head)) << size;
  }
}

TEST(MalformedFrame, ATicketOfAnotherSizeIsRefused) {
  for (const std::size_t size : {0U, 1U, 7U, 9U, 16U}) {
    const auto read = read_ticket(std::string(size, 'a'));
    ASSERT_FALSE(read) << size;
    expect_malformed(read.error(), "a ticket that is none", std::to_string(size));
  }
}

}  // namespace
}  // namespace ringside::link
