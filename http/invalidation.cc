#include "http/invalidation.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/limits.h"
#include "http/head.h"

namespace ringside::http {
namespace {

constexpr std::uint16_t http_port = 80;
constexpr std::uint16_t https_port = 443;

// Whether an authority with that default port is the host of the request.
bool is_host(std::string_view authority, std::uint16_t default_port, std::string_view host) {
  const auto there = split_host(authority);
  const auto here = split_host(host);
  const auto port = [&](const HostParts& parts) {
    return parts.port == 0 ? default_port : parts.port;
  };
  return there && here && same_token(there->name, here->name) && port(*there) == port(*here);
}

// RFC 3986 §3.1: what stands before the first colon, where no other part of a URI begins earlier.
bool has_scheme(std::string_view reference) noexcept {
  const std::size_t end = reference.find_first_of(":/?#");
  return end != reference.npos && reference[end] == ':';
}

// RFC 3986 §5.2.2, for what is of the request's origin, before dot segments are removed: path and
// query, with the slash that begins a path. `reference` has no fragment.
std::optional<std::string> resolved(std::string_view reference, std::string_view host,
                                    const Target& base) {
  const bool names_host = reference.starts_with("//");
  if (names_host || has_scheme(reference)) {
    const std::string absolute = (names_host ? "http:" : "") + std::string(reference);
    const auto parts = split_absolute(absolute);
    if (!parts) return std::nullopt;
    const bool is_https = same_token(std::string_view(absolute).substr(0, 5), "https");
    const bool as_https = (is_https || names_host) && is_host(parts->authority, https_port, host);
    const bool as_http = !is_https && is_host(parts->authority, http_port, host);
    if (!as_https && !as_http) return std::nullopt;
    return (parts->rest.starts_with('/') ? "" : "/") + std::string(parts->rest);
  }
  if (reference.empty()) return base.text();
  if (reference.starts_with('/')) return std::string(reference);
  if (reference.starts_with('?')) return base.path + std::string(reference);
  return base.path.substr(0, base.path.rfind('/') + 1) + std::string(reference);
}

void add_once(std::vector<std::string>& targets, std::string text) {
  const bool may_be_asked_for = text.size() <= limits::request_line_size_bytes;
  if (may_be_asked_for && std::find(targets.begin(), targets.end(), text) == targets.end()) {
    targets.push_back(std::move(text));
  }
}

}  // namespace

std::optional<std::string> target_of_reference(std::string_view reference, std::string_view host,
                                               const Target& base) {
  const auto path_and_query = resolved(reference.substr(0, reference.find('#')), host, base);
  Target named;
  if (!path_and_query || !normalise_target(*path_and_query, named)) return std::nullopt;
  return named.text();
}

std::vector<std::string> invalidated_targets(std::string_view method, std::string_view host,
                                             const Target& target, int status,
                                             const Fields& response) {
  std::vector<std::string> targets;
  if (is_safe(method) || status < 200 || status >= 400) return targets;
  Target base = target;
  if (target.path == "*") {
    base.path = "/";
  } else {
    add_once(targets, target.text());
  }
  for (const std::string_view name : {"location", "content-location"}) {
    const auto value = response.first(name);
    if (!value) continue;
    if (auto named = target_of_reference(*value, host, base)) add_once(targets, std::move(*named));
  }
  return targets;
}

}  // namespace ringside::http
