#include "sidecar/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "http/forwarded.h"
#include "http/hop.h"
#include "http/internal_fields.h"

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

// Fields by which proxies tell an application what the client asked for. No key holds them, so from
// a client they would change what is stored for all.
bool is_of_proxies(std::string_view name) noexcept {
  using http::same_token;
  constexpr std::string_view prefix = "x-forwarded-";
  constexpr std::array<std::string_view, 6> others = {"x-real-ip",      "x-host",
                                                      "x-original-url", "x-original-host",
                                                      "x-rewrite-url",  "x-http-host-override"};
  return same_token(name.substr(0, prefix.size()), prefix) ||
         std::any_of(others.begin(), others.end(),
                     [name](std::string_view other) { return same_token(other, name); });
}

// What goes no further than here. WSGI and CGI know no difference between `_` and `-`: they would
// read `X_Country` as the field that we write.
bool is_dropped(std::string_view name, const Decision& decision,
                const Settings& settings) noexcept {
  return is_rewritten(name, settings) || http::is_internal(name) ||
         (!decision.peer_is_trusted && is_of_proxies(name)) ||
         (!settings.underscores && name.find('_') != std::string_view::npos) ||
         (decision.hop.max_forwards && http::same_token(name, "max-forwards"));
}

// A trusted peer's own list is continued with the peer; anybody else's is dropped. Where there is
// none to continue, the list begins with the client as we know it. Its scheme is told of in our
// words alone: an origin must not be able to vary an answer by another than that in its key.
void add_forwarded_fields(http::FieldLines& out, const http::Fields& fields,
                          const Decision& decision) {
  const auto kept = [&](std::string_view name) {
    return decision.peer_is_trusted ? fields.combined(name) : std::nullopt;
  };
  const auto forwarded = kept("forwarded");
  out.add_written("Forwarded", [&](std::string& text) {
    if (forwarded && !forwarded->empty()) text.append(*forwarded).append(", ");
    if (forwarded) {
      http::append_forwarded(text, decision.peer, name(decision.peer_scheme));
    } else {
      http::append_forwarded(text, decision.client, name(decision.scheme));
    }
  });
  const auto listed = kept("x-forwarded-for");
  out.add_joined("X-Forwarded-For", listed, (listed ? decision.peer : decision.client).text());
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
  const http::HopByHop hop_by_hop(request.fields);
  for (const http::Field& field : request.fields) {
    if (is_dropped(field.name, decision, settings) || hop_by_hop.has(field.name)) continue;
    out.add(field.name, field.value);
  }
  http::add_hop_fields(out, request, decision.hop, own_via);
  add_forwarded_fields(out, request.fields, decision);
  // A route whose key is without the country must not let the origin's answer depend on it.
  if (decision.route->key.uses(shard::KeyPart::Kind::country)) {
    out.add(settings.country_header, decision.country.code());
  }
  if (upstream == Upstream::origin) return;
  out.add(http::internal::topology, settings.membership->topology_id);
  out.add(http::internal::bucket, fmt::format_int(shard::bucket_of(decision.hash)).c_str());
  if (const auto client = told_client(decision, settings); client != IpAddress{}) {
    out.add(http::internal::client, client.text());
  }
  if (decision.scheme != http::Scheme::http) {
    out.add(http::internal::scheme, name(decision.scheme));
  }
  if (!decision.extra_key.empty()) out.add(http::internal::extra_key, decision.extra_key);
}

ReplicaNotes read_notes(const http::Fields& fields) noexcept {
  return {fields.first(http::internal::outcome).value_or(std::string_view{}),
          fields.first(http::internal::near_ttl).value_or(std::string_view{})};
}

void add_client_fields(http::FieldLines& out, const http::ResponseHead& head, TimePoint now,
                       const http::CacheStatus& own, std::string_view via_name,
                       std::string_view left_out) {
  const http::HopByHop hop_by_hop(head.fields);
  const auto is_status = [](const http::Field& field) {
    return http::same_token(field.name, "cache-status");
  };
  for (const http::Field& field : head.fields) {
    const bool is_wrong_length =
        http::same_token(field.name, "content-length") && !http::may_have_length(head.status);
    if (is_status(field) || is_wrong_length || http::is_internal(field.name) ||
        http::same_token(field.name, left_out) || hop_by_hop.has(field.name)) {
      continue;
    }
    out.add(field.name, field.value);
  }
  http::add_date_if_absent(out, head.fields, now);
  out.add_written("Cache-Status", [&](std::string& text) {
    for (const http::Field& field : head.fields) {
      if (is_status(field) && !field.value.empty()) text.append(field.value).append(", ");
    }
    http::append_cache_status(text, own);
  });
  out.add_written("Via", [&](std::string& text) {
    http::append_via_member(text, head.minor_version, via_name);
  });
}

}  // namespace ringside::sidecar
