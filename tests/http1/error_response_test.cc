#include "http1/error_response.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "http1/head_parser.h"

namespace ringside::http {
namespace {

struct Row {
  ErrorKind kind;
  ErrorSource source;
  int status;
  std::string proxy_error;
};

TEST(ErrorAnswer, OfEveryKindAndSource) {
  using enum ErrorKind;
  using enum ErrorSource;
  const std::vector<Row> rows{
      {malformed, client, 400, ""},
      {head_too_large, client, 431, ""},
      {target_too_long, client, 414, ""},
      {body_too_large, client, 413, ""},
      {unsupported, client, 501, ""},
      {method_not_allowed, client, 405, ""},
      {loop, client, 508, "proxy_loop_detected"},
      {unsupported_version, client, 505, ""},
      {timeout, client, 408, ""},
      {ErrorKind::not_found, client, 404, ""},
      {forbidden, client, 403, ""},
      {disconnected, client, 400, ""},
      {malformed, origin, 502, "http_protocol_error"},
      {malformed, peer, 502, "http_protocol_error"},
      {unsupported, origin, 502, "http_protocol_error"},
      {unsupported_version, origin, 502, "http_protocol_error"},
      {head_too_large, origin, 502, "http_response_header_section_size"},
      {body_too_large, origin, 502, "http_response_body_size"},
      {refused, origin, 502, "connection_refused"},
      {refused, peer, 502, "connection_refused"},
      {unresolved, origin, 502, "dns_error"},
      {unresolved, peer, 502, "dns_error"},
      {untrusted, origin, 502, "tls_certificate_error"},
      {disconnected, origin, 502, "connection_terminated"},
      {timeout, origin, 504, "http_response_timeout"},
      {timeout, peer, 504, "http_response_timeout"},
      {timeout, ourselves, 504, "http_response_timeout"},
      {ErrorKind::not_found, ourselves, 404, "destination_not_found"},
      {no_replica, ourselves, 503, "destination_unavailable"},
      {overloaded, ourselves, 503, "connection_limit_reached"},
      {circuit_open, ourselves, 503, "destination_unavailable"},
      {internal, ourselves, 500, "proxy_internal_error"},
      {disconnected, ourselves, 500, "proxy_internal_error"},
  };
  for (const Row& row : rows) {
    const auto told = answer_for({row.kind, row.source, Retry::no, ""});
    EXPECT_EQ(told.status, row.status) << name(row.kind) << " of " << name(row.source);
    EXPECT_EQ(told.proxy_error, row.proxy_error) << name(row.kind) << " of " << name(row.source);
    EXPECT_EQ(told.reason, reason_of(row.status));
    EXPECT_NE(told.reason, "");
  }
}

TEST(ErrorResponse, IsAWholeAndValidResponse) {
  const Error error{ErrorKind::refused, ErrorSource::origin, Retry::yes, "nobody \"there\"\n"};
  ErrorResponse how;
  how.proxy = "cache-3";
  how.cache_status = "cache-3; fwd=uri-miss";
  how.more_lines = "X-More: 1\r\n";
  for (const bool head_only : {false, true}) {
    how.head_only = head_only;
    const std::string bytes = error_response(error, how);
    const std::size_t end = bytes.find("\r\n\r\n") + 4;
    ResponseHead head;
    const auto parsed = parse_response_head(std::string_view(bytes).substr(0, end),
                                            HeadLimits::defaults(), "GET", ErrorSource::peer, head);
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(head.status, 502);
    EXPECT_EQ(head.reason, "Bad Gateway");
    EXPECT_EQ(head.fields.first("cache-status"), how.cache_status);
    EXPECT_EQ(head.fields.first("cache-control"), "no-store");
    EXPECT_EQ(head.fields.first("date"), "Thu, 01 Jan 1970 00:00:00 GMT");
    EXPECT_EQ(head.fields.first("x-more"), "1");
    EXPECT_EQ(head.fields.first("retry-after"), std::nullopt);
    EXPECT_TRUE(
        head.fields.first("proxy-status")
            ->starts_with("cache-3; error=connection_refused; details=\"nobody \\\"there\\\""));
    EXPECT_FALSE(head.keep_alive);
    EXPECT_EQ(head.framing.length_bytes,
              bytes.size() - end + (head_only ? head.framing.length_bytes : 0));
    EXPECT_GT(head.framing.length_bytes, 0U);
  }
}

TEST(ErrorResponse, LeavesOutWhatDoesNotConcernIt) {
  ErrorResponse how;
  how.close = false;
  const auto clients =
      error_response({ErrorKind::malformed, ErrorSource::client, Retry::no, "x"}, how);
  EXPECT_EQ(clients.find("Proxy-Status"), clients.npos);
  EXPECT_EQ(clients.find("Cache-Status"), clients.npos);
  EXPECT_EQ(clients.find("Connection"), clients.npos);
  const auto busy =
      error_response({ErrorKind::overloaded, ErrorSource::ourselves, Retry::no, "x"}, how);
  EXPECT_NE(busy.find("Retry-After: 1\r\n"), busy.npos);
}

// RFC 9110 §15.5.6
TEST(ErrorResponse, AMethodThatIsNotAllowedIsToldWhichAre) {
  const auto refused =
      error_response({ErrorKind::method_not_allowed, ErrorSource::client, Retry::no, "x"}, {});
  EXPECT_NE(refused.find("\r\nAllow: GET, HEAD, "), refused.npos) << refused;
  EXPECT_EQ(refused.find("TRACE"), refused.npos);
}

TEST(OptionsResponse, IsAWholeHead) {
  for (const bool close : {false, true}) {
    const std::string bytes = options_response(TimePoint{}, close);
    ResponseHead head;
    ASSERT_TRUE(
        parse_response_head(bytes, HeadLimits::defaults(), "OPTIONS", ErrorSource::peer, head));
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.keep_alive, !close);
    EXPECT_EQ(head.framing.length_bytes, 0U);
    EXPECT_EQ(head.fields.first("date"), "Thu, 01 Jan 1970 00:00:00 GMT");
    EXPECT_TRUE(head.fields.has("allow"));
  }
}

}  // namespace
}  // namespace ringside::http
