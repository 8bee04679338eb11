#include "http/targeted_cache_control.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <variant>

#include "http/characters.h"
#include "http/structured_field.h"

namespace ringside::http {
namespace {

void apply(std::string_view name, const structured::BareItem& value, ResponseDirectives& out) {
  const auto* row = find_directive(kResponseDirectives, name);
  if (row == nullptr) return;
  if (row->seconds != nullptr) {
    const auto* seconds = std::get_if<structured::Integer>(&value);
    out.*row->seconds = as_delta_seconds(seconds != nullptr ? *seconds : 0);
    return;
  }
  const auto* given = std::get_if<bool>(&value);
  if (given != nullptr ? !*given : !row->forbids) return;
  std::optional<std::string_view> argument;
  if (const auto* names = std::get_if<structured::String>(&value)) argument = names->escaped;
  if (const auto* single = std::get_if<structured::Token>(&value)) argument = single->text;
  add_directive(*row, argument, out);
}

std::optional<ResponseDirectives> parse_dictionary_directives(const Fields& fields,
                                                              std::string_view name) {
  const auto dictionary = structured::parse_dictionary(fields, name);
  if (!dictionary || dictionary->empty()) return std::nullopt;
  static constexpr structured::BareItem no_item = structured::Decimal{};  // of no directive's type
  ResponseDirectives out;
  out.is_targeted = true;
  for (const structured::Member& member : *dictionary) {
    const auto* item = std::get_if<structured::Item>(&member.value);
    apply(member.key, item != nullptr ? item->value : no_item, out);
  }
  return out;
}

enum class Audience { all, us, others };

struct SurrogateDirective {
  std::string_view name;
  std::optional<std::string_view> argument;  // a bare one
  Audience audience = Audience::all;
};

// The first ';' outside of quotes, or the size.
std::size_t end_of_part(std::string_view member) noexcept {
  bool inside = false;
  for (std::size_t i = 0; i < member.size(); ++i) {
    if (member[i] == '"') inside = !inside;
    if (member[i] == '\\' && inside)
      ++i;
    else if (member[i] == ';' && !inside)
      return i;
  }
  return member.size();
}

Audience audience_of(std::string_view parameters) noexcept {
  if (parameters.empty()) return Audience::all;
  for (std::string_view rest = parameters; !rest.empty();) {
    rest.remove_prefix(1);
    const std::size_t end = end_of_part(rest);
    if (same_token(trimmed(rest.substr(0, end)), kSurrogateDevice)) return Audience::us;
    rest.remove_prefix(end);
  }
  return Audience::others;
}

// White space around the '=' costs the argument its meaning, as in Cache-Control.
SurrogateDirective surrogate_directive_of(std::string_view member) noexcept {
  const std::size_t end = end_of_part(member);
  SurrogateDirective out;
  out.audience = audience_of(member.substr(end));
  const std::string_view directive = trimmed(member.substr(0, end));
  const std::size_t equals = std::min(directive.find('='), directive.size());
  out.name = trimmed(directive.substr(0, equals));
  if (equals == directive.size()) return out;
  const std::string_view argument = bare_argument(directive.substr(equals + 1));
  out.argument = out.name.size() == equals ? argument : std::string_view();
  return out;
}

void apply(const SurrogateDirective& directive, ResponseDirectives& out) {
  if (same_token(directive.name, "no-store-remote")) out.no_store = true;
  const auto* row = find_directive(kResponseDirectives, directive.name);
  if (row == nullptr) return;
  const std::string_view argument = directive.argument.value_or(std::string_view());
  const bool may_have_two = row->seconds == &ResponseDirectives::max_age;
  const std::size_t plus = may_have_two ? argument.find('+') : argument.npos;
  if (plus == argument.npos) {
    add_directive(*row, directive.argument, out);
    return;
  }
  if (out.max_age) return;
  const auto seconds = delta_seconds(argument.substr(0, plus));
  const auto extension = delta_seconds(argument.substr(plus + 1));
  out.max_age = seconds && extension ? *seconds : Seconds{0};
  if (!seconds || !extension) return;
  if (!out.stale_while_revalidate) out.stale_while_revalidate = extension;
  if (!out.stale_if_error) out.stale_if_error = extension;
}

std::optional<ResponseDirectives> parse_surrogate_directives(const Fields& fields) {
  ResponseDirectives out;
  out.is_targeted = true;
  for (const Audience audience : {Audience::us, Audience::all}) {
    for (const Field& field : fields) {
      if (!same_token(field.name, "surrogate-control")) continue;
      for_each_member(field.value, [&](std::string_view member) {
        const SurrogateDirective directive = surrogate_directive_of(member);
        if (directive.audience == audience) apply(directive, out);
      });
    }
  }
  const bool counts = out.no_store || out.no_cache || out.is_private || out.max_age || out.s_maxage;
  if (!counts) return std::nullopt;
  return out;
}

}  // namespace

std::optional<ResponseDirectives> parse_targeted_directives(const Fields& fields,
                                                            std::string_view name) {
  if (same_token(name, "surrogate-control")) return parse_surrogate_directives(fields);
  return parse_dictionary_directives(fields, name);
}

}  // namespace ringside::http
