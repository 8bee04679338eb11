#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ringside::http {

// What is made of paths that origins read in more than one way, so that no request slips past the
// rules of a route by another spelling. What is said of `merge_slashes` and `escaped_slashes` where
// nobody says it is up to who makes the routes; here it is nothing.
struct PathRules {
  std::optional<bool> merge_slashes;            // `/a//b` is `/a/b`
  std::optional<bool> refuses_escaped_slashes;  // %2F and %5C, which a backslash becomes too
  std::optional<bool> refuses_parameters;       // `;` and %3B, which servlet containers cut off
  bool operator==(const PathRules&) const = default;
};

// The three work on normal forms (normalise_target).
[[nodiscard]] bool has_double_slash(std::string_view path) noexcept;
[[nodiscard]] bool has_escaped_slash(std::string_view path) noexcept;
[[nodiscard]] bool has_parameters(std::string_view path) noexcept;

// The path with each run of slashes as one.
[[nodiscard]] std::string with_merged_slashes(std::string_view path);

// The path as an origin reads it that takes escaped slashes and backslashes for slashes and then
// removes dot segments; and, with Parameters::cut, parameters before that.
enum class Parameters { kept, cut };
[[nodiscard]] std::string as_read_plainly(std::string_view path, Parameters parameters);

}  // namespace ringside::http
