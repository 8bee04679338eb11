#pragma once

#include <array>
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

// A directive, and where it goes: a flag; a flag that is not set where an argument names the fields
// that are meant, which go to `fields`; or seconds.
template <class Directives>
struct DirectiveRow {
  std::string_view name;
  bool Directives::*flag = nullptr;
  std::vector<std::string_view> Directives::*fields = nullptr;
  std::optional<Seconds> Directives::*seconds = nullptr;
  std::optional<Seconds> bare{};                 // of seconds: what it says without an argument
  std::optional<Seconds> otherwise{Seconds{0}};  // and where the argument can't be parsed
  bool forbids = false;  // counts as said where its argument makes no sense (RFC 9213 §2.1)
};

// All that we heed, for whatever field or syntax they come in. A new one is a row here, and a line
// of docs/rules.md, which a test asks for.
inline constexpr auto kRequestDirectives = std::to_array<DirectiveRow<RequestDirectives>>({
    {.name = "no-cache", .flag = &RequestDirectives::no_cache},
    {.name = "max-age", .seconds = &RequestDirectives::max_age},
    {.name = "no-store", .flag = &RequestDirectives::no_store},
    {.name = "only-if-cached", .flag = &RequestDirectives::only_if_cached},
    {.name = "min-fresh", .seconds = &RequestDirectives::min_fresh, .otherwise = std::nullopt},
    {.name = "max-stale", .seconds = &RequestDirectives::max_stale, .bare = Seconds::max()},
    {.name = "stale-if-error", .seconds = &RequestDirectives::stale_if_error},
});
inline constexpr auto kResponseDirectives = std::to_array<DirectiveRow<ResponseDirectives>>({
    {.name = "max-age", .seconds = &ResponseDirectives::max_age},
    {.name = "s-maxage", .seconds = &ResponseDirectives::s_maxage},
    {.name = "stale-while-revalidate", .seconds = &ResponseDirectives::stale_while_revalidate},
    {.name = "stale-if-error", .seconds = &ResponseDirectives::stale_if_error},
    {.name = "public", .flag = &ResponseDirectives::is_public},
    {.name = "no-store", .flag = &ResponseDirectives::no_store, .forbids = true},
    {.name = "no-cache",
     .flag = &ResponseDirectives::no_cache,
     .fields = &ResponseDirectives::no_cache_fields,
     .forbids = true},
    {.name = "private",
     .flag = &ResponseDirectives::is_private,
     .fields = &ResponseDirectives::private_fields,
     .forbids = true},
    {.name = "immutable", .flag = &ResponseDirectives::immutable},
    {.name = "no-transform", .flag = &ResponseDirectives::no_transform},
    {.name = "must-revalidate", .flag = &ResponseDirectives::must_revalidate},
    {.name = "proxy-revalidate", .flag = &ResponseDirectives::proxy_revalidate},
    {.name = "must-understand", .flag = &ResponseDirectives::must_understand},
});

// nullptr where no row has that name, in any case.
template <class Rows>
[[nodiscard]] const typename Rows::value_type* find_directive(const Rows& rows,
                                                              std::string_view name) noexcept {
  for (const auto& row : rows) {
    if (same_token(row.name, name)) return &row;
  }
  return nullptr;
}

[[nodiscard]] RequestDirectives parse_request_directives(const Fields& fields);
[[nodiscard]] ResponseDirectives parse_response_directives(const Fields& fields);

// The rest is for parsers of the same directives in other fields.

// An argument (RFC 9111 §5.2): a token, or what stands between the quotes of a quoted string, as
// written: no directive has use for a backslash. Empty for anything else.
[[nodiscard]] std::string_view bare_argument(std::string_view text) noexcept;

// delta-seconds (RFC 9111 §1.2.2): digits, capped at 2^31; nullopt where it is anything else.
[[nodiscard]] std::optional<Seconds> delta_seconds(std::string_view digits) noexcept;
// At least 0 and at most 2^31.
[[nodiscard]] Seconds as_delta_seconds(std::int64_t seconds) noexcept;

// Adds what a directive says. `argument` is a bare one, nullopt where there is none. Of duplicates
// the first seconds count (RFC 9111 §4.2.1).
void add_directive(const DirectiveRow<ResponseDirectives>& row,
                   const std::optional<std::string_view>& argument, ResponseDirectives& out);

}  // namespace ringside::http
