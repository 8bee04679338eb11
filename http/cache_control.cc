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
  std::optional<std::string_view> argument;  // as written, quoted or not
};

// White space around the '=' is no part of the grammar (RFC 9111 §5.2): the directive keeps its
// name, so that it is still heeded, and loses its argument's meaning.
Directive directive_of(std::string_view member) noexcept {
  const std::size_t equals = member.find('=');
  if (equals == member.npos) return {member, std::nullopt};
  const std::string_view name = trimmed(member.substr(0, equals));
  if (name.size() != equals) return {name, std::string_view()};
  return {name, member.substr(equals + 1)};
}

// delta-seconds (RFC 9111 §1.2.2); nullopt where the argument is none.
std::optional<Seconds> delta_seconds(const std::optional<std::string_view>& argument) noexcept {
  if (!argument) return std::nullopt;
  const std::string_view digits = bare_argument(*argument);
  if (digits.empty()) return std::nullopt;
  Seconds value{0};
  for (const char c : digits) {
    if (!is_in(c, kDigitClass)) return std::nullopt;
    value = std::min(value * 10 + Seconds(c - '0'), limits::delta_seconds_most);
  }
  return value;
}

// Of duplicates the first counts (RFC 9111 §4.2.1), even where it can't be parsed.
void keep_first(std::optional<Seconds>& slot, const Directive& directive) noexcept {
  if (!slot) slot = delta_seconds(directive.argument).value_or(Seconds{0});
}

void apply(const Directive& directive, RequestDirectives& out) noexcept {
  const auto is = [&directive](std::string_view name) { return same_token(directive.name, name); };
  if (is("no-cache")) {
    out.no_cache = true;
  } else if (is("max-age")) {
    keep_first(out.max_age, directive);
  } else if (is("no-store")) {
    out.no_store = true;
  } else if (is("only-if-cached")) {
    out.only_if_cached = true;
  } else if (is("min-fresh")) {
    if (!out.min_fresh) out.min_fresh = delta_seconds(directive.argument);
  } else if (is("max-stale")) {
    if (!directive.argument && !out.max_stale) out.max_stale = Seconds::max();
    keep_first(out.max_stale, directive);
  } else if (is("stale-if-error")) {
    keep_first(out.stale_if_error, directive);
  }
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

// no-cache and private (RFC 9111 §5.2.2.4, §5.2.2.7): one and the same word says that the whole
// response is meant, or some of its fields.
void add_restriction(const std::optional<std::string_view>& argument, bool& whole,
                     std::vector<std::string_view>& names) {
  if (!argument || !add_names(*argument, names)) whole = true;
}

void apply(const Directive& directive, ResponseDirectives& out) {
  if (const Lifetime lifetime = lifetime_named(directive.name)) {
    keep_first(out.*lifetime, directive);
  } else if (directive.argument) {
    add_flag(directive.name, bare_argument(*directive.argument), out);
  } else {
    add_flag(directive.name, std::nullopt, out);
  }
}

}  // namespace

std::string_view bare_argument(std::string_view text) noexcept {
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  if (quoted) return text.substr(1, text.size() - 2);
  return is_token(text) ? text : std::string_view();
}

Lifetime lifetime_named(std::string_view name) noexcept {
  if (same_token(name, "max-age")) return &ResponseDirectives::max_age;
  if (same_token(name, "s-maxage")) return &ResponseDirectives::s_maxage;
  if (same_token(name, "stale-while-revalidate")) {
    return &ResponseDirectives::stale_while_revalidate;
  }
  if (same_token(name, "stale-if-error")) return &ResponseDirectives::stale_if_error;
  return nullptr;
}

Seconds as_delta_seconds(std::int64_t seconds) noexcept {
  return std::clamp(Seconds{seconds}, Seconds{0}, limits::delta_seconds_most);
}

void add_flag(std::string_view name, const std::optional<std::string_view>& argument,
              ResponseDirectives& out) {
  struct Flag {
    std::string_view name;
    bool ResponseDirectives::*member;
  };
  static constexpr Flag flags[] = {
      {"public", &ResponseDirectives::is_public},
      {"no-store", &ResponseDirectives::no_store},
      {"immutable", &ResponseDirectives::immutable},
      {"no-transform", &ResponseDirectives::no_transform},
      {"must-revalidate", &ResponseDirectives::must_revalidate},
      {"proxy-revalidate", &ResponseDirectives::proxy_revalidate},
      {"must-understand", &ResponseDirectives::must_understand},
  };
  if (same_token(name, "no-cache")) {
    add_restriction(argument, out.no_cache, out.no_cache_fields);
  } else if (same_token(name, "private")) {
    add_restriction(argument, out.is_private, out.private_fields);
  }
  for (const Flag& flag : flags) {
    if (same_token(name, flag.name)) out.*flag.member = true;
  }
}

RequestDirectives parse_request_directives(const Fields& fields) {
  RequestDirectives out;
  bool has_cache_control = false;
  bool pragma_no_cache = false;
  for (const Field& field : fields) {
    if (same_token(field.name, "cache-control")) {
      has_cache_control = true;
      for_each_member(field.value,
                      [&out](std::string_view member) { apply(directive_of(member), out); });
    } else if (same_token(field.name, "pragma")) {
      for_each_member(field.value, [&pragma_no_cache](std::string_view member) {
        pragma_no_cache = pragma_no_cache || same_token(member, "no-cache");
      });
    }
  }
  if (!has_cache_control && pragma_no_cache) out.no_cache = true;
  return out;
}

ResponseDirectives parse_response_directives(const Fields& fields) {
  ResponseDirectives out;
  for (const Field& field : fields) {
    if (!same_token(field.name, "cache-control")) continue;
    for_each_member(field.value,
                    [&out](std::string_view member) { apply(directive_of(member), out); });
  }
  return out;
}

}  // namespace ringside::http
