#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "http/fields.h"

namespace ringside::http {

// Cache-Control of a request (RFC 9111 §5.2.1). Pragma: no-cache counts where there is no
// Cache-Control (§5.4). A max-age, max-stale or stale-if-error that can't be parsed counts as 0,
// which asks for the freshest; such a min-fresh as absent. Of duplicates the first counts. Our
// cache changes no content, so that no-transform (§5.2.1.6) has nothing to say to it.
struct RequestDirectives {
  bool no_cache = false;
  bool no_store = false;
  bool only_if_cached = false;
  std::optional<Seconds> max_age;
  std::optional<Seconds> min_fresh;
  std::optional<Seconds> max_stale;       // Seconds::max() where it has no value
  std::optional<Seconds> stale_if_error;  // RFC 5861 §4
  bool operator==(const RequestDirectives&) const = default;
};

// Cache-Control of a response (RFC 9111 §5.2.2). A delta-seconds that can't be parsed counts as 0
// (stale, §4.2.1); too large ones are capped at 2^31 (§1.2.2). Of duplicates the first
// max-age/s-maxage counts. Names in any case, values as tokens or quoted strings (§5.2); arguments
// of directives that have none are ignored, and so are unknown directives.
//
// no-cache and private with field names (§5.2.2.4, §5.2.2.7), as a quoted list or a single token,
// say something of these fields only. An argument that is no list of names, an empty one and one of
// more than limits::structured_members names count as none: then the whole response is meant.
struct ResponseDirectives {
  bool no_store = false;
  bool no_cache = false;    // without field names
  bool is_private = false;  // likewise
  bool is_public = false;
  bool must_revalidate = false;
  bool proxy_revalidate = false;
  bool must_understand = false;
  bool no_transform = false;
  bool immutable = false;
  // From a field other than Cache-Control (see targeted_cache_control.h): Expires says nothing.
  bool is_targeted = false;
  std::optional<Seconds> max_age;
  std::optional<Seconds> s_maxage;
  std::optional<Seconds> stale_while_revalidate;
  std::optional<Seconds> stale_if_error;
  // Views into the fields, as written: in any case, perhaps more than once.
  std::vector<std::string_view> no_cache_fields;
  std::vector<std::string_view> private_fields;
  bool operator==(const ResponseDirectives&) const = default;
};

[[nodiscard]] RequestDirectives parse_request_directives(const Fields& fields);
[[nodiscard]] ResponseDirectives parse_response_directives(const Fields& fields);

// The rest is for parsers of the same directives in other fields.

// An argument (RFC 9111 §5.2): a token, or what stands between the quotes of a quoted string, as
// written: no directive has use for a backslash. Empty for anything else.
[[nodiscard]] std::string_view bare_argument(std::string_view text) noexcept;

using Lifetime = std::optional<Seconds> ResponseDirectives::*;

// Where the seconds of a directive of that name go; nullptr where it has none.
[[nodiscard]] Lifetime lifetime_named(std::string_view name) noexcept;

// At least 0 and at most 2^31 (RFC 9111 §1.2.2).
[[nodiscard]] Seconds as_delta_seconds(std::int64_t seconds) noexcept;

// Adds a directive that has no seconds. `argument` is a bare one, nullopt where there is none.
void add_flag(std::string_view name, const std::optional<std::string_view>& argument,
              ResponseDirectives& out);

}  // namespace ringside::http
