// A request target, or an authority.
#include <string>

#include "http/target.h"
#include "tests/fuzz/fuzzer.h"

namespace ringside::fuzz {
namespace {

using http::Target;

constexpr unsigned wire_classes = http::kQueryClass;

// Each '%' is followed by two digits in upper case; in a query it may stand alone.
void check_encodings(std::string_view text, bool may_stand_alone) {
  const auto is_digit = [](char c) { return http::hex_value(c) >= 0 && (c < 'a' || c > 'f'); };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') continue;
    const bool encoded = text.size() - i >= 3 && http::hex_value(text[i + 1]) >= 0 &&
                         http::hex_value(text[i + 2]) >= 0;
    RINGSIDE_CHECK(encoded || may_stand_alone);
    if (encoded) RINGSIDE_CHECK(is_digit(text[i + 1]) && is_digit(text[i + 2]));
  }
}

void check_normal(const Target& target) {
  RINGSIDE_CHECK(target.path == "*" || target.path.starts_with('/'));
  if (target.path == "*") return;
  for (const char c : target.path + target.query) {
    RINGSIDE_CHECK(c == '%' || http::is_in(c, wire_classes));
  }
  RINGSIDE_CHECK(target.path.find('?') == target.path.npos);
  RINGSIDE_CHECK(target.path.find("%00") == target.path.npos);
  const std::string open = target.path + "/";
  RINGSIDE_CHECK(open.find("/./") == open.npos && open.find("/../") == open.npos);
  check_encodings(target.path, false);
  check_encodings(target.query, true);
  RINGSIDE_CHECK(target.has_query || target.query.empty());
}

void check_fixed_point(const Target& target) {
  Target again;
  RINGSIDE_CHECK(http::normalise_target(target.text(), again));
  RINGSIDE_CHECK(again.path == target.path && again.query == target.query);
  RINGSIDE_CHECK(again.has_query == target.has_query);
}

void examine_target(std::string_view input) {
  Target target;
  if (const auto done = http::normalise_target(input, target); !done) {
    RINGSIDE_CHECK(done.error().kind == ErrorKind::malformed);
    check_message(done.error());
    return;
  }
  check_normal(target);
  check_fixed_point(target);
  if (!input.starts_with('/')) return;
  Target absolute;
  RINGSIDE_CHECK(http::normalise_target("http://a" + std::string(input), absolute));
  RINGSIDE_CHECK(absolute.text() == target.text());
}

void examine_host(std::string_view input) {
  const auto parts = http::split_host(input);
  std::string host;
  RINGSIDE_CHECK(http::normalise_host(input, host).has_value() == parts.has_value());
  if (!parts) return;
  RINGSIDE_CHECK(!host.empty());
  RINGSIDE_CHECK(host.find_first_of(" \t\r\n/\\@?#%,\"") == host.npos);
  std::string again;
  RINGSIDE_CHECK(http::normalise_host(host, again) && again == host);
}

}  // namespace

void examine(std::string_view input) {
  examine_target(input);
  examine_host(input);
}

}  // namespace ringside::fuzz
