#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

// The paths of routes: prefixes in whole segments, of which `{name}` is any one that is not empty.
// In the normal form a brace is a placeholder's, since a normal path (normalise_target) has none.
namespace ringside::http {

// The normal form. An Error tells what is no path, or no placeholder: it is a whole segment, named
// by letters, digits, '_' and '-', each name once, at most limits::route_placeholders of them.
[[nodiscard]] Result<std::string> normalise_pattern(std::string_view text);

[[nodiscard]] bool has_placeholders(std::string_view pattern) noexcept;

// What is behind the pattern's segments in a path that has them all; nullopt: it has not.
[[nodiscard]] std::optional<std::string_view> behind_pattern(std::string_view pattern,
                                                             std::string_view path) noexcept;

// Whole segments, as far as the pattern goes: /a/{x} matches /a/7 and /a/7/b, and neither /a nor
// /a/; /a/{x}/ not /a/7.
[[nodiscard]] bool pattern_matches(std::string_view pattern, std::string_view path) noexcept;

// The pattern without its last placeholders: one for each that has nothing but placeholders behind
// it, the longest first. /a/{x}/{y}: /a/{x}, /a.
[[nodiscard]] std::vector<std::string> cut_patterns(std::string_view pattern);

// Of two patterns that match a path the one with the smaller text is more specific: at the first
// difference a name is before a placeholder, and any segment before none.
[[nodiscard]] std::string specificity(std::string_view pattern);

// Two patterns of the same shape match the same paths.
[[nodiscard]] std::string shape_of(std::string_view pattern);

// Which segment of the path the placeholder is, counted from 1.
[[nodiscard]] std::optional<std::size_t> placeholder_segment(std::string_view pattern,
                                                             std::string_view name) noexcept;

// A segment of a normal path, counted from 1; empty: there are not so many. A run of slashes counts
// as one, as routes are found.
[[nodiscard]] std::string_view path_segment(std::string_view path, std::size_t number) noexcept;

}  // namespace ringside::http
