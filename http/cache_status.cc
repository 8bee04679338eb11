#include "http/cache_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "http/structured_field.h"

namespace ringside::http {

std::string_view name(CacheStatus::Forward forward) noexcept {
  using Forward = CacheStatus::Forward;
  switch (forward) {
    case Forward::none:
      return "";
    case Forward::bypass:
      return "bypass";
    case Forward::method:
      return "method";
    case Forward::uri_miss:
      return "uri-miss";
    case Forward::vary_miss:
      return "vary-miss";
    case Forward::miss:
      return "miss";
    case Forward::request:
      return "request";
    case Forward::stale:
      return "stale";
    case Forward::partial:
      return "partial";
  }
  return "";
}

namespace {

// RFC 9651 §3.3.3.
void append_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c >= 0x20 && c < 0x7f ? c : '?';
  }
  out += '"';
}

void append_item(std::string& out, std::string_view text) {
  if (structured::is_token(text)) {
    out += text;
  } else {
    append_string(out, text);
  }
}

void append_integer(std::string& out, std::string_view parameter, std::int64_t value) {
  out += parameter;
  const fmt::format_int digits(
      std::clamp(value, -structured::kIntegerMost, structured::kIntegerMost));
  out.append(digits.data(), digits.size());
}

}  // namespace

void append_cache_status(std::string& out, const CacheStatus& status) {
  append_item(out, status.cache);
  if (status.hit) {
    out += "; hit";
  } else if (status.forward != CacheStatus::Forward::none) {
    out.append("; fwd=").append(name(status.forward));
    if (status.forward_status != 0) append_integer(out, "; fwd-status=", status.forward_status);
    if (status.stored) out += "; stored";
    if (status.collapsed) out += "; collapsed";
  }
  if (status.ttl_seconds) append_integer(out, "; ttl=", *status.ttl_seconds);
  if (!status.key.empty()) append_string(out.append("; key="), status.key);
  if (!status.detail.empty()) append_item(out.append("; detail="), status.detail);
}

void add_cache_status(FieldLines& out, const CacheStatus& own) {
  out.add_written("Cache-Status", [&](std::string& text) { append_cache_status(text, own); });
}

void append_proxy_details(std::string& out, std::string_view details) {
  append_string(out.append("; details="), details);
}

void append_proxy_status(std::string& out, const ProxyStatus& status) {
  append_item(out, status.proxy);
  if (!status.error.empty()) append_item(out.append("; error="), status.error);
  if (!status.details.empty()) append_proxy_details(out, status.details);
}

}  // namespace ringside::http
