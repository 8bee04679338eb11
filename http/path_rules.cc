#include "http/path_rules.h"

#include <algorithm>
#include <cstddef>

#include "http/target.h"

namespace ringside::http {
namespace {

constexpr std::size_t kEncodedSize = 3;

bool is_escaped_slash(std::string_view path, std::size_t at) noexcept {
  const std::string_view encoded = path.substr(at, kEncodedSize);
  return encoded == "%2F" || encoded == "%5C";
}

bool begins_parameters(std::string_view path, std::size_t at) noexcept {
  return path[at] == ';' || path.substr(at, kEncodedSize) == "%3B";
}

}  // namespace

bool has_double_slash(std::string_view path) noexcept { return path.find("//") != path.npos; }

bool has_escaped_slash(std::string_view path) noexcept {
  for (std::size_t at = path.find('%'); at != path.npos; at = path.find('%', at + 1)) {
    if (is_escaped_slash(path, at)) return true;
  }
  return false;
}

bool has_parameters(std::string_view path) noexcept {
  return path.find(';') != path.npos || path.find("%3B") != path.npos;
}

std::string with_merged_slashes(std::string_view path) {
  std::string out(path);
  const auto is_double = [](char a, char b) { return a == '/' && b == '/'; };
  out.erase(std::unique(out.begin(), out.end(), is_double), out.end());
  return out;
}

std::string as_read_plainly(std::string_view path, Parameters parameters) {
  std::string out;
  for (std::size_t at = 0; at < path.size(); ++at) {
    if (is_escaped_slash(path, at)) {
      out += '/';
      at += kEncodedSize - 1;
    } else if (parameters == Parameters::cut && begins_parameters(path, at)) {
      while (at + 1 < path.size() && path[at + 1] != '/' && !is_escaped_slash(path, at + 1)) ++at;
    } else {
      out += path[at];
    }
  }
  Target target;
  // What is left is a path as before: nothing in it can be malformed.
  static_cast<void>(normalise_target(with_merged_slashes(out), target));
  return with_merged_slashes(target.path);
}

}  // namespace ringside::http
