#include "link/frame.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "http/field_lines.h"
#include "tests/link/some_frames.h"

namespace ringside::link {
namespace {

using namespace std::string_literals;

// Takes the only frame of some bytes.
Frame only_frame(std::string_view bytes) {
  const auto taken = take_frame(bytes, ErrorSource::peer);
  if (!taken || !taken->frame || taken->size_bytes != bytes.size()) {
    ADD_FAILURE() << "no frame, or not just one";
    return {};
  }
  return *taken->frame;
}

std::string text_of(const http::Fields& fields) {
  std::string text;
  for (const http::Field& field : fields) {
    text.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  return text;
}

TEST(LinkFrame, IsTakenOnceItIsWhole) {
  std::string bytes;
  append_word(bytes, FrameType::failed, 258, "no owner");
  ASSERT_EQ(bytes, std::string("\x08\0\0\0\x05\0\x02\x01no owner", 16));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto taken = take_frame(std::string_view(bytes).substr(0, size), ErrorSource::peer);
    ASSERT_TRUE(taken) << size;
    EXPECT_FALSE(taken->frame) << size;
  }
  const std::string more = bytes + "and more";
  const auto taken = take_frame(more, ErrorSource::peer);
  ASSERT_TRUE(taken && taken->frame);
  EXPECT_EQ(taken->size_bytes, bytes.size());
  EXPECT_EQ(taken->frame->type, FrameType::failed);
  EXPECT_EQ(taken->frame->stream, 258);
  EXPECT_EQ(taken->frame->payload, "no owner");
}

TEST(LinkFrame, IsRefusedByItsHeadAlone) {
  constexpr std::size_t most = limits::link_frame_size_bytes - frame_head_size_bytes;
  struct Row {
    std::size_t size_bytes;
    unsigned type;
    unsigned zero;
    std::string why;  // empty: it is waited for
  };
  const std::string unknown = "link: a frame of an unknown type";
  const std::string large = "link: a frame is too large";
  for (const Row& row : std::vector<Row>{{1, 1, 0, ""},
                                         {1, 5, 0, ""},
                                         {0, 6, 1, unknown},
                                         {1, 6, 0, unknown},
                                         {1, 7, 0, unknown},
                                         {most, 2, 0, ""},
                                         {most + 1, 2, 0, large},
                                         {0xffffffff, 2, 0, large},
                                         {1, 0, 0, unknown},
                                         {1, 8, 0, unknown},
                                         {1, 255, 0, unknown},
                                         {1, 2, 1, unknown},
                                         {1, 2, 255, unknown},
                                         {most + 1, 2, 1, unknown}}) {
    const auto taken = take_frame(number_bytes(row.size_bytes, 4) + number_bytes(row.type, 1) +
                                      number_bytes(row.zero, 1) + number_bytes(3, 2),
                                  ErrorSource::client);
    ASSERT_EQ(taken.has_value(), row.why.empty()) << row.size_bytes << " " << row.type;
    if (taken) {
      EXPECT_FALSE(taken->frame);
      continue;
    }
    EXPECT_EQ(taken.error().message, row.why);
    EXPECT_EQ(taken.error().kind, ErrorKind::malformed);
    EXPECT_EQ(taken.error().source, ErrorSource::client);
    EXPECT_EQ(taken.error().retry, Retry::no);
  }
}

TEST(LinkFrame, ARequestIsReadAsItWasWritten) {
  struct Row {
    std::string method;
    http::Target target;
    std::string host;
    std::string lines;
    std::string read_target;
  };
  std::string many;
  for (std::size_t i = 0; i < limits::hop_head_fields; ++i) many += "A: b\r\n";
  const std::string obs_text = "X-Text: caf\xc3\xa9\x80\xff\r\nX-Tab: a\tb\t\r\n";
  for (const Row& row :
       std::vector<Row>{{"GET", {"/", "", false}, "a.example", "", "/"},
                        {"HEAD", {"/a", "", true}, "a.example:8080", "X-Empty: \r\n", "/a?"},
                        {"GET", {"/a", "b=c?d", true}, "[::1]", "A: b\r\nA: c\r\n", "/a?b=c?d"},
                        {"OPTIONS", {"*", "", false}, "h", "Ringside-Topology: t: 1\r\n", "*"},
                        {"OPTIONS", {"/%2F", "\x80", true}, "h", obs_text, "/%2F?\x80"},
                        {"GET",
                         {"/" + std::string(20'000, 'p'), "q", true},
                         "h",
                         "A:  : b\r\n",
                         "/" + std::string(20'000, 'p') + "?q"},
                        {"GET", {"/", "", false}, "h", many, "/"}}) {
    SCOPED_TRACE(row.lines.substr(0, 40));
    std::string bytes = "before it";
    const auto request = some_request(row.method, row.target, row.host, row.lines);
    ASSERT_TRUE(is_carried(request));
    append_request(bytes, 77, request);
    const Frame frame = only_frame(std::string_view(bytes).substr(9));
    EXPECT_EQ(frame.type, FrameType::request);
    EXPECT_EQ(frame.stream, 77);
    http::RequestHead head;
    head.fields.add("Of", "the one before");
    head.keep_alive = false;
    head.expects_continue = true;
    head.framing = {http::Framing::Kind::length, 5};
    const auto read = read_request(frame.payload, head);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(head.method, row.method);
    EXPECT_EQ(head.target, row.read_target);
    EXPECT_EQ(head.host, row.host);
    EXPECT_EQ(text_of(head.fields), "Host: " + row.host + "\r\n" + row.lines);
    EXPECT_EQ(head.minor_version, 1);
    EXPECT_TRUE(head.keep_alive);
    EXPECT_FALSE(head.expects_continue);
    EXPECT_EQ(head.framing.kind, http::Framing::Kind::none);
  }
}

TEST(LinkFrame, OnlyShortRequestsWithoutContentAreCarried) {
  const http::Target root{"/", "", false};
  hop::UpstreamRequest request = some_request("GET", root, "h", "");
  EXPECT_TRUE(is_carried(request));
  EXPECT_TRUE(is_carried(some_request("PURGE", root, "h", "")));
  EXPECT_FALSE(is_carried(some_request("PUT", root, "h", ""))) << "a lost ticket repeats it";
  request.upgrades = true;
  EXPECT_FALSE(is_carried(request));
  request = some_request("GET", root, "h", "");
  request.framing.kind = http::Framing::Kind::length;
  EXPECT_FALSE(is_carried(request));
  const std::string line = "A: " + std::string(limits::link_request_size_bytes - 11, 'a') + "\r\n";
  EXPECT_TRUE(is_carried(some_request("GET", root, "h", line)));
  EXPECT_FALSE(is_carried(some_request("HEAD", root, "h", line)));
}

// A response as it was made and as it is read.
struct Answered {
  int status;
  bool is_head;
  bool length_is_known;
  std::string shared;
  std::string lines;
  std::string content;
  std::string ready;
  std::string for_hops;
  http::Framing::Kind framing;
};

void expect_read(const Answered& row) {
  SCOPED_TRACE(row.shared + row.lines);
  http::Response response;
  response.begin(row.status, "Reason \xe9\t");
  response.shared_lines = row.shared;
  response.fields.append(row.lines);
  response.length_is_known = row.length_is_known;
  std::string bytes;
  ASSERT_TRUE(append_answer_head(bytes, 9, response, row.content.size()));
  bytes += row.content;
  const Frame frame = only_frame(bytes);
  EXPECT_EQ(frame.type, FrameType::answer);
  EXPECT_EQ(frame.stream, 9);
  Answer answer;
  answer.head.fields.add("Of", "the one before");
  answer.head.framing = {http::Framing::Kind::until_close, 3};
  answer.content = "of the one before";
  const auto read = read_answer(frame.payload, row.is_head, answer);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(answer.head.status, row.status);
  EXPECT_EQ(answer.head.reason, "Reason \xe9\t");
  EXPECT_EQ(answer.head.ready_lines, row.ready);
  EXPECT_EQ(text_of(answer.head.fields), row.for_hops);
  EXPECT_EQ(answer.content, row.content);
  EXPECT_EQ(answer.head.framing.kind, row.framing);
  EXPECT_EQ(answer.head.framing.length_bytes, row.content.size());
  EXPECT_TRUE(answer.head.keep_alive);
}

TEST(LinkFrame, AnAnswerIsReadAsItWasWritten) {
  using Kind = http::Framing::Kind;
  const std::string five = "Content-Length: 5\r\n";
  const std::string type = "Content-Type: text/plain\r\n";
  const std::string odd = "X-Empty: \r\nX-Text: caf\xc3\xa9\x80\xff\ta: b\r\n";
  const std::string hops =
      "cache-status: ringside; hit\r\nPROXY-STATUS: a\r\nringside-slice: 1/2\r\n";
  for (const Answered& row : std::vector<Answered>{
           {200, false, false, "", "", "", "", "", Kind::chunked},
           {200, false, true, "", five, "12345", "", five, Kind::length},
           {200, false, true, type + five, odd + hops, "12345", type + odd, five + hops,
            Kind::length},
           {200, false, true, hops, type + five, "12345", type, hops + five, Kind::length},
           {200, false, false, type, hops, "12345", type, hops, Kind::chunked},
           {200, false, false, type, "", "\r\n\0\r\n\r\n"s, type, "", Kind::chunked},
           {200, false, false, "Connection: a\r\n" + type, "Upgrade: b\r\n" + hops, "12345", type,
            hops, Kind::chunked},
           {200, true, true, type, five, "", type, five, Kind::none},
           {200, true, false, type, "", "", type, "", Kind::none},
           {206, false, true, "", five, "12345", "", five, Kind::length},
           {304, false, true, type, five, "", type, five, Kind::none},
           {304, true, true, type, "", "", type, "", Kind::none},
           {204, false, true, type, "", "", type, "", Kind::none},
           {599, false, true, "", five, "12345", "", five, Kind::length},
       }) {
    expect_read(row);
  }
}

TEST(LinkFrame, AHeadThatIsTooLargeIsNotWritten) {
  http::Response response;
  response.begin(200, "OK");
  constexpr std::size_t overhead = frame_head_size_bytes + 16 + 2 + 5;
  response.fields.add("A", std::string(limits::link_head_size_bytes - overhead, 'a'));
  std::string bytes;
  EXPECT_TRUE(append_answer_head(bytes, 1, response, 0));
  EXPECT_EQ(bytes.size(), limits::link_head_size_bytes);
  response.reason = "OK.";
  bytes = "as it was";
  EXPECT_FALSE(append_answer_head(bytes, 1, response, 0));
  EXPECT_EQ(bytes, "as it was");
}

// The largest answer that is made is one that is taken.
TEST(LinkFrame, HeadAndBodyOfTheLargestAnswersFit) {
  static_assert(limits::link_head_size_bytes + limits::link_body_size_bytes <=
                limits::link_frame_size_bytes);
  // An interim head is one that a hop has read.
  static_assert(limits::hop_head_size_bytes + frame_head_size_bytes + 16 <=
                limits::link_frame_size_bytes);
}

TEST(LinkFrame, AnInterimResponseIsReadAsItWasWritten) {
  http::ResponseHead sent;
  sent.status = 103;
  sent.reason = "Early Hints";
  const std::string links = "Link: </a.css>; rel=preload\r\nLink: </b.js>\r\n";
  sent.fields = http::fields_of(links);
  for (const char* const name :
       {"Connection", "X-Named", "Keep-Alive", "Transfer-Encoding", "Upgrade", "Ringside-Slice"}) {
    sent.fields.add(name, "x-named");
  }
  std::string bytes;
  append_interim(bytes, 3, sent);
  const Frame frame = only_frame(bytes);
  EXPECT_EQ(frame.type, FrameType::interim);
  EXPECT_EQ(frame.stream, 3);
  http::ResponseHead head;
  const auto read = read_interim(frame.payload, head);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(head.status, 103);
  EXPECT_EQ(head.reason, "Early Hints");
  EXPECT_EQ(text_of(head.fields), links);
  EXPECT_EQ(head.ready_lines, "");
}

// It closed nothing, but the request that it was for failed.
TEST(LinkFrame, AnInterimResponseThatIsTooLargeIsLeftOut) {
  http::ResponseHead sent;
  sent.status = 103;
  const std::string value(limits::link_head_size_bytes, 'x');
  sent.fields.add("Link", value);
  std::string bytes = "before";
  append_interim(bytes, 3, sent);
  EXPECT_EQ(bytes, "before");
}

TEST(LinkFrame, ATicketIsReadAsItWasWritten) {
  for (const std::uint64_t number :
       {std::uint64_t{0}, std::uint64_t{0x0123456789abcdef}, ~std::uint64_t{0}}) {
    std::string bytes;
    append_ticket(bytes, 65535, number);
    const Frame frame = only_frame(bytes);
    EXPECT_EQ(frame.type, FrameType::ticket);
    EXPECT_EQ(frame.stream, 65535);
    const auto read = read_ticket(frame.payload);
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, number);
  }
}

TEST(LinkFrame, WordsHaveTheirTextOrNone) {
  for (const auto& [type, why] :
       std::vector<std::pair<FrameType, std::string>>{{FrameType::cancel, ""},
                                                      {FrameType::going_away, "drains"},
                                                      {FrameType::failed, "why"}}) {
    std::string bytes;
    append_word(bytes, type, type == FrameType::going_away ? 0 : 1, why);
    const Frame frame = only_frame(bytes);
    EXPECT_EQ(frame.type, type);
    EXPECT_EQ(frame.payload, why);
  }
}

}  // namespace
}  // namespace ringside::link
