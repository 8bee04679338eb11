#pragma once

#include <string_view>

#include "cache/rules.h"
#include "http/fields.h"

namespace ringside::cache {

// True where a request has what the condition names: a field line (of any with that name, the value
// as it stands), a cookie (RFC 6265 §4.2.1; names and values are case-sensitive) or a parameter of
// the query (without `?`; one without `=` has an empty value). Of `every_request` it is true.
[[nodiscard]] bool matches(const Condition& condition, const http::Fields& fields,
                           std::string_view query) noexcept;

// True where any of them matches.
[[nodiscard]] bool matches_any(const std::vector<Condition>& conditions, const http::Fields& fields,
                               std::string_view query) noexcept;

}  // namespace ringside::cache
