#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ringside::http {

namespace detail {
[[nodiscard]] bool same_letters(const char* a, const char* b, std::size_t size) noexcept;
}

// ASCII case-insensitive equality, as field names and most tokens are compared (RFC 9110 §5.1).
[[nodiscard]] inline bool same_token(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() && detail::same_letters(a.data(), b.data(), a.size());
}

// One of 64 bits, by a name's first letter and its length: names with other bits are other names,
// whatever their case. For a literal the compiler knows it.
[[nodiscard]] constexpr std::uint64_t name_mark(std::string_view name) noexcept {
  if (name.empty()) return 1;
  const std::size_t letter = static_cast<unsigned char>(name.front()) & 0x1fU;  // without its case
  return std::uint64_t{1} << ((letter * 5 + name.size()) % 64);
}

// A fixed set of names. Most names that are not in it are told by their mark alone.
template <std::size_t count>
class FieldNames {
 public:
  constexpr explicit FieldNames(const std::array<std::string_view, count>& names) : names_(names) {
    for (const std::string_view name : names) marks_ |= name_mark(name);
  }
  [[nodiscard]] bool has(std::string_view name) const noexcept {
    if ((marks_ & name_mark(name)) == 0) return false;
    for (const std::string_view other : names_) {
      if (same_token(other, name)) return true;
    }
    return false;
  }

 private:
  std::array<std::string_view, count> names_;
  std::uint64_t marks_ = 0;
};

}  // namespace ringside::http
