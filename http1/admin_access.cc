#include "http1/admin_access.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/secret.h"
#include "http/fields.h"
#include "http/target.h"

namespace ringside::http {
namespace {

bool names(std::string_view ours, std::string_view host) noexcept {
  if (!ours.starts_with("*.")) return same_token(ours, host);
  const std::string_view below = ours.substr(1);
  return host.size() > below.size() && same_token(below, host.substr(host.size() - below.size()));
}

bool is_ours(const AdminAccess& access, std::string_view host) {
  const auto parts = split_host(host);
  if (!parts) return false;
  const std::string_view name = parts->name;
  if (name.starts_with('[') || IpAddress::try_parse(name)) return true;
  return same_token(name, "localhost") ||
         std::any_of(access.hosts.begin(), access.hosts.end(),
                     [name](std::string_view ours) { return names(ours, name); });
}

// Whether a page of another site has made a browser send this: it could drain or purge what only
// this machine can reach. Programs send no Origin.
bool is_from_another_site(const RequestHead& request) {
  const auto origin = request.fields.first("origin");
  if (!origin) return false;
  const auto scheme_end = origin->find("://");
  return scheme_end == std::string_view::npos ||
         origin->substr(scheme_end + 3) != request.fields.first("host").value_or("");
}

// RFC 6750 §2.1
std::string_view bearer_token(const RequestHead& request) {
  constexpr std::string_view scheme = "Bearer ";
  const std::string_view given = request.fields.first("authorization").value_or("");
  if (!same_token(given.substr(0, scheme.size()), scheme)) return {};
  return trimmed(given.substr(scheme.size()));
}

}  // namespace

std::optional<AdminRefusal> refuse_access(const AdminAccess& access, const RequestHead& request,
                                          const IpAddress& from) {
  if (!is_ours(access, request.host)) {
    return AdminRefusal{421, fmt::format("{} is no name of this process; ask by its address or "
                                         "localhost, or give it --admin-host {}",
                                         request.host, request.host)};
  }
  if (request.method == "GET" || request.method == "HEAD") return std::nullopt;
  if (is_from_another_site(request)) {
    return AdminRefusal{403, "a page of another site may not change anything here"};
  }
  if (!access.token.empty()) {
    if (same_secret(bearer_token(request), access.token)) return std::nullopt;
    return AdminRefusal{401,
                        "changes need the token of --admin-token-file: send it as "
                        "`Authorization: Bearer TOKEN`"};
  }
  if (from.is_loopback()) return std::nullopt;
  return AdminRefusal{403,
                      "without a token changes are taken from this machine alone; start with "
                      "--admin-token-file FILE, and send what is in it as "
                      "`Authorization: Bearer TOKEN`"};
}

}  // namespace ringside::http
