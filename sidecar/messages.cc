#include "sidecar/messages.h"

#include <fmt/format.h>

#include <algorithm>

#include "http/canonical_field.h"
#include "http/forwarded.h"
#include "http/hop.h"
#include "http/internal_fields.h"
#include "sidecar/canonical_request.h"

namespace ringside::sidecar {
namespace {

// Whether the value is a part of a key, and goes on in the form in which it is there: the replica's
// rules may make something else of what is only like it.
bool is_keyed(std::string_view name, const Decision& decision) noexcept {
  const auto& parts = decision.keyed_by->parts;
  return (decision.peer_is_trusted && is_of_proxies(name)) ||
         std::any_of(parts.begin(), parts.end(), [name](const shard::KeyPart& part) {
           return part.kind == shard::KeyPart::Kind::header && http::same_token(part.name, name);
         });
}

// The list in which a trusted peer tells of the hops is continued with the peer; anybody else's,
// and the other one, which nobody vouches for, begin with the client as we know it. Its scheme is
// told of in our words alone: an origin must not be able to vary an answer by another than that in
// its key.
void add_forwarded_fields(http::FieldLines& out, const Decision& decision,
                          const Settings& settings) {
  const auto continues = [&](std::string_view name) {
    return !decision.hops_told.empty() && http::same_token(settings.client_address_from, name);
  };
  out.add_written("Forwarded", [&](std::string& text) {
    if (continues("forwarded")) {
      text.append(decision.hops_told).append(", ");
      http::append_forwarded(text, decision.peer, name(decision.peer_scheme));
    } else {
      http::append_forwarded(text, decision.client, name(decision.scheme));
    }
  });
  if (continues(http::x_forwarded_for)) {
    out.add_joined("X-Forwarded-For", decision.hops_told, decision.peer.text());
  } else {
    out.add("X-Forwarded-For", decision.client.text());
  }
  out.add("X-Forwarded-Proto", name(decision.scheme));
}

}  // namespace

IpAddress told_client(const Decision& decision, const Settings& settings) {
  return any_contains(settings.trusted, decision.client) ? IpAddress{} : decision.client;
}

void write_upstream_fields(http::FieldLines& out, const http::RequestHead& request,
                           const Decision& decision, const Settings& settings,
                           std::string_view own_via, Upstream upstream) {
  out.clear();
  for (const http::Field& field : request.fields) {
    if (http::same_token(field.name, "via")) continue;  // is continued
    if (is_keyed(field.name, decision)) {
      if (http::is_continued_line(request.fields, field)) continue;
      http::add_canonical(out, request.fields, field);
    } else if (tells_address(field.name)) {
      out.add(field.name, decision.client.text());
    } else {
      out.add(field.name, field.value);
    }
  }
  http::add_hop_fields(out, request, decision.hop, own_via);
  add_forwarded_fields(out, decision, settings);
  // A route whose key is without the country must not let the origin's answer depend on it.
  if (decision.keyed_by->uses(shard::KeyPart::Kind::country)) {
    out.add(settings.country_header, decision.country.code());
  }
  if (upstream == Upstream::origin) return;
  out.add(http::internal::topology, settings.membership->topology_id);
  const shard::Bucket bucket = settings.membership->topology->bucket_for(decision.key());
  out.add(http::internal::bucket, fmt::format_int(bucket).c_str());
  if (const auto client = told_client(decision, settings); client != IpAddress{}) {
    out.add(http::internal::client, client.text());
  }
  if (decision.scheme != http::Scheme::http) {
    out.add(http::internal::scheme, name(decision.scheme));
  }
  if (!decision.extra_key.empty()) out.add(http::internal::extra_key, decision.extra_key);
  const auto route = http::name_in_key(decision.route->match, decision.route->name);
  if (!route.empty()) out.add(http::internal::route, route);
}

ReplicaNotes read_notes(const http::Fields& fields) noexcept {
  return {fields.first(http::internal::outcome).value_or(std::string_view{}),
          fields.first(http::internal::near_ttl).value_or(std::string_view{})};
}

void add_client_fields(http::FieldLines& out, const http::ResponseHead& head, TimePoint now,
                       const http::CacheStatus& own, std::string_view via_name,
                       std::string_view left_out, bool tells_all) {
  const auto detail = tells_all ? head.fields.first(http::internal::detail) : std::nullopt;
  const http::HopByHop hop_by_hop(head.fields);
  const auto is_status = [](const http::Field& field) {
    return http::same_token(field.name, "cache-status");
  };
  if (left_out.empty()) {
    out.append(head.ready_lines);
  } else {
    for (const http::Field& field : http::fields_of(head.ready_lines)) {
      if (!http::same_token(field.name, left_out)) out.add(field.name, field.value);
    }
  }
  for (const http::Field& field : head.fields) {
    const bool is_wrong_length =
        http::same_token(field.name, "content-length") && !http::may_have_length(head.status);
    if (is_status(field) || is_wrong_length || http::is_internal(field.name) ||
        http::same_token(field.name, left_out) || hop_by_hop.has(field.name)) {
      continue;
    }
    if (detail && http::same_token(field.name, "proxy-status")) {
      out.add_written(field.name, [&](std::string& text) {
        http::append_proxy_details(text.append(field.value), *detail);
      });
      continue;
    }
    out.add(field.name, field.value);
  }
  if (head.ready_lines.empty()) http::add_date_if_absent(out, head.fields, now);
  const bool has_own = own.hit || own.forward != http::CacheStatus::Forward::none;
  if (has_own || head.fields.has("cache-status")) {
    out.add_written("Cache-Status", [&](std::string& text) {
      std::string_view separator;
      for (const http::Field& field : head.fields) {
        if (!is_status(field) || field.value.empty()) continue;
        text.append(separator).append(field.value);
        separator = ", ";
      }
      if (has_own) http::append_cache_status(text.append(separator), own);
    });
  }
  out.add_written("Via", [&](std::string& text) {
    http::append_via_member(text, head.minor_version, via_name);
  });
}

}  // namespace ringside::sidecar
