#pragma once

#include <array>
#include <cstdint>
#include <string_view>

// The character classes of RFC 9110 §5.5–§5.6 and RFC 3986 §2–§3 as one table, so that a byte is
// classified by a load and a mask.
namespace ringside::http {

enum CharacterClass : std::uint16_t {
  kTokenClass = 1 << 0,    // tchar, RFC 9110 §5.6.2
  kValueClass = 1 << 1,    // in a field value: HTAB, SP, VCHAR, obs-text
  kVisibleClass = 1 << 2,  // VCHAR and obs-text: what a request target is cut from the line by
  kDigitClass = 1 << 3,
  kHostClass = 1 << 4,        // in a host name as we accept it: letters, digits, "-" "." "_" "~"
  kUnreservedClass = 1 << 5,  // RFC 3986 §2.3
  kPathClass = 1 << 6,        // pchar without "%", and "/": RFC 3986 §3.3
  kQueryClass = 1 << 7,       // the same and "?": RFC 3986 §3.4
  kEscapedClass = 1 << 8,     // no part of RFC 3986's grammar, taken and sent percent-encoded
};

namespace detail {

constexpr bool contains(std::string_view set, unsigned char c) {
  return c != 0 && set.find(static_cast<char>(c)) != std::string_view::npos;
}

constexpr std::uint16_t classify(unsigned char c) {
  const bool digit = c >= '0' && c <= '9';
  const bool alpha = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  const bool visible = (c > 0x20 && c < 0x7f) || c >= 0x80;
  const bool unreserved = alpha || digit || contains("-._~", c);
  const bool path = unreserved || contains("!$&'()*+,;=:@/", c);
  unsigned classes = 0;
  if (alpha || digit || contains("!#$%&'*+-.^_`|~", c)) classes |= kTokenClass;
  if (visible || c == ' ' || c == '\t') classes |= kValueClass;
  if (visible) classes |= kVisibleClass;
  if (digit) classes |= kDigitClass;
  if (unreserved) classes |= kHostClass | kUnreservedClass;
  if (path) classes |= kPathClass;
  if (path || c == '?') classes |= kQueryClass;
  if (visible && !path && !contains("?%#", c)) classes |= kEscapedClass;
  return static_cast<std::uint16_t>(classes);
}

constexpr std::array<std::uint16_t, 256> make_classes() {
  std::array<std::uint16_t, 256> table{};
  for (unsigned c = 0; c < table.size(); ++c) table[c] = classify(static_cast<unsigned char>(c));
  return table;
}

constexpr std::array<std::int8_t, 256> make_hex_values() {
  std::array<std::int8_t, 256> table{};
  for (auto& value : table) value = -1;
  for (unsigned i = 0; i < 10; ++i) table['0' + i] = static_cast<std::int8_t>(i);
  for (unsigned i = 0; i < 6; ++i) {
    table['a' + i] = static_cast<std::int8_t>(10 + i);
    table['A' + i] = static_cast<std::int8_t>(10 + i);
  }
  return table;
}

inline constexpr std::array<std::uint16_t, 256> kClasses = make_classes();
inline constexpr std::array<std::int8_t, 256> kHexValues = make_hex_values();

}  // namespace detail

[[nodiscard]] constexpr bool is_in(char c, unsigned classes) noexcept {
  return (detail::kClasses[static_cast<unsigned char>(c)] & classes) != 0;
}

// 0 to 15, or -1 for what is no hexadecimal digit.
[[nodiscard]] constexpr int hex_value(char c) noexcept {
  return detail::kHexValues[static_cast<unsigned char>(c)];
}

[[nodiscard]] constexpr bool is_token(std::string_view text) noexcept {
  for (const char c : text) {
    if (!is_in(c, kTokenClass)) return false;
  }
  return !text.empty();
}

}  // namespace ringside::http
