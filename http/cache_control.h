#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"
#include "http/fields.h"

namespace ringside::http {

// Cache-Control of a request (RFC 9111 §5.2.1). Pragma: no-cache counts where there is no
// Cache-Control (§5.4). A max-age or max-stale that can't be parsed counts as 0, which asks for the
// freshest; such a min-fresh as absent.
struct RequestDirectives {
  bool no_cache = false;
  bool no_store = false;
  bool only_if_cached = false;
  std::optional<Seconds> max_age;
  std::optional<Seconds> min_fresh;
  std::optional<Seconds> max_stale;  // Seconds::max() where it has no value
};

// Cache-Control of a response (RFC 9111 §5.2.2). A delta-seconds that can't be parsed counts as 0
// (stale, §4.2.1); too large ones are capped at 2^31 (§1.2.2). Of duplicates the first
// max-age/s-maxage counts. Names in any case, values as tokens or quoted strings (§5.2); arguments
// of directives that have none are ignored, and so are unknown directives.
struct ResponseDirectives {
  bool no_store = false;
  bool no_cache = false;    // without field names; with names it counts as unqualified here
  bool is_private = false;  // likewise
  bool is_public = false;
  bool must_revalidate = false;
  bool proxy_revalidate = false;
  bool must_understand = false;
  bool no_transform = false;
  bool immutable = false;
  std::optional<Seconds> max_age;
  std::optional<Seconds> s_maxage;
  std::optional<Seconds> stale_while_revalidate;
  std::optional<Seconds> stale_if_error;
};

[[nodiscard]] RequestDirectives parse_request_directives(const Fields& fields);
[[nodiscard]] ResponseDirectives parse_response_directives(const Fields& fields);

}  // namespace ringside::http
