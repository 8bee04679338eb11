#pragma once

#include "base/clock.h"
#include "http/fields.h"

namespace ringside::cache {

// Weak comparison of two entity tags (RFC 9110 §8.8.3.2).
[[nodiscard]] bool same_entity(std::string_view a, std::string_view b) noexcept;

// True where a GET's or HEAD's own conditions say that its sender has this response already, so
// that 304 answers it: If-None-Match, else If-Modified-Since (RFC 9110 §13.2.2, RFC 9111 §4.3.2).
[[nodiscard]] bool is_not_modified(const http::Fields& request, const http::Fields& stored,
                                   TimePoint now) noexcept;

// True for the request fields that make it conditional or partial; a request that fills the store
// goes without them.
[[nodiscard]] bool is_condition(std::string_view field_name) noexcept;

}  // namespace ringside::cache
