// Lines of Cache-Control; one that begins with ! is of Pragma.
#include <set>
#include <string>

#include "base/limits.h"
#include "http/cache_control.h"
#include "tests/fuzz/fuzzer.h"

namespace ringside::fuzz {
namespace {

using http::Fields;
using http::ResponseDirectives;

void check_within_limits(const std::optional<Seconds>& delta) {
  RINGSIDE_CHECK(!delta || (*delta >= Seconds{0} && *delta <= limits::delta_seconds_most));
}

void check_limits(const Fields& fields) {
  const auto asked = http::parse_request_directives(fields);
  check_within_limits(asked.max_age);
  check_within_limits(asked.min_fresh);
  check_within_limits(asked.stale_if_error);
  if (asked.max_stale != Seconds::max()) check_within_limits(asked.max_stale);
  const auto told = http::parse_response_directives(fields);
  check_within_limits(told.max_age);
  check_within_limits(told.s_maxage);
  check_within_limits(told.stale_while_revalidate);
  check_within_limits(told.stale_if_error);
}

std::string in_capitals(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

// Names in one case, each once.
struct Folded {
  ResponseDirectives directives;
  std::set<std::string> no_cache_names;
  std::set<std::string> private_names;
  bool operator==(const Folded&) const = default;
};

std::set<std::string> fold(std::vector<std::string_view>& names) {
  RINGSIDE_CHECK(names.size() <= limits::structured_members);
  std::set<std::string> out;
  for (const std::string_view name : names) {
    RINGSIDE_CHECK(http::is_token(name));
    out.insert(in_capitals(name));
  }
  names.clear();
  return out;
}

Folded folded(ResponseDirectives directives) {
  Folded out;
  out.no_cache_names = fold(directives.no_cache_fields);
  out.private_names = fold(directives.private_fields);
  out.directives = std::move(directives);
  return out;
}

void check_same(const Fields& a, const Fields& b) {
  RINGSIDE_CHECK(http::parse_request_directives(a) == http::parse_request_directives(b));
  RINGSIDE_CHECK(folded(http::parse_response_directives(a)) ==
                 folded(http::parse_response_directives(b)));
}

// Whatever else is said, before or behind: what forbids storing is heard.
void check_no_store_is_heard(const Fields& fields) {
  Fields more = fields;
  more.add("Cache-Control", "no-store");
  RINGSIDE_CHECK(http::parse_response_directives(more).no_store);
  RINGSIDE_CHECK(http::parse_request_directives(more).no_store);
}

void add_lines(Fields& fields, std::string_view input, std::string_view name,
               std::string_view pragma) {
  for (std::string_view line : lines_of(input)) {
    const bool is_pragma = line.starts_with('!');
    if (is_pragma) line.remove_prefix(1);
    fields.add(is_pragma ? pragma : name, line);
  }
}

}  // namespace

void examine(std::string_view input) {
  const std::string capitals = in_capitals(input);
  Fields fields;
  Fields louder;
  add_lines(fields, input, "cache-control", "pragma");
  add_lines(louder, capitals, "CACHE-CONTROL", "PRAGMA");
  Fields twice = fields;
  for (const auto& field : fields) twice.add(field.name, field.value);
  check_limits(fields);
  check_same(fields, louder);
  // Of duplicates the first counts. Not with so many names that said twice they are too many.
  const auto separators =
      std::count_if(input.begin(), input.end(), [](char c) { return c == ',' || c == '\n'; });
  if (static_cast<std::size_t>(separators) < limits::structured_members / 2) {
    check_same(fields, twice);
  }
  check_no_store_is_heard(fields);
}

}  // namespace ringside::fuzz
