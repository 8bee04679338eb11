#include "link/line.h"

#include <array>
#include <cstdint>

namespace ringside::link {
namespace {

bool is_control(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && byte != '\t') || byte == 0x7f;
}

// What is not visible, and the colon.
constexpr auto kEndsName = [] {
  std::array<bool, 256> ends{};
  for (std::size_t c = 0; c < ends.size(); ++c) ends[c] = c <= ' ' || c == ':' || c >= 0x7f;
  return ends;
}();

}  // namespace

// In blocks of a fixed size, which the compiler does in a few instructions.
std::size_t control_characters(std::string_view text) noexcept {
  constexpr std::size_t block_bytes = 32;
  std::size_t count = 0;
  for (; text.size() >= block_bytes; text.remove_prefix(block_bytes)) {
    std::uint8_t in_block = 0;
    for (std::size_t at = 0; at < block_bytes; ++at) {
      in_block =
          static_cast<std::uint8_t>(in_block + static_cast<std::uint8_t>(is_control(text[at])));
    }
    count += in_block;
  }
  for (const char c : text) count += static_cast<std::size_t>(is_control(c));
  return count;
}

bool is_name(std::string_view text) noexcept {
  bool ends = text.empty();
  for (const char c : text) ends |= kEndsName[static_cast<unsigned char>(c)];
  return !ends;
}

Line first_line(std::string_view lines) noexcept {
  const std::size_t end = lines.find('\r');
  const std::size_t colon = lines.substr(0, end).find(':');
  if (end == std::string_view::npos || colon == std::string_view::npos ||
      lines.substr(end, line_end.size()) != line_end ||
      lines.substr(colon, name_end.size()) != name_end) {
    return {};
  }
  const std::size_t value = colon + name_end.size();
  return {lines.substr(0, colon), lines.substr(value, end - value), end + line_end.size()};
}

}  // namespace ringside::link
