#include "http/path_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "base/quotation.h"
#include "http/target.h"

namespace ringside::http {
namespace {

constexpr std::string_view braces = "{}";

// Takes `/segment` from the front of a path that starts with a slash.
std::string_view take_segment(std::string_view& path) noexcept {
  path.remove_prefix(1);
  const std::string_view segment = path.substr(0, path.find('/'));
  path.remove_prefix(segment.size());
  return segment;
}

bool is_placeholder(std::string_view segment) noexcept { return segment.starts_with('{'); }

std::string_view name_of(std::string_view placeholder) noexcept {
  return placeholder.substr(1, placeholder.size() - 2);
}

bool is_well_formed(std::string_view placeholder) noexcept {
  if (placeholder.size() <= 2 || !is_placeholder(placeholder) || placeholder.back() != '}') {
    return false;
  }
  const std::string_view name = name_of(placeholder);
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '-';
  });
}

Error no_path(std::string_view text) {
  return invalid_input(fmt::format("{} is no path; write one that starts with /", quotation(text)));
}

Result<std::string> normalise_literal(std::string_view text) {
  Target target;
  if (!normalise_target(text, target)) return no_path(text);
  return target.path;
}

// Of a pattern; alone, so that no dot segment takes a placeholder away.
Result<std::string> normalise_segment(std::string_view segment, std::string_view text) {
  Target target;
  if (!normalise_target(fmt::format("/{}", segment), target)) return no_path(text);
  if (target.path != "/" || segment.empty()) return target.path.substr(1);
  return invalid_input(fmt::format(
      "{} has a dot segment beside a placeholder; write the path that is meant", quotation(text)));
}

}  // namespace

Result<std::string> normalise_pattern(std::string_view text) {
  if (text.empty() || text.front() != '/' || text.find('?') != std::string_view::npos) {
    return no_path(text);
  }
  if (text.find_first_of(braces) == std::string_view::npos) return normalise_literal(text);
  std::string pattern;
  std::vector<std::string_view> names;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view segment = take_segment(rest);
    pattern.push_back('/');
    if (segment.find_first_of(braces) == std::string_view::npos) {
      auto normal = normalise_segment(segment, text);
      if (!normal) return normal.error();
      pattern += *normal;
      continue;
    }
    if (!is_well_formed(segment)) {
      return invalid_input(
          fmt::format("{}: {} is no placeholder; write {{NAME}} as a whole segment, of letters, "
                      "digits, _ and -, or %7B and %7D for braces",
                      quotation(text), quotation(segment)));
    }
    if (std::find(names.begin(), names.end(), name_of(segment)) != names.end()) {
      return invalid_input(fmt::format("{}: {} stands twice; give each placeholder its own name",
                                       quotation(text), segment));
    }
    names.push_back(name_of(segment));
    if (names.size() > limits::route_placeholders) {
      return invalid_input(fmt::format("{}: {} is one placeholder too many; at most {}",
                                       quotation(text), segment, limits::route_placeholders));
    }
    pattern += segment;
  }
  return pattern;
}

bool has_placeholders(std::string_view pattern) noexcept {
  return pattern.find('{') != std::string_view::npos;
}

std::optional<std::string_view> behind_pattern(std::string_view pattern,
                                               std::string_view path) noexcept {
  while (!pattern.empty() && pattern != "/") {
    if (!path.starts_with('/')) return std::nullopt;
    const std::string_view wanted = take_segment(pattern);
    const std::string_view found = take_segment(path);
    if (is_placeholder(wanted) ? found.empty() : found != wanted) return std::nullopt;
  }
  return path;
}

bool pattern_matches(std::string_view pattern, std::string_view path) noexcept {
  const auto rest = behind_pattern(pattern, path);
  if (!rest) return false;
  return rest->starts_with('/') || (rest->empty() && pattern.back() != '/');
}

std::vector<std::string> cut_patterns(std::string_view pattern) {
  std::vector<std::string> cut;
  if (pattern.ends_with('/')) pattern.remove_suffix(1);
  while (pattern.ends_with('}')) {
    pattern = pattern.substr(0, pattern.rfind('/'));
    cut.emplace_back(pattern);
  }
  return cut;
}

std::string specificity(std::string_view pattern) {
  constexpr char named = 'a';
  constexpr char any = 'b';
  constexpr char slash_at_end = 'c';
  constexpr char end = 'd';
  std::string out;
  while (!pattern.empty() && pattern != "/") {
    out.push_back(is_placeholder(take_segment(pattern)) ? any : named);
  }
  out.push_back(pattern.empty() ? end : slash_at_end);
  return out;
}

std::string shape_of(std::string_view pattern) {
  std::string out;
  bool is_name = false;
  for (const char c : pattern) {
    if (c == '}') is_name = false;
    if (!is_name) out.push_back(c);
    if (c == '{') is_name = true;
  }
  return out;
}

std::optional<std::size_t> placeholder_segment(std::string_view pattern,
                                               std::string_view name) noexcept {
  for (std::size_t number = 1;; ++number) {
    const std::string_view segment = path_segment(pattern, number);
    if (segment.empty()) return std::nullopt;
    if (is_placeholder(segment) && name_of(segment) == name) return number;
  }
}

std::string_view path_segment(std::string_view path, std::size_t number) noexcept {
  while (path.starts_with('/')) {
    const std::string_view segment = take_segment(path);
    if (!segment.empty() && --number == 0) return segment;
  }
  return {};
}

}  // namespace ringside::http
