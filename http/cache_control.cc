#include "http/cache_control.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/limits.h"
#include "http/characters.h"

namespace ringside::http {
namespace {

struct Directive {
  std::string_view name;
  std::optional<std::string_view> argument;  // a bare one
};

// White space around the '=' is no part of the grammar (RFC 9111 §5.2): the directive keeps its
// name, so that it is still heeded, and loses its argument's meaning.
Directive directive_of(std::string_view member) noexcept {
  const std::size_t equals = member.find('=');
  if (equals == member.npos) return {member, std::nullopt};
  const std::string_view name = trimmed(member.substr(0, equals));
  if (name.size() != equals) return {name, std::string_view()};
  return {name, bare_argument(member.substr(equals + 1))};
}

// Adds the names that `list` consists of; false where it is no list of names.
bool add_names(std::string_view list, std::vector<std::string_view>& names) {
  const std::size_t before = names.size();
  bool all_are_names = true;
  for_each_member(list, [&](std::string_view member) {
    all_are_names = is_token(member) && names.size() < limits::structured_members;
    if (all_are_names) names.push_back(member);
    return all_are_names;
  });
  return all_are_names && names.size() > before;
}

template <class Directives>
void add(const DirectiveRow<Directives>& row, const std::optional<std::string_view>& argument,
         Directives& out) {
  if (row.seconds != nullptr) {
    std::optional<Seconds>& slot = out.*row.seconds;
    if (slot) return;  // even where it could not be parsed
    slot = argument ? delta_seconds(*argument) : row.bare;
    if (!slot) slot = row.otherwise;
  } else if (row.fields == nullptr || !argument || !add_names(*argument, out.*row.fields)) {
    out.*row.flag = true;
  }
}

template <class Rows, class Directives>
void add_line(std::string_view line, const Rows& rows, Directives& out) {
  for_each_member(line, [&](std::string_view member) {
    const Directive directive = directive_of(member);
    const auto* row = find_directive(rows, directive.name);
    if (row != nullptr) add(*row, directive.argument, out);
  });
}

}  // namespace

std::string_view bare_argument(std::string_view text) noexcept {
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  if (quoted) return text.substr(1, text.size() - 2);
  return is_token(text) ? text : std::string_view();
}

std::optional<Seconds> delta_seconds(std::string_view digits) noexcept {
  if (digits.empty()) return std::nullopt;
  Seconds value{0};
  for (const char c : digits) {
    if (!is_in(c, kDigitClass)) return std::nullopt;
    value = std::min(value * 10 + Seconds(c - '0'), limits::delta_seconds_most);
  }
  return value;
}

Seconds as_delta_seconds(std::int64_t seconds) noexcept {
  return std::clamp(Seconds{seconds}, Seconds{0}, limits::delta_seconds_most);
}

void add_directive(const DirectiveRow<ResponseDirectives>& row,
                   const std::optional<std::string_view>& argument, ResponseDirectives& out) {
  add(row, argument, out);
}

RequestDirectives parse_request_directives(const Fields& fields) {
  RequestDirectives out;
  bool has_cache_control = false;
  bool pragma_no_cache = false;
  fields.for_each("cache-control", [&](std::string_view line) {
    has_cache_control = true;
    add_line(line, kRequestDirectives, out);
  });
  fields.for_each("pragma", [&](std::string_view line) {
    for_each_member(line, [&pragma_no_cache](std::string_view member) {
      pragma_no_cache = pragma_no_cache || same_token(member, "no-cache");
    });
  });
  if (!has_cache_control && pragma_no_cache) out.no_cache = true;
  return out;
}

ResponseDirectives parse_response_directives(const Fields& fields) {
  ResponseDirectives out;
  fields.for_each("cache-control",
                  [&out](std::string_view line) { add_line(line, kResponseDirectives, out); });
  return out;
}

}  // namespace ringside::http
