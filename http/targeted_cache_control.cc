#include "http/targeted_cache_control.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <variant>

#include "http/characters.h"
#include "http/structured_field.h"

namespace ringside::http {
namespace {

bool forbids(std::string_view name) noexcept {
  return name == "no-store" || name == "no-cache" || name == "private";
}

void apply(std::string_view name, const structured::BareItem& value, ResponseDirectives& out) {
  if (const Lifetime lifetime = lifetime_named(name)) {
    const auto* seconds = std::get_if<structured::Integer>(&value);
    out.*lifetime = as_delta_seconds(seconds != nullptr ? *seconds : 0);
  } else if (const auto* given = std::get_if<bool>(&value)) {
    if (*given) add_flag(name, std::nullopt, out);
  } else if (!forbids(name)) {
    return;
  } else if (const auto* names = std::get_if<structured::String>(&value)) {
    add_flag(name, names->escaped, out);
  } else if (const auto* single = std::get_if<structured::Token>(&value)) {
    add_flag(name, single->text, out);
  } else {
    add_flag(name, std::nullopt, out);
  }
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

std::optional<Seconds> delta_seconds(std::string_view digits) noexcept {
  if (digits.empty()) return std::nullopt;
  Seconds value{0};
  for (const char c : digits) {
    if (!is_in(c, kDigitClass)) return std::nullopt;
    value = as_delta_seconds((value * 10 + Seconds(c - '0')).count());
  }
  return value;
}

void apply(const SurrogateDirective& directive, ResponseDirectives& out) {
  if (same_token(directive.name, "no-store-remote")) {
    out.no_store = true;
    return;
  }
  const Lifetime lifetime = lifetime_named(directive.name);
  if (lifetime == nullptr) {
    add_flag(directive.name, directive.argument, out);
    return;
  }
  if (out.*lifetime) return;
  const std::string_view argument = directive.argument.value_or(std::string_view());
  const bool may_have_two = lifetime == &ResponseDirectives::max_age;
  const std::size_t plus = may_have_two ? argument.find('+') : argument.npos;
  const auto seconds = delta_seconds(argument.substr(0, plus));
  if (plus == argument.npos) {
    out.*lifetime = seconds.value_or(Seconds{0});
    return;
  }
  const auto extension = delta_seconds(argument.substr(plus + 1));
  out.*lifetime = seconds && extension ? *seconds : Seconds{0};
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
