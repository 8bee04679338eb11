#include "replay/sample_page.h"

#include <fmt/format.h>

#include <iterator>

#include "base/hash.h"
#include "base/limits.h"
#include "http/fields.h"

namespace ringside::replay {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

SamplePage sample_page(std::string_view target, std::string_view country) {
  constexpr std::size_t most_bytes = 20 * limits::kKiB;
  constexpr std::size_t line_bytes = 64;  // more than one line below takes
  const std::uint64_t hash = hash64(target);
  const std::size_t least_bytes = limits::kKiB + hash % (most_bytes - limits::kKiB - line_bytes);
  SamplePage page;
  const std::string path = escaped(target.substr(0, 256));
  page.html =
      fmt::format("<!doctype html>\n<title>{0}</title>\n<h1>{0}</h1>\n<p>As seen from {1}.</p>\n",
                  path, escaped(country));
  for (std::uint64_t line = 1; page.html.size() < least_bytes; ++line) {
    fmt::format_to(std::back_inserter(page.html), "<p>{:4} {:016x}</p>\n", line,
                   hash * (2 * line + 1));
  }
  page.etag = fmt::format("\"{:016x}\"", hash64(page.html));
  return page;
}

bool names_entity_tag(std::string_view if_none_match, std::string_view etag) {
  bool found = false;
  const auto compare = [&](std::string_view member) {
    if (member.starts_with("W/")) member.remove_prefix(2);
    found = found || member == etag || member == "*";
  };
  http::for_each_member(if_none_match, compare, http::Quoted::entity_tags);
  return found;
}

}  // namespace ringside::replay
