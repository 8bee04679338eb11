// Lines of Cache-Control; one that begins with ! is of Pragma.
#include <string>

#include "base/limits.h"
#include "http/cache_control.h"
#include "tests/fuzz/fuzzer.h"

namespace ringside::fuzz {
namespace {

using http::Fields;
using http::RequestDirectives;
using http::ResponseDirectives;

auto tied(const RequestDirectives& of) {
  return std::tie(of.no_cache, of.no_store, of.only_if_cached, of.max_age, of.min_fresh,
                  of.max_stale);
}

auto tied(const ResponseDirectives& of) {
  return std::tie(of.no_store, of.no_cache, of.is_private, of.is_public, of.must_revalidate,
                  of.proxy_revalidate, of.must_understand, of.no_transform, of.immutable,
                  of.max_age, of.s_maxage, of.stale_while_revalidate, of.stale_if_error);
}

void check_within_limits(const std::optional<Seconds>& delta) {
  RINGSIDE_CHECK(!delta || (*delta >= Seconds{0} && *delta <= limits::delta_seconds_most));
}

void check_limits(const Fields& fields) {
  const auto asked = http::parse_request_directives(fields);
  check_within_limits(asked.max_age);
  check_within_limits(asked.min_fresh);
  if (asked.max_stale != Seconds::max()) check_within_limits(asked.max_stale);
  const auto told = http::parse_response_directives(fields);
  check_within_limits(told.max_age);
  check_within_limits(told.s_maxage);
  check_within_limits(told.stale_while_revalidate);
  check_within_limits(told.stale_if_error);
}

void check_same(const Fields& a, const Fields& b) {
  RINGSIDE_CHECK(tied(http::parse_request_directives(a)) ==
                 tied(http::parse_request_directives(b)));
  RINGSIDE_CHECK(tied(http::parse_response_directives(a)) ==
                 tied(http::parse_response_directives(b)));
}

std::string in_capitals(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
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
  check_same(fields, twice);  // of duplicates the first counts
  check_no_store_is_heard(fields);
}

}  // namespace ringside::fuzz
