#include "cache/conditions.h"

#include <algorithm>

namespace ringside::cache {
namespace {

// One of the `name=value` that `separator` stands between.
bool has_pair(std::string_view text, char separator, const Condition& condition) noexcept {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view pair = http::trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (pair.empty() || pair.substr(0, equals) != condition.name) continue;
    const std::string_view value = pair.substr(std::min(equals + 1, pair.size()));
    if (!condition.value || *condition.value == value) return true;
  }
  return false;
}

bool has_field(const http::Fields& fields, const Condition& condition) noexcept {
  return std::any_of(fields.begin(), fields.end(), [&](const http::Field& field) {
    return http::same_token(field.name, condition.name) &&
           (!condition.value || *condition.value == field.value);
  });
}

bool has_cookie(const http::Fields& fields, const Condition& condition) noexcept {
  return std::any_of(fields.begin(), fields.end(), [&](const http::Field& field) {
    return http::same_token(field.name, "cookie") && has_pair(field.value, ';', condition);
  });
}

}  // namespace

bool matches(const Condition& condition, const http::Fields& fields,
             std::string_view query) noexcept {
  switch (condition.in) {
    case Condition::In::header:
      return has_field(fields, condition);
    case Condition::In::cookie:
      return has_cookie(fields, condition);
    case Condition::In::query:
      return has_pair(query, '&', condition);
    case Condition::In::every_request:
      return true;
  }
  return false;
}

bool matches_any(const std::vector<Condition>& conditions, const http::Fields& fields,
                 std::string_view query) noexcept {
  return std::any_of(conditions.begin(), conditions.end(),
                     [&](const Condition& condition) { return matches(condition, fields, query); });
}

}  // namespace ringside::cache
