#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/limits.h"

namespace ringside::support {

// The words of a page's tables (a path below the sources) that stand behind `before`: X of each row
// that begins with | `beforeX` |
inline std::set<std::string> rows_of(std::string_view page, std::string_view before) {
  const auto text =
      read_file(RINGSIDE_SOURCE_DIR + std::string(page), limits::configuration_size_bytes).value();
  const std::string begin = "\n| `" + std::string(before);
  std::set<std::string> words;
  for (std::size_t at = 0; (at = text.find(begin, at)) != std::string::npos;) {
    at += begin.size();
    words.insert(text.substr(at, text.find("` |", at) - at));
  }
  return words;
}

}  // namespace ringside::support
