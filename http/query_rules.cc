#include "http/query_rules.h"

#include <algorithm>

#include "base/limits.h"

namespace ringside::http {
namespace {

std::string_view name_of(std::string_view parameter) noexcept {
  return parameter.substr(0, parameter.find('='));
}

bool is_like(std::string_view name, std::string_view pattern) noexcept {
  if (pattern.empty() || pattern.back() != '*') return name == pattern;
  pattern.remove_suffix(1);
  return name.starts_with(pattern);
}

bool is_among(std::string_view name, const std::vector<std::string>& patterns) noexcept {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return is_like(name, pattern); });
}

}  // namespace

std::string QueryRules::applied(std::string_view query) const {
  const auto separators = static_cast<std::size_t>(std::count(query.begin(), query.end(), '&'));
  if (empty() || separators >= limits::query_parameters) return std::string(query);
  std::vector<std::string_view> parameters;
  parameters.reserve(separators + 1);
  for (std::size_t start = 0; start < query.size();) {
    const std::size_t end = std::min(query.find('&', start), query.size());
    const std::string_view parameter = query.substr(start, end - start);
    start = end + 1;
    if (parameter.empty()) continue;
    const std::string_view name = name_of(parameter);
    if (!keep.empty() && !is_among(name, keep)) continue;
    if (!is_among(name, drop)) parameters.push_back(parameter);
  }
  if (sort) {
    std::stable_sort(parameters.begin(), parameters.end(),
                     [](auto a, auto b) { return name_of(a) < name_of(b); });
  }
  std::string out;
  out.reserve(query.size());
  for (const std::string_view parameter : parameters) {
    if (!out.empty()) out.push_back('&');
    out.append(parameter);
  }
  return out;
}

void QueryRules::apply_to(Target& target) const {
  if (!target.has_query || empty()) return;
  target.query = applied(target.query);
  target.has_query = !target.query.empty();
}

}  // namespace ringside::http
