#pragma once

#include <cstddef>
#include <string_view>

// Field lines as frames have them: as FieldLines makes them, `NAME: VALUE` and CRLF. Pure.
namespace ringside::link {

inline constexpr std::string_view line_end = "\r\n";
inline constexpr std::string_view name_end = ": ";

struct Line {
  std::string_view name;
  std::string_view value;
  std::size_t size_bytes = 0;  // with its end; 0: it is none
};
// The first of some lines.
[[nodiscard]] Line first_line(std::string_view lines) noexcept;

// Visible, and without a colon: what a sidecar or a replica has read as a token, or an operator has
// written as one.
[[nodiscard]] bool is_name(std::string_view text) noexcept;
// How many bytes can't stand in a line: control characters, but for tabs.
[[nodiscard]] std::size_t control_characters(std::string_view text) noexcept;

// Calls visit(line) for each; false where they are no lines, or a visit says so.
template <class Visit>
bool for_each_line(std::string_view lines, const Visit& visit) {
  std::size_t count = 0;
  for (std::string_view rest = lines; !rest.empty(); ++count) {
    const Line line = first_line(rest);
    if (line.size_bytes == 0 || !is_name(line.name) || !visit(line)) return false;
    rest.remove_prefix(line.size_bytes);
  }
  return control_characters(lines) == count * line_end.size();
}

}  // namespace ringside::link
