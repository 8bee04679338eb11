#include "http1/error_response.h"

#include <fmt/format.h>

#include "http/cache_status.h"
#include "http/date.h"

namespace ringside::http {
namespace {

ErrorAnswer answer(int status, std::string_view proxy_error) noexcept {
  return {status, reason_of(status), proxy_error};
}

ErrorAnswer answer_client(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::head_too_large:
      return answer(431, "");
    case ErrorKind::target_too_long:
      return answer(414, "");
    case ErrorKind::body_too_large:
      return answer(413, "");
    case ErrorKind::unsupported:
      return answer(501, "");
    case ErrorKind::method_not_allowed:
      return answer(405, "");
    case ErrorKind::loop:
      return answer(508, "proxy_loop_detected");
    case ErrorKind::unsupported_version:
      return answer(505, "");
    case ErrorKind::timeout:
      return answer(408, "");
    case ErrorKind::not_found:
      return answer(404, "");
    case ErrorKind::forbidden:
      return answer(403, "");
    default:
      return answer(400, "");
  }
}

ErrorAnswer answer_upstream(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::timeout:
      return answer(504, "http_response_timeout");
    case ErrorKind::refused:
      return answer(502, "connection_refused");
    case ErrorKind::unresolved:
      return answer(502, "dns_error");
    case ErrorKind::untrusted:
      return answer(502, "tls_certificate_error");
    case ErrorKind::disconnected:
      return answer(502, "connection_terminated");
    case ErrorKind::head_too_large:
      return answer(502, "http_response_header_section_size");
    case ErrorKind::body_too_large:
      return answer(502, "http_response_body_size");
    default:
      return answer(502, "http_protocol_error");
  }
}

}  // namespace

ErrorAnswer answer_for(const Error& error) noexcept {
  switch (error.source) {
    case ErrorSource::client:
      return answer_client(error.kind);
    case ErrorSource::peer:
    case ErrorSource::origin:
      return answer_upstream(error.kind);
    case ErrorSource::ourselves:
      break;
  }
  if (error.kind == ErrorKind::not_found) return answer(404, "destination_not_found");
  if (error.kind == ErrorKind::no_replica) return answer(503, "destination_unavailable");
  if (error.kind == ErrorKind::overloaded) return answer(503, "connection_limit_reached");
  if (error.kind == ErrorKind::circuit_open) return answer(503, "destination_unavailable");
  if (error.kind == ErrorKind::timeout) return answer(504, "http_response_timeout");
  return answer(500, "proxy_internal_error");
}

std::string error_response(const Error& error, const ErrorResponse& how) {
  const ErrorAnswer told = answer_for(error);
  const std::string body = fmt::format("{} {}: {}\n", told.status, told.reason, error.message);
  const auto date = format_date(how.now);
  std::string out = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n"
      "Cache-Control: no-store\r\nDate: {}\r\n",
      told.status, told.reason, body.size(), std::string_view(date.data(), date.size()));
  if (!how.cache_status.empty()) {
    fmt::format_to(std::back_inserter(out), "Cache-Status: {}\r\n", how.cache_status);
  }
  if (!told.proxy_error.empty()) {
    out += "Proxy-Status: ";
    append_proxy_status(out, {how.proxy, told.proxy_error, error.message});
    out += "\r\n";
  }
  if (told.status == 503) out += "Retry-After: 1\r\n";
  if (told.status == 405) out.append("Allow: ").append(allowed_methods).append("\r\n");
  out += how.more_lines;
  if (how.close) out += "Connection: close\r\n";
  out += "\r\n";
  if (!how.head_only) out += body;
  return out;
}

std::string_view reason_of(int status) noexcept {
  switch (status) {
    case 200:
      return "OK";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    case 508:
      return "Loop Detected";
    default:
      return "";
  }
}

std::string options_response(TimePoint now, bool close) {
  const auto date = format_date(now);
  return fmt::format("HTTP/1.1 200 OK\r\nAllow: {}\r\nDate: {}\r\nContent-Length: 0\r\n{}\r\n",
                     allowed_methods, std::string_view(date.data(), date.size()),
                     close ? "Connection: close\r\n" : "");
}

}  // namespace ringside::http
