#include "cache/messages.h"

#include <fmt/format.h>

#include "cache/conditional.h"
#include "http/date.h"
#include "http/head_text.h"
#include "http/internal_fields.h"

namespace ringside::cache {
namespace {

bool is_rewritten(std::string_view name, const Settings& settings) noexcept {
  using http::same_token;
  return same_token(name, "host") || same_token(name, "content-length") ||
         same_token(name, "via") || same_token(name, "expect") ||
         same_token(name, settings.country_header);
}

void append_conditions(std::string& out, const StoredHead& validated) {
  if (const auto etag = validated.fields().first("etag"))
    http::append_field(out, "If-None-Match", *etag);
  if (const auto changed = validated.fields().first("last-modified")) {
    http::append_field(out, "If-Modified-Since", *changed);
  }
}

}  // namespace

void write_origin_head(std::string& out, const http::RequestHead& request, const Inquiry& inquiry,
                       const Settings& settings, std::string_view own_via, Asking asking,
                       const StoredHead* validated) {
  out.clear();
  http::append_request_start(out, inquiry.method, inquiry.target, inquiry.host);
  const auto connection = request.fields.combined("connection").value_or(std::string{});
  for (const http::Field& field : request.fields) {
    if (is_rewritten(field.name, settings) || http::is_internal(field.name) ||
        http::is_hop_by_hop(field.name, connection) ||
        (asking == Asking::whole && is_condition(field.name)) ||
        (inquiry.hop.max_forwards && http::same_token(field.name, "max-forwards"))) {
      continue;
    }
    http::append_field(out, field.name, field.value);
  }
  http::append_framing(out, request.framing);
  http::append_expectation(out, request);
  http::append_max_forwards(out, inquiry.hop);
  http::append_via(out, request, own_via);
  if (!inquiry.country.empty()) http::append_field(out, settings.country_header, inquiry.country);
  if (validated != nullptr) append_conditions(out, *validated);
  if (inquiry.hop.upgrades) http::append_upgrade(out);
  out.append("\r\n");
}

void begin_forwarded_head(std::string& out, const http::ResponseHead& response, TimePoint now,
                          std::string_view via_name) {
  out.clear();
  fmt::format_to(std::back_inserter(out), "HTTP/1.1 {} {}\r\n", response.status, response.reason);
  const auto connection = response.fields.combined("connection").value_or(std::string{});
  for (const http::Field& field : response.fields) {
    if (http::is_internal(field.name) || http::is_hop_by_hop(field.name, connection)) continue;
    http::append_field(out, field.name, field.value);
  }
  http::append_date_if_absent(out, response.fields, now);
  fmt::format_to(std::back_inserter(out), "Via: 1.{} {}\r\n", response.minor_version, via_name);
}

std::string purge_response(std::size_t removed, bool keep_alive, TimePoint now) {
  const auto body = fmt::format("purged {} stored responses\n", removed);
  const auto date = http::format_date(now);
  return fmt::format(
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n"
      "Date: {}\r\n{}: {}\r\n{}\r\n{}",
      body.size(), std::string_view(date.data(), date.size()), http::internal::purged, removed,
      keep_alive ? "" : "Connection: close\r\n", body);
}

void begin_not_modified_head(std::string& out, const StoredHead& stored) {
  out.assign("HTTP/1.1 304 Not Modified\r\n");
  for (const http::Field& field : stored.fields()) {
    // What describes the body that is not sent stays away: Content-Location may, and must, stand.
    const bool describes_body = field.name.size() > 8 &&
                                http::same_token(field.name.substr(0, 8), "content-") &&
                                !http::same_token(field.name, "content-location");
    if (!describes_body) http::append_field(out, field.name, field.value);
  }
}

void end_head(std::string& out, const AnswerNotes& notes) {
  const auto to = std::back_inserter(out);
  if (notes.age) fmt::format_to(to, "Age: {}\r\n", notes.age->count());
  if (notes.length_bytes) fmt::format_to(to, "Content-Length: {}\r\n", *notes.length_bytes);
  out.append("Cache-Status: ");
  http::append_cache_status(out, notes.status);
  out.append("\r\n");
  if (notes.coding == http::Coding::chunked) out.append("Transfer-Encoding: chunked\r\n");
  if (!notes.keep_alive) {
    out.append("Connection: close\r\n");
  } else if (notes.client_minor_version == 0) {
    out.append("Connection: keep-alive\r\n");
  }
  if (notes.to_sidecar) {
    http::append_field(out, http::internal::outcome, metrics::name(notes.outcome));
    if (notes.near_ttl) {
      http::append_field(out, http::internal::near_ttl, fmt::to_string(notes.near_ttl->count()));
    }
  }
  out.append("\r\n");
}

}  // namespace ringside::cache
