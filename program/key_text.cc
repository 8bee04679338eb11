#include "program/key_text.h"

#include <fmt/format.h>

#include <charconv>
#include <iterator>

namespace ringside::program {

std::string key_text(std::string_view key) {
  if (key.ends_with('\n')) key.remove_suffix(1);
  std::string out;
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out.push_back(' ');
    } else if (byte <= 0x20 || byte >= 0x7f || c == '\\') {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
    } else {
      out.push_back(c);
    }
  }
  return out;
}

std::string key_text_of_at(std::string_view at) { return key_text(std::string(at) + '\n'); }

std::string key_of_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    unsigned char byte = 0;
    const char* const digits = text.data() + 2;
    const bool is_byte = text.starts_with("\\x") && text.size() >= 4 &&
                         std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
    const bool ends_value = text.starts_with("\\n") || text.starts_with(' ');
    out.push_back(is_byte ? static_cast<char>(byte) : ends_value ? '\n' : text.front());
    text.remove_prefix(is_byte ? 4 : text.starts_with("\\n") ? 2 : 1);
  }
  return out;
}

}  // namespace ringside::program
