#include "cache/messages.h"

#include <fmt/format.h>

#include <algorithm>

#include "cache/conditional.h"
#include "http/byte_range.h"
#include "http/date.h"
#include "http/internal_fields.h"
#include "http/targeted_cache_control.h"
#include "http1/head_text.h"

namespace ringside::cache {
namespace {

bool is_rewritten(std::string_view name, const Settings& settings) noexcept {
  using http::same_token;
  return same_token(name, "host") || same_token(name, "content-length") ||
         same_token(name, "via") || same_token(name, "expect") ||
         same_token(name, settings.country_header);
}

// Origins that speak Surrogate-Control want to know whether anybody listens (W3C note "Edge
// Architecture Specification" §2.1). What those before us say follows.
void append_capability(std::string& out, const Rules& rules) {
  const bool heeded = std::any_of(
      rules.targeted.begin(), rules.targeted.end(),
      [](const std::string& name) { return http::same_token(name, "surrogate-control"); });
  if (heeded) {
    http::append_field(out, "Surrogate-Capability",
                       fmt::format("{}=\"Surrogate/1.0\"", http::kSurrogateDevice));
  }
}

void append_asking(std::string& out, const Asking& asking) {
  if (asking.validated != nullptr) {
    const http::Fields& fields = asking.validated->fields();
    if (const auto etag = fields.first("etag")) http::append_field(out, "If-None-Match", *etag);
    if (const auto changed = fields.first("last-modified")) {
      http::append_field(out, "If-Modified-Since", *changed);
    }
  }
  if (!asking.range.empty()) http::append_field(out, "Range", asking.range);
  if (asking.same_as != nullptr) {
    const auto etag = asking.same_as->fields().first("etag");
    if (etag) http::append_field(out, "If-Range", *etag);
  }
}

// Those of the fields that pass `wanted`, by the route's rules.
template <class Wanted>
void append_fields(std::string& out, const http::Fields& fields, const Rules& rules,
                   const Wanted& wanted) {
  for (const http::Field& field : fields) {
    if (!rules.response_fields.replaces(field.name) && wanted(field.name)) {
      http::append_field(out, field.name, field.value);
    }
  }
  for (const auto& [name, value] : rules.response_fields.set) {
    if (wanted(name)) http::append_field(out, name, value);
  }
}

bool describes_content(std::string_view name) noexcept {
  return name.size() > 8 && http::same_token(name.substr(0, 8), "content-");
}

}  // namespace

void write_origin_head(std::string& out, const http::RequestHead& request, const Inquiry& inquiry,
                       const Settings& settings, std::string_view own_via, const Asking& asking) {
  out.clear();
  http::append_request_start(out, inquiry.method, inquiry.target, inquiry.host);
  if (inquiry.route != nullptr) append_capability(out, inquiry.rules());
  const auto connection = request.fields.combined("connection").value_or(std::string{});
  for (const http::Field& field : request.fields) {
    if (is_rewritten(field.name, settings) || http::is_internal(field.name) ||
        http::is_hop_by_hop(field.name, connection) || (asking.fills && is_condition(field.name)) ||
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
  append_asking(out, asking);
  if (inquiry.hop.upgrades) http::append_upgrade(out);
  out.append("\r\n");
}

void begin_stored_head(std::string& out, const StoredHead& stored, const Rules& rules) {
  if (rules.response_fields.empty()) {
    out = stored.text();
    return;
  }
  out = stored.text().substr(0, stored.text().find("\r\n") + 2);
  append_fields(out, stored.fields(), rules, [](std::string_view) { return true; });
}

void begin_partial_head(std::string& out, const StoredHead& stored, const Rules& rules,
                        std::string_view content_range, std::string_view content_type) {
  out.assign("HTTP/1.1 206 Partial Content\r\n");
  append_fields(out, stored.fields(), rules, [&](std::string_view name) {
    const bool said_anew = http::same_token(name, "content-range") ||
                           (!content_type.empty() && http::same_token(name, "content-type"));
    return !said_anew && !is_digest_of_content(name);
  });
  if (!content_type.empty()) http::append_field(out, "Content-Type", content_type);
  if (!content_range.empty()) http::append_field(out, "Content-Range", content_range);
}

// What describes the content that is not sent stays away: Content-Location may, and must, stand.
void begin_not_modified_head(std::string& out, const StoredHead& stored, const Rules& rules) {
  out.assign("HTTP/1.1 304 Not Modified\r\n");
  append_fields(out, stored.fields(), rules, [](std::string_view name) {
    return !describes_content(name) || http::same_token(name, "content-location");
  });
}

void begin_forwarded_head(std::string& out, const http::ResponseHead& response, const Rules& rules,
                          TimePoint now, std::string_view own_name) {
  out.clear();
  fmt::format_to(std::back_inserter(out), "HTTP/1.1 {} {}\r\n", response.status, response.reason);
  const auto connection = response.fields.combined("connection").value_or(std::string{});
  append_fields(out, response.fields, rules, [&](std::string_view name) {
    return !http::is_internal(name) && !http::is_hop_by_hop(name, connection);
  });
  http::append_date_if_absent(out, response.fields, now);
  http::append_field(out, "Via", http::via_member(response.minor_version, own_name));
}

void begin_unsatisfiable_head(std::string& out, std::uint64_t complete_length_bytes,
                              TimePoint now) {
  const auto date = http::format_date(now);
  out.assign("HTTP/1.1 416 Range Not Satisfiable\r\n");
  http::append_field(out, "Date", {date.data(), date.size()});
  http::append_field(out, "Content-Range", http::unsatisfied_range_text(complete_length_bytes));
}

std::string lines_not_stored(const http::Fields& fields, const std::vector<std::string>& names,
                             const Rules& rules) {
  const auto connection = fields.combined("connection").value_or(std::string{});
  std::string lines;
  for (const http::Field& field : fields) {
    const auto is_named = [&](const std::string& name) {
      return http::same_token(name, field.name);
    };
    if (std::none_of(names.begin(), names.end(), is_named) || http::is_internal(field.name) ||
        http::is_hop_by_hop(field.name, connection) || http::same_token(field.name, "age") ||
        rules.response_fields.replaces(field.name)) {
      continue;
    }
    http::append_field(lines, field.name, field.value);
  }
  return lines;
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

void end_head(std::string& out, const AnswerNotes& notes) {
  const auto to = std::back_inserter(out);
  out.append(notes.own_lines);
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
