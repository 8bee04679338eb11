#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/field_lines.h"

namespace ringside::http {

// One member of Cache-Status (RFC 9211 §2).
struct CacheStatus {
  enum class Forward { none, bypass, method, uri_miss, vary_miss, miss, request, stale, partial };
  std::string_view cache{};  // the replica's name, or "ringside" for the sidecar
  bool hit = false;          // excludes everything but ttl, key and detail
  Forward forward = Forward::none;
  int forward_status = 0;  // 0: absent
  bool stored = false;
  bool collapsed = false;
  std::optional<std::int64_t> ttl_seconds{};  // negative when stale
  std::string_view key{};                     // quoted; absent where empty
  std::string_view detail{};  // a token, quoted where it is none; absent where empty
};

// The value of `fwd` (RFC 9211 §2.2); empty for none. docs/cache-status.md has a row for each,
// which a test asks for.
[[nodiscard]] std::string_view name(CacheStatus::Forward forward) noexcept;

// Appends the member as a structured field item: a token, or a quoted string where the name is none
// (bytes outside printable ASCII replaced). The ", " between members is the caller's.
void append_cache_status(std::string& out, const CacheStatus& status);

// The field, with our member alone.
void add_cache_status(FieldLines& out, const CacheStatus& own);

// One member of Proxy-Status (RFC 9209 §2) for an answer of our own making.
struct ProxyStatus {
  std::string_view proxy{};
  std::string_view error{};    // a token of RFC 9209 §2.3; absent where empty
  std::string_view details{};  // quoted, bytes outside printable ASCII replaced; absent where empty
};
void append_proxy_status(std::string& out, const ProxyStatus& status);
// The parameter alone, behind a member that has none.
void append_proxy_details(std::string& out, std::string_view details);

}  // namespace ringside::http
