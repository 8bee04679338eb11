#include "http/cache_control.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "http/characters.h"

namespace ringside::http {
namespace {

constexpr Seconds kMostDelta{std::int64_t{1} << 31};  // RFC 9111 §1.2.2

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
  std::string_view digits = *argument;
  if (digits.size() >= 2 && digits.front() == '"' && digits.back() == '"') {
    digits = digits.substr(1, digits.size() - 2);
  }
  if (digits.empty()) return std::nullopt;
  Seconds value{0};
  for (const char c : digits) {
    if (!is_in(c, kDigitClass)) return std::nullopt;
    value = std::min(value * 10 + Seconds(c - '0'), kMostDelta);
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
  }
}

// The on-off directives of a response; false where the directive is none of them.
bool apply_flag(const Directive& directive, ResponseDirectives& out) noexcept {
  struct Flag {
    std::string_view name;
    bool ResponseDirectives::*member;
  };
  static constexpr Flag flags[] = {
      {"public", &ResponseDirectives::is_public},
      {"no-cache", &ResponseDirectives::no_cache},
      {"private", &ResponseDirectives::is_private},
      {"no-store", &ResponseDirectives::no_store},
      {"immutable", &ResponseDirectives::immutable},
      {"no-transform", &ResponseDirectives::no_transform},
      {"must-revalidate", &ResponseDirectives::must_revalidate},
      {"proxy-revalidate", &ResponseDirectives::proxy_revalidate},
      {"must-understand", &ResponseDirectives::must_understand},
  };
  for (const Flag& flag : flags) {
    if (!same_token(directive.name, flag.name)) continue;
    out.*flag.member = true;
    return true;
  }
  return false;
}

void apply(const Directive& directive, ResponseDirectives& out) noexcept {
  const auto is = [&directive](std::string_view name) { return same_token(directive.name, name); };
  if (is("max-age")) {
    keep_first(out.max_age, directive);
  } else if (is("s-maxage")) {
    keep_first(out.s_maxage, directive);
  } else if (is("stale-while-revalidate")) {
    keep_first(out.stale_while_revalidate, directive);
  } else if (is("stale-if-error")) {
    keep_first(out.stale_if_error, directive);
  } else {
    apply_flag(directive, out);
  }
}

}  // namespace

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
