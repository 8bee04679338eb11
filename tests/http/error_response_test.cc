#include "http/error_response.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ringside::http {
namespace {

struct ErrorRow {
  ErrorKind kind;
  ErrorSource source;
  int status;
  std::string proxy_error;
};

TEST(ErrorAnswer, OfEveryKindAndSource) {
  using enum ErrorKind;
  using enum ErrorSource;
  const std::vector<ErrorRow> rows{
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
      {overloaded, client, 429, ""},
      {circuit_open, ourselves, 503, "destination_unavailable"},
      {internal, ourselves, 500, "proxy_internal_error"},
      {disconnected, ourselves, 500, "proxy_internal_error"},
  };
  for (const ErrorRow& row : rows) {
    const auto told = answer_for({row.kind, row.source, Retry::no, ""});
    EXPECT_EQ(told.status, row.status) << name(row.kind) << " of " << name(row.source);
    EXPECT_EQ(told.proxy_error, row.proxy_error) << name(row.kind) << " of " << name(row.source);
    EXPECT_EQ(told.reason, reason_of(row.status));
    EXPECT_NE(told.reason, "");
  }
}

TEST(ErrorResponse, TellsWhatAndWho) {
  const Error error{ErrorKind::refused, ErrorSource::origin, Retry::yes, "nobody \"there\"\n"};
  Response response;
  response.fields.add("X-Left", "from before");
  make_error_response(response, error, {"cache-3", "cache-3; fwd=uri-miss", TimePoint{}, true});
  EXPECT_EQ(response.status, 502);
  EXPECT_EQ(response.reason, "Bad Gateway");
  EXPECT_FALSE(response.is_last);
  const Fields fields = http::fields_of(response.fields.text());
  EXPECT_EQ(fields.first("cache-status"), "cache-3; fwd=uri-miss");
  EXPECT_EQ(fields.first("cache-control"), "no-store");
  EXPECT_EQ(fields.first("date"), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(fields.first("retry-after"), std::nullopt);
  EXPECT_FALSE(fields.has("x-left"));
  EXPECT_TRUE(
      fields.first("proxy-status")
          ->starts_with("cache-3; error=connection_refused; details=\"nobody \\\"there\\\""));
  const auto pulled = response.body.take();
  ASSERT_TRUE(pulled && *pulled);
  ASSERT_EQ((*pulled)->pieces.size(), 1U);
  EXPECT_EQ(fields.first("content-length"), std::to_string((*pulled)->pieces.front().size()));
}

// The body of a 502 told whoever asked where our origins are.
TEST(ErrorResponse, AStrangerWasToldTheAddressesBehindUs) {
  const Error error{ErrorKind::refused, ErrorSource::origin, Retry::yes, "10.0.0.7:8000 refused"};
  Response response;
  make_error_response(response, error, {"cache-3", "", TimePoint{}});
  EXPECT_EQ(response.fields.text().find("10.0.0.7"), std::string_view::npos);
  EXPECT_EQ(http::fields_of(response.fields.text()).first("proxy-status"),
            "cache-3; error=connection_refused");
  const auto pulled = response.body.take();
  ASSERT_TRUE(pulled && *pulled);
  EXPECT_EQ((*pulled)->pieces.front(), "502 Bad Gateway\n");
}

// A client that was wrong is told why, whoever it is.
TEST(ErrorResponse, AClientIsToldWhatItDidWrong) {
  Response response;
  make_error_response(response, {ErrorKind::malformed, ErrorSource::client, Retry::no, "why"}, {});
  const auto pulled = response.body.take();
  ASSERT_TRUE(pulled && *pulled);
  EXPECT_EQ((*pulled)->pieces.front(), "400 Bad Request: why\n");
}

Response response_for(ErrorKind kind, ErrorSource source) {
  Response response;
  make_error_response(response, {kind, source, Retry::no, "x"}, {});
  return response;
}

TEST(ErrorResponse, LeavesOutWhatDoesNotConcernIt) {
  const auto clients = response_for(ErrorKind::malformed, ErrorSource::client);
  EXPECT_EQ(clients.fields.text().find("Proxy-Status"), std::string_view::npos);
  EXPECT_EQ(clients.fields.text().find("Cache-Status"), std::string_view::npos);
  const auto busy = response_for(ErrorKind::overloaded, ErrorSource::ourselves);
  EXPECT_NE(busy.fields.text().find("Retry-After: 1\r\n"), std::string_view::npos);
}

TEST(ErrorResponse, AClientThatWasWrongIsSentAway) {
  EXPECT_TRUE(response_for(ErrorKind::malformed, ErrorSource::client).is_last);
  EXPECT_FALSE(response_for(ErrorKind::timeout, ErrorSource::origin).is_last);
}

// RFC 9110 §15.5.6
TEST(ErrorResponse, AMethodThatIsNotAllowedIsToldWhichAre) {
  const auto refused = response_for(ErrorKind::method_not_allowed, ErrorSource::client);
  EXPECT_NE(refused.fields.text().find("\r\nAllow: GET, HEAD, "), std::string_view::npos);
  EXPECT_EQ(refused.fields.text().find("TRACE"), std::string_view::npos);
}

TEST(OptionsResponse, TellsWhatIsAllowed) {
  Response response;
  make_options_response(response, TimePoint{});
  EXPECT_EQ(response.status, 200);
  const Fields fields = http::fields_of(response.fields.text());
  EXPECT_EQ(fields.first("content-length"), "0");
  EXPECT_EQ(fields.first("date"), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_TRUE(fields.has("allow"));
}

}  // namespace
}  // namespace ringside::http
