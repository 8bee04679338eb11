#include "http/request_conditions.h"

#include <algorithm>

#include "http/canonical_field.h"

namespace ringside::http {
namespace {

bool is_value(const ValueCondition& condition, std::string_view value) {
  if (condition.value) return *condition.value == value;
  return !condition.regex || condition.regex->matches(value);
}

// Without the others: whether the request may be signed changes nothing here, since a rule may take
// the signature away between two hops.
std::string canonical_lines(const Fields& fields, std::string_view name) {
  Fields alone;
  fields.for_each(name, [&](std::string_view value) { alone.add(name, value); });
  std::string lines;
  append_canonical(lines, alone, name);
  return lines;
}

bool has_header(const Fields& fields, const ValueCondition& condition) {
  if (!fields.has(condition.name)) return false;
  if (!condition.value && !condition.regex) return true;
  const std::string lines = canonical_lines(fields, condition.name);
  for (std::size_t start = 0; start < lines.size();) {
    const std::size_t end = lines.find('\r', start);
    if (is_value(condition, std::string_view(lines).substr(start, end - start))) return true;
    start = end + 1;
  }
  return false;
}

bool has_parameter(std::string_view query, const ValueCondition& condition) {
  while (!query.empty()) {
    const std::string_view parameter = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(parameter.size() + 1, query.size()));
    const std::size_t equals = std::min(parameter.find('='), parameter.size());
    if (parameter.empty() || parameter.substr(0, equals) != condition.name) continue;
    if (is_value(condition, parameter.substr(std::min(equals + 1, parameter.size())))) return true;
  }
  return false;
}

}  // namespace

bool hold(const RequestConditions& conditions, std::string_view method, const Fields& fields,
          std::string_view query) {
  const std::string_view counts = method == "HEAD" || method == "PURGE" ? "GET" : method;
  const auto& methods = conditions.methods;
  if (!methods.empty() && std::find(methods.begin(), methods.end(), counts) == methods.end()) {
    return false;
  }
  return std::all_of(conditions.headers.begin(), conditions.headers.end(),
                     [&](const ValueCondition& one) { return has_header(fields, one); }) &&
         std::all_of(conditions.query.begin(), conditions.query.end(),
                     [&](const ValueCondition& one) { return has_parameter(query, one); });
}

std::string canonical_value(std::string_view name, std::string_view value) {
  Fields alone;
  alone.add(name, value);
  std::string line = canonical_lines(alone, name);
  if (!line.empty()) line.pop_back();
  return line;
}

}  // namespace ringside::http
