#pragma once

#include <string_view>

#include "cache/freshness.h"
#include "http/cache_control.h"
#include "http/fields.h"

namespace ringside::cache {

// Whether a response may be stored (RFC 9111 §3), and if not, why: the `detail` of Cache-Status.
enum class Storability {
  storable,
  method,        // only GET is stored
  request_said,  // the request's no-store
  no_store,
  is_private,
  authorization,  // §3.5
  status,         // 206 and 304 are no whole responses
  vary_any,       // Vary: *
  set_cookie,     // meant for one client: the safe default
  no_lifetime,    // neither a lifetime nor a validator: it could never be used
};
[[nodiscard]] std::string_view name(Storability storability) noexcept;

struct StorabilityInput {
  std::string_view method;
  const http::RequestDirectives& asked;
  bool authorized = false;  // the request had Authorization
  int status = 0;
  const http::Fields& fields;  // of the response
  const http::ResponseDirectives& directives;
  const Freshness& freshness;
};
[[nodiscard]] Storability storability(const StorabilityInput& input) noexcept;

}  // namespace ringside::cache
