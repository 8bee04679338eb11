#include "cache/conditional.h"

#include <algorithm>
#include <array>

#include "http/date.h"

namespace ringside::cache {

bool same_entity(std::string_view a, std::string_view b) noexcept {
  if (a.starts_with("W/")) a.remove_prefix(2);
  if (b.starts_with("W/")) b.remove_prefix(2);
  return !a.empty() && a == b;
}

bool is_not_modified(const http::Fields& request, const http::Fields& stored,
                     TimePoint now) noexcept {
  if (request.has("if-none-match")) {
    const auto etag = stored.first("etag");
    bool matches = false;
    for (const http::Field& field : request) {
      if (!http::same_token(field.name, "if-none-match")) continue;
      const auto compare = [&](std::string_view member) {
        matches = matches || member == "*" || (etag && same_entity(member, *etag));
      };
      http::for_each_member(field.value, compare, http::Quoted::entity_tags);
    }
    return matches;
  }
  const auto since_field = request.first("if-modified-since");
  if (!since_field) return false;
  const auto since = http::parse_date(*since_field, now);
  // §4.3.2: without Last-Modified the stored Date stands in for it.
  auto changed_field = stored.first("last-modified");
  if (!changed_field) changed_field = stored.first("date");
  const auto changed = changed_field ? http::parse_date(*changed_field, now) : std::nullopt;
  return since && changed && *changed <= *since;
}

bool is_condition(std::string_view field_name) noexcept {
  constexpr std::array<std::string_view, 6> names = {
      "if-none-match", "if-modified-since", "if-match", "if-range", "if-unmodified-since", "range"};
  return std::any_of(names.begin(), names.end(), [&](std::string_view condition) {
    return http::same_token(condition, field_name);
  });
}

}  // namespace ringside::cache
