#include "sidecar/messages.h"

#include <fmt/format.h>

#include "http/forwarded.h"
#include "http/internal_fields.h"
#include "http1/error_response.h"
#include "http1/head_text.h"

namespace ringside::sidecar {
namespace {

// Fields that are written anew below, so that what the client said of them goes no further than
// into the new value.
bool is_rewritten(std::string_view name, const Settings& settings) noexcept {
  using http::same_token;
  return same_token(name, "host") || same_token(name, "content-length") ||
         same_token(name, "via") || same_token(name, "forwarded") || same_token(name, "expect") ||
         same_token(name, "x-forwarded-for") || same_token(name, "x-forwarded-proto") ||
         same_token(name, settings.country_header);
}

// A trusted peer's own list is continued with the peer; anybody else's is dropped. Where there is
// none to continue, the list begins with the client as we know it. Its scheme is told of in our
// words alone: an origin must not be able to vary an answer by another than that in its key.
void append_forwarded_fields(std::string& out, const http::Fields& fields,
                             const Decision& decision) {
  const auto kept = [&](std::string_view name) {
    return decision.peer_is_trusted ? fields.combined(name) : std::nullopt;
  };
  const auto forwarded = kept("forwarded");
  std::string element;
  if (forwarded) {
    http::append_forwarded(element, decision.peer, name(decision.peer_scheme));
  } else {
    http::append_forwarded(element, decision.client, name(decision.scheme));
  }
  http::append_joined(out, "Forwarded", forwarded, element);
  const auto listed = kept("x-forwarded-for");
  http::append_joined(out, "X-Forwarded-For", listed,
                      (listed ? decision.peer : decision.client).text());
  http::append_field(out, "X-Forwarded-Proto", name(decision.scheme));
}

}  // namespace

void write_upstream_head(std::string& out, const http::RequestHead& request,
                         const Decision& decision, const Settings& settings,
                         std::string_view own_via, Upstream upstream) {
  out.clear();
  http::append_request_start(out, request.method, decision.target, decision.host);
  const auto connection = request.fields.combined("connection").value_or(std::string{});
  for (const http::Field& field : request.fields) {
    if (is_rewritten(field.name, settings) || http::is_internal(field.name) ||
        http::is_hop_by_hop(field.name, connection) ||
        (decision.hop.max_forwards && http::same_token(field.name, "max-forwards"))) {
      continue;
    }
    http::append_field(out, field.name, field.value);
  }
  http::append_framing(out, request.framing);
  http::append_expectation(out, request);
  http::append_max_forwards(out, decision.hop);
  http::append_via(out, request, own_via);
  append_forwarded_fields(out, request.fields, decision);
  // A route whose key is without the country must not let the origin's answer depend on it.
  if (decision.route->key.uses(shard::KeyPart::Kind::country)) {
    http::append_field(out, settings.country_header, decision.country.code());
  }
  if (upstream == Upstream::replica) {
    http::append_field(out, http::internal::topology, settings.membership->topology_id);
    http::append_field(out, http::internal::bucket,
                       std::to_string(shard::bucket_of(decision.hash)));
    if (decision.scheme != http::Scheme::http) {
      http::append_field(out, http::internal::scheme, name(decision.scheme));
    }
    if (!decision.extra_key.empty()) {
      http::append_field(out, http::internal::extra_key, decision.extra_key);
    }
  }
  if (decision.hop.upgrades) http::append_upgrade(out);
  out.append("\r\n");
}

ReplicaNotes read_notes(const http::Fields& fields) noexcept {
  return {fields.first(http::internal::outcome).value_or(std::string_view{}),
          fields.first(http::internal::near_ttl).value_or(std::string_view{})};
}

void begin_client_head(std::string& out, const http::ResponseHead& response, TimePoint now,
                       const http::CacheStatus& own, std::string_view left_out) {
  out.clear();
  fmt::format_to(std::back_inserter(out), "HTTP/1.1 {} {}\r\n", response.status, response.reason);
  const auto connection = response.fields.combined("connection").value_or(std::string{});
  std::string cache_status;
  for (const http::Field& field : response.fields) {
    if (http::same_token(field.name, "cache-status")) {
      if (!field.value.empty()) cache_status.append(field.value).append(", ");
      continue;
    }
    if (http::is_internal(field.name) || http::same_token(field.name, left_out) ||
        http::is_hop_by_hop(field.name, connection)) {
      continue;
    }
    http::append_field(out, field.name, field.value);
  }
  http::append_date_if_absent(out, response.fields, now);
  http::append_cache_status(cache_status, own);
  http::append_field(out, "Cache-Status", cache_status);
  http::append_field(out, "Via", http::via_member(response.minor_version, own.cache));
}

void end_client_head(std::string& out, int client_minor_version, const http::Delivery& delivery) {
  if (delivery.coding == http::Coding::chunked) out.append("Transfer-Encoding: chunked\r\n");
  if (!delivery.keep_alive) {
    out.append("Connection: close\r\n");
  } else if (client_minor_version == 0) {
    out.append("Connection: keep-alive\r\n");
  }
  out.append("\r\n");
}

}  // namespace ringside::sidecar
