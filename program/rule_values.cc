#include "program/rule_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/limits.h"
#include "base/quotation.h"
#include "http/characters.h"
#include "http/conditional.h"
#include "http/fields.h"
#include "http/target.h"
#include "program/values.h"

namespace ringside::program {
namespace {

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) noexcept {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view other) { return http::same_token(name, other); });
}

Result<cache::Condition> parse_named(cache::Condition::In in, std::string_view text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string_view name = text.substr(0, equals);
  cache::Condition condition{in, std::string(name), std::nullopt};
  if (in == cache::Condition::In::query ? name.empty() : !http::is_token(name)) {
    return invalid_input(
        fmt::format("{} is no name of it; write header:NAME, cookie:NAME or "
                    "query:NAME, each also with =VALUE",
                    quotation(name)));
  }
  if (in == cache::Condition::In::query) {
    auto parameter = normalised_query_part(name);
    if (!parameter) return parameter.error();
    condition.name = *std::move(parameter);
  }
  if (equals == text.size()) return condition;
  const std::string_view value = text.substr(equals + 1);
  const bool in_query = in == cache::Condition::In::query;
  auto parsed = value.empty() ? Result<std::string>(std::string())
                : in_query    ? normalised_query_part(value)
                              : parse_field_value(value);
  if (!parsed) return parsed.error();
  if (in == cache::Condition::In::cookie && parsed->find(';') != std::string::npos) {
    return invalid_input(fmt::format(
        "{} has a semicolon, which ends a cookie; write what stands before it", quotation(value)));
  }
  condition.value = *std::move(parsed);
  return condition;
}

constexpr std::string_view every_request = "true";

std::string_view prefix_of(cache::Condition::In in) noexcept {
  switch (in) {
    case cache::Condition::In::header:
      return "header:";
    case cache::Condition::In::cookie:
      return "cookie:";
    case cache::Condition::In::query:
      return "query:";
    case cache::Condition::In::every_request:
      return every_request;
  }
  return "";
}

Error own_field(std::string_view name, std::string_view why) {
  return invalid_input(fmt::format("{} {}; take it out", quotation(name), why));
}

// What may be changed in neither direction.
Result<std::string> parse_changeable(std::string_view text) {
  auto name = parse_header_name(text);
  if (!name) return name;
  constexpr std::array<std::string_view, 3> of_body{"content-length", "content-encoding",
                                                    "content-range"};
  if (http::is_hop_by_hop(*name)) return own_field(*name, "belongs to one connection");
  if (is_one_of(*name, of_body))
    return own_field(*name, "says where a body ends or how to read it");
  if (http::is_internal(*name) || http::same_token(*name, "via")) {
    return own_field(*name, "is what Ringside's processes write themselves");
  }
  return name;
}

}  // namespace

Result<std::string> parse_header_name(std::string_view text) {
  if (text.size() <= limits::rule_name_size_bytes && http::is_token(text)) return std::string(text);
  return invalid_input(
      fmt::format("{} is no name of a header; write one, such as X-Robots-Tag", quotation(text)));
}

Result<std::string> normalised_query_part(std::string_view text) {
  http::Target target;
  const bool separates = text.find_first_of("&#") != std::string_view::npos;
  if (!separates && http::normalise_target(fmt::format("/?{}", text), target)) {
    return std::move(target.query);
  }
  return invalid_input(
      fmt::format("{} can't stand in a query; write a name without &, # and blanks, with such "
                  "characters percent-encoded",
                  quotation(text)));
}

Result<cache::StatusTtl> parse_statuses(std::string_view text) {
  constexpr std::uint64_t least = 200;
  constexpr std::uint64_t most = 599;
  const std::size_t dash = std::min(text.find('-'), text.size());
  const auto first = parse_number(text.substr(0, dash), least, most);
  const auto last = dash == text.size() ? first : parse_number(text.substr(dash + 1), least, most);
  if (!first || !last || *first > *last) {
    return invalid_input(fmt::format(
        "{} is no status or range of them; write one such as 404 or 200-299, from {} to {}",
        quotation(text), least, most));
  }
  return cache::StatusTtl{static_cast<int>(*first), static_cast<int>(*last), Seconds(0)};
}

std::string statuses_text(const cache::StatusTtl& statuses) {
  if (statuses.first == statuses.last) return std::to_string(statuses.first);
  return fmt::format("{}-{}", statuses.first, statuses.last);
}

Result<cache::Condition> parse_condition(std::string_view text) {
  using In = cache::Condition::In;
  if (text == every_request) return cache::Condition{In::every_request, {}, std::nullopt};
  for (const In in : {In::header, In::cookie, In::query}) {
    const std::string_view prefix = prefix_of(in);
    if (text.starts_with(prefix)) return parse_named(in, text.substr(prefix.size()));
  }
  return invalid_input(
      fmt::format("{} is no condition; write header:NAME, cookie:NAME or "
                  "query:NAME, each also with =VALUE, true for every request, or [] for none",
                  quotation(text)));
}

std::string condition_text(const cache::Condition& condition) {
  std::string out(prefix_of(condition.in));
  out += condition.name;
  if (condition.value) out.append("=").append(*condition.value);
  return out;
}

