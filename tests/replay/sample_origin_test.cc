#include "replay/sample_origin.h"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <set>

#include "base/limits.h"
#include "base/task.h"
#include "replay/sample_page.h"
#include "tests/support/system_clock.h"

namespace ringside::replay {
namespace {

using support::system_clock;

namespace asio = boost::asio;

TEST(SamplePage, DependsOnPathAndCountryAlone) {
  const SamplePage page = sample_page("/a", "DE");
  EXPECT_EQ(page.html, sample_page("/a", "DE").html);
  EXPECT_EQ(page.etag, sample_page("/a", "DE").etag);
  EXPECT_NE(page.etag, sample_page("/a", "FR").etag);
  EXPECT_NE(page.etag, sample_page("/b", "DE").etag);
  EXPECT_NE(page.html.find("As seen from DE"), std::string::npos);
}

TEST(SamplePage, SizesVaryFrom1To20KiB) {
  std::set<std::size_t> sizes;
  for (int i = 0; i < 200; ++i) {
    const auto size = sample_page("/" + std::to_string(i), "DE").html.size();
    EXPECT_GE(size, limits::kKiB);
    EXPECT_LE(size, 20 * limits::kKiB);
    sizes.insert(size);
  }
  EXPECT_GT(sizes.size(), 100U);
}

TEST(SamplePage, APathCantBringMarkup) {
  EXPECT_EQ(sample_page("/<script>", "DE").html.find("<script>"), std::string::npos);
}

TEST(NamesEntityTag, WeakComparisonOfAList) {
  EXPECT_TRUE(names_entity_tag("\"a\"", "\"a\""));
  EXPECT_TRUE(names_entity_tag("\"b\", W/\"a\"", "\"a\""));
  EXPECT_TRUE(names_entity_tag("*", "\"a\""));
  EXPECT_FALSE(names_entity_tag("\"b\"", "\"a\""));
  EXPECT_FALSE(names_entity_tag("", "\"a\""));
}

// Sends text and reads until the origin closes; `Connection: close` is the caller's to ask for.
std::string ask(const Endpoint& address, const std::string& text) {
  asio::io_context context;
  asio::ip::tcp::socket socket(context);
  socket.connect({asio::ip::make_address(address.host), address.port});
  asio::write(socket, asio::buffer(text));
  std::string answer;
  boost::system::error_code end;
  asio::read(socket, asio::dynamic_buffer(answer), end);
  EXPECT_EQ(end, asio::error::eof);
  return answer;
}

class Origin : public testing::Test {
 protected:
  Origin() : origin_(SampleOrigin::start({"127.0.0.1", 0}, system_clock).value()) {}
  std::string ask_origin(const std::string& line, const std::string& fields = "",
                         const std::string& body = "") {
    return ask(origin_->address(),
               line + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + fields + "\r\n" + body);
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }
  std::unique_ptr<SampleOrigin> origin_;
};

TEST_F(Origin, AnswersGetWithACacheablePage) {
  const std::string answer = ask_origin("GET /a", "X-Country: DE\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer.substr(0, 200);
  for (const char* field : {"Cache-Control: max-age=3600", "ETag: \"",
                            "Last-Modified: ", "Date: ", "Content-Length: ", "Connection: close"}) {
    EXPECT_TRUE(has(answer, std::string("\r\n") + field)) << field;
  }
  EXPECT_TRUE(answer.ends_with("\r\n\r\n" + sample_page("/a", "DE").html));
  EXPECT_EQ(origin_->requests(), 1U);
}

TEST_F(Origin, HeadHasTheFieldsAndNoBody) {
  const std::string answer = ask_origin("HEAD /a");
  EXPECT_TRUE(
      has(answer, "Content-Length: " + std::to_string(sample_page("/a", "ZZ").html.size())));
  EXPECT_TRUE(answer.ends_with("\r\n\r\n"));
}

TEST_F(Origin, RevalidatesWith304) {
  const std::string etag = sample_page("/a", "ZZ").etag;
  const std::string answer = ask_origin("GET /a", "If-None-Match: " + etag + "\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 304 ")) << answer;
  EXPECT_TRUE(has(answer, "ETag: " + etag));
  EXPECT_TRUE(answer.ends_with("\r\n\r\n"));
  const std::string changed = ask_origin("GET /a", "If-None-Match: \"other\"\r\n");
  EXPECT_TRUE(changed.starts_with("HTTP/1.1 200 ")) << changed.substr(0, 100);
}

TEST_F(Origin, TellsHowMuchWasPosted) {
  EXPECT_TRUE(
      ask_origin("POST /a", "Content-Length: 5\r\n", "12345").ends_with("received 5 bytes\n"));
  EXPECT_TRUE(ask_origin("PUT /a", "Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n0\r\n\r\n")
                  .ends_with("received 3 bytes\n"));
}

TEST_F(Origin, AGetWithABodyIsAnsweredAndTheNextRequestIsFound) {
  const std::string answers = ask(origin_->address(),
                                  "GET /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
                                  "GET /b HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(answers.ends_with(sample_page("/b", "ZZ").html));
  EXPECT_EQ(origin_->requests(), 2U);
}

TEST_F(Origin, WhatIsNoRequestGets400) {
  const std::string answer = ask(origin_->address(), "nonsense\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << answer;
  EXPECT_EQ(origin_->requests(), 0U);
}

TEST_F(Origin, AnAddressThatIsTakenIsNamed) {
  const auto second = SampleOrigin::start(origin_->address(), system_clock);
  ASSERT_FALSE(second.has_value());
  EXPECT_NE(second.error().message.find(origin_->address().text()), std::string::npos);
}

}  // namespace
}  // namespace ringside::replay
