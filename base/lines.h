#pragma once

#include <algorithm>
#include <climits>
#include <cstdint>
#include <string_view>

namespace ringside {

[[nodiscard]] inline std::uint64_t lines_in(std::string_view text) noexcept {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

// What of these lines goes to a pipe or a terminal at once: whole ones as far as they fit, which
// others who write there don't come between.
[[nodiscard]] inline std::string_view piece_for_pipe(std::string_view lines) noexcept {
  if (lines.size() <= PIPE_BUF) return lines;
  const std::size_t newline = lines.rfind('\n', PIPE_BUF - 1);
  return lines.substr(0, newline == std::string_view::npos ? PIPE_BUF : newline + 1);
}

}  // namespace ringside