Result<std::optional<Seconds>> parse_client_no_cache(std::string_view text) {
  if (text == "honour") return std::optional(Seconds{0});
  if (text == "ignore") return std::optional<Seconds>();
  const auto time = parse_ttl(text);
  if (time) return std::optional(*time);
  return invalid_input(
      fmt::format("{} is none of them; write honour, ignore, or a time in whole seconds such as "
                  "10s: a client's "
                  "no-cache then counts once in so long",
                  quotation(text)));
}

std::string client_no_cache_text(const std::optional<Seconds>& rule) {
  if (!rule) return "ignore";
  return rule->count() == 0 ? "honour" : ttl_text(*rule);
}

Result<bool> parse_refusal(std::string_view text) {
  if (text == "refuse" || text == "keep") return text == "refuse";
  return invalid_input(fmt::format("{} is none of them; write refuse or keep", quotation(text)));
}

std::string_view refusal_text(bool refuses) noexcept { return refuses ? "refuse" : "keep"; }

Result<cache::SetCookie> parse_set_cookie(std::string_view text) {
  using cache::SetCookie;
  for (const SetCookie choice : {SetCookie::pass, SetCookie::strip, SetCookie::store}) {
    if (text == set_cookie_text(choice)) return choice;
  }
  return invalid_input(
      fmt::format("{} is none of them; write pass, strip or store", quotation(text)));
}

std::string_view set_cookie_text(cache::SetCookie choice) noexcept {
  switch (choice) {
    case cache::SetCookie::pass:
      return "pass";
    case cache::SetCookie::strip:
      return "strip";
    case cache::SetCookie::store:
      return "store";
  }
  return "pass";
}

Result<cache::InvalidAge> parse_invalid_age(std::string_view text) {
  using cache::InvalidAge;
  for (const InvalidAge choice : {InvalidAge::ignore, InvalidAge::stale}) {
    if (text == invalid_age_text(choice)) return choice;
  }
  return invalid_input(fmt::format("{} is neither; write ignore or stale", quotation(text)));
}

std::string_view invalid_age_text(cache::InvalidAge choice) noexcept {
  return choice == cache::InvalidAge::stale ? "stale" : "ignore";
}

Result<std::string> parse_parameter_name(std::string_view text) {
  if (text.empty() || text.find('=') != std::string_view::npos) {
    return invalid_input(fmt::format(
        "{} is no parameter's name; write one, such as utm_source or utm_*", quotation(text)));
  }
  if (const std::size_t star = text.find('*'); star < text.size() - 1) {
    return invalid_input(
        fmt::format("{} has a * before its end; write the beginning of names and a * behind it",
                    quotation(text)));
  }
  return normalised_query_part(text);
}

Result<std::string> parse_content_coding(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (out == "x-gzip" || out == "x-compress") out.erase(0, 2);
  if (http::is_token(out) && out != "*") return out;
  return invalid_input(
      fmt::format("{} is no content coding; write one, such as br or gzip", quotation(text)));
}

Result<std::string> parse_targeted_field(std::string_view text) {
  auto name = parse_header_name(text);
  if (!name) return name;
  constexpr std::array<std::string_view, 3> heeded{"cache-control", "expires", "pragma"};
  if (is_one_of(*name, heeded)) return own_field(*name, "is what comes after targeted fields");
  return name;
}

Result<std::string> parse_request_field(std::string_view text) {
  auto name = parse_changeable(text);
  if (!name) return name;
  if (http::same_token(*name, "accept-encoding")) {
    return invalid_input(
        fmt::format("{} is part of what is stored apart; use content_codings", quotation(*name)));
  }
  constexpr std::array<std::string_view, 3> ours{"host", "expect", "max-forwards"};
  if (is_one_of(*name, ours) || http::is_condition(*name)) {
    return own_field(*name, "says what is asked for, which is Ringside's to say");
  }
  return name;
}

Result<std::string> parse_response_field(std::string_view text) {
  auto name = parse_changeable(text);
  if (!name) return name;
  constexpr std::array<std::string_view, 3> ours{"age", "date", "cache-status"};
  if (is_one_of(*name, ours)) {
    return own_field(*name, "says where a response comes from and how old it is");
  }
  return name;
}

Result<std::string> parse_field_value(std::string_view text) {
  const bool printable = std::all_of(text.begin(), text.end(),
                                     [](char c) { return (c >= ' ' && c <= '~') || c == '\t'; });
  if (!printable) {
    return invalid_input(fmt::format(
        "{} has line ends or other bytes that no header's value may have; write printable ASCII",
        quotation(text)));
  }
  if (text.empty() || http::trimmed(text) != text) {
    return invalid_input(fmt::format(
        "{} is empty or has blanks at an end; write a value without them", quotation(text)));
  }
  return std::string(text);
}

Result<std::size_t> parse_slice(std::string_view text) {
  auto size = parse_size(text);
  if (!size || *size == 0) return size;
  if (*size < limits::slice_size_least_bytes || *size > limits::slice_size_most_bytes) {
    return invalid_input(fmt::format("{} is not from {} to {}; write such a size, or 0 for none",
                                     text, size_text(limits::slice_size_least_bytes),
                                     size_text(limits::slice_size_most_bytes)));
  }
  return size;
}

}  // namespace ringside::program
