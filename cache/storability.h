#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cache/freshness.h"
#include "cache/rules.h"
#include "http/cache_control.h"
#include "http/fields.h"

namespace ringside::cache {

// Whether a response may be stored (RFC 9111 §3), and if not, why: the `detail` of Cache-Status.
enum class Storability {
  storable,
  method,        // GET is stored, and POST where its answer is what a GET would get
  request_said,  // the request's no-store
  no_store,
  is_private,
  authorization,  // §3.5
  status,         // no final one, 304, a part that is not understood; or must-understand
  vary_any,       // Vary: *
  set_cookie,     // meant for one client: the safe default
  no_lifetime,    // nobody says that it may be kept, or it could never be used
};
[[nodiscard]] std::string_view name(Storability storability) noexcept;

struct StorabilityInput {
  std::string_view method;
  const http::RequestDirectives& asked;
  bool authorized = false;  // the request had Authorization
  int status = 0;
  const http::Fields& fields;                  // of the response
  const http::ResponseDirectives& directives;  // its effective_directives
  const Freshness& freshness;
  const Rules& rules;
  bool content_location_is_target = false;  // Content-Location is the request's target URI
  bool is_understood_part = false;          // a 206 with one valid Content-Range
};
[[nodiscard]] Storability storability(const StorabilityInput& input) noexcept;

// The names of the fields that a response is stored without, in any case: those that private="…"
// and no-cache="…" name, and Set-Cookie unless the route stores it. Only who caused the fetch gets
// them.
[[nodiscard]] std::vector<std::string> fields_not_stored(const http::ResponseDirectives& directives,
                                                         const Rules& rules);

}  // namespace ringside::cache
