#include "http/error_response.h"

#include <fmt/format.h>

#include "http/cache_status.h"

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
    case ErrorKind::overloaded:
      return answer(429, "");
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

void make_error_response(Response& out, const Error& error, const ErrorTerms& terms) {
  const ErrorAnswer told = answer_for(error);
  // What is asked for the client itself has said.
  const bool tells_all =
      terms.tells_all || error.source == ErrorSource::client || error.kind == ErrorKind::not_found;
  std::string body = fmt::format("{} {}", told.status, told.reason);
  if (tells_all) body.append(": ").append(error.message);
  body += '\n';
  out.begin(told.status, told.reason);
  out.is_last = error.source == ErrorSource::client;
  FieldLines& fields = out.fields;
  fields.add("Content-Type", "text/plain; charset=utf-8");
  fields.add("Content-Length", fmt::to_string(body.size()));
  fields.add("Cache-Control", "no-store");
  add_date(fields, terms.now);
  if (!terms.cache_status.empty()) fields.add("Cache-Status", terms.cache_status);
  if (!told.proxy_error.empty()) {
    std::string proxy_status;
    append_proxy_status(proxy_status, {terms.proxy, told.proxy_error,
                                       tells_all ? std::string_view(error.message) : ""});
    fields.add("Proxy-Status", proxy_status);
  }
  if (told.status == 503 || told.status == 429) fields.add("Retry-After", "1");
  if (told.status == 405) fields.add("Allow", allowed_methods);
  out.body = Body(std::move(body));
}

void make_options_response(Response& out, TimePoint now) {
  out.begin(200, reason_of(200));
  out.fields.add("Allow", allowed_methods);
  add_date(out.fields, now);
  out.fields.add("Content-Length", "0");
}

std::string_view reason_of(int status) noexcept {
  switch (status) {
    case 100:
      return "Continue";
    case 200:
      return "OK";
    case 206:
      return "Partial Content";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
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
    case 416:
      return "Range Not Satisfiable";
    case 421:
      return "Misdirected Request";
    case 429:
      return "Too Many Requests";
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

}  // namespace ringside::http
