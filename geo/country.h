#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace ringside::geo {

// An ISO 3166-1 alpha-2 code; `ZZ` where the country is unknown.
class Country {
 public:
  constexpr Country() = default;
  // Two ASCII letters of any case; everything else is ZZ.
  [[nodiscard]] static constexpr Country from(std::string_view code) noexcept {
    Country country;
    if (code.size() == 2 && is_letter(code[0]) && is_letter(code[1])) {
      country.letters_ = {upper(code[0]), upper(code[1])};
    }
    return country;
  }
  [[nodiscard]] constexpr std::string_view code() const noexcept {
    return {letters_.data(), letters_.size()};
  }
  [[nodiscard]] constexpr bool known() const noexcept { return *this != Country{}; }
  // 0 … 675, dense: an index for counters.
  static constexpr std::size_t index_count = 26 * 26;
  [[nodiscard]] constexpr std::size_t index() const noexcept {
    return static_cast<std::size_t>(letters_[0] - 'A') * 26 +
           static_cast<std::size_t>(letters_[1] - 'A');
  }
  constexpr bool operator==(const Country&) const = default;

 private:
  static constexpr bool is_letter(char c) noexcept {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  }
  static constexpr char upper(char c) noexcept {
    return c >= 'a' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  std::array<char, 2> letters_{'Z', 'Z'};
};

}  // namespace ringside::geo
