#include "http1/head_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/http1/some_exchange.h"

namespace ringside::http {
namespace {

TEST(Delivery, Rfc9112Section6Point3AndSection9Point3) {
  struct Row {
    int minor_version;
    bool length_is_known;
    bool keep_alive;
    bool chunked;
    bool goes_on;
  };
  const std::vector<Row> rows{
      {1, true, true, false, true},   {1, true, false, false, false},
      {1, false, true, true, true},   {1, false, false, true, false},
      {0, true, true, false, true},   {0, true, false, false, false},
      {0, false, true, false, false}, {0, false, false, false, false},
  };
  for (const Row& row : rows) {
    const auto delivery = choose_delivery(row.minor_version, row.length_is_known, row.keep_alive);
    EXPECT_EQ(delivery.chunked, row.chunked);
    EXPECT_EQ(delivery.keep_alive, row.goes_on);
  }
}

TEST(ResponseHeadText, TellsFramingAndWhatBecomesOfTheConnection) {
  struct Row {
    int minor_version;
    Delivery delivery;
    std::string_view lines;
  };
  for (const Row& row : std::vector<Row>{
           {1, {false, true}, "\r\n"},
           {1, {false, false}, "Connection: close\r\n\r\n"},
           {1, {true, true}, "Transfer-Encoding: chunked\r\n\r\n"},
           {1, {true, false}, "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"},
           {0, {false, true}, "Connection: keep-alive\r\n\r\n"},
           {0, {false, false}, "Connection: close\r\n\r\n"},
       }) {
    Response response;
    response.begin(299, "Odd");
    response.shared_lines = "X: 1\r\n";
    response.fields.add("Y", "2");
    std::string out("before ");
    append_response_head(out, response, row.delivery, row.minor_version);
    EXPECT_EQ(out, "before HTTP/1.1 299 Odd\r\nX: 1\r\nY: 2\r\n" + std::string(row.lines));
  }
}

TEST(RequestHeadText, HasTheTargetTheHostTheFieldsAndWhatFramesTheContent) {
  const Target target{"/a", "b=c", true};
  hop::UpstreamRequest request = some_request("PUT");
  request.target = &target;
  request.fields = "X: 1\r\n";
  const auto text = [&] {
    std::string out;
    append_request_head(out, request);
    return out;
  };
  const std::string start = "PUT /a?b=c HTTP/1.1\r\nHost: a\r\nX: 1\r\n";
  EXPECT_EQ(text(), start + "\r\n");
  request.framing = {Framing::Kind::length, 5};
  request.expects_continue = true;
  EXPECT_EQ(text(), start + "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  request.framing = {Framing::Kind::chunked, 0};
  request.expects_continue = false;
  EXPECT_EQ(text(), start + "Transfer-Encoding: chunked\r\n\r\n");
  request.framing = {};
  request.upgrades = true;
  EXPECT_EQ(text(), start + "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
}

TEST(RequestHeadText, TheEmptyQueryStays) {
  const Target target{"/a", "", true};
  hop::UpstreamRequest request = some_request("GET");
  request.target = &target;
  std::string out;
  append_request_head(out, request);
  EXPECT_TRUE(out.starts_with("GET /a? HTTP/1.1\r\n")) << out;
}

}  // namespace
}  // namespace ringside::http
