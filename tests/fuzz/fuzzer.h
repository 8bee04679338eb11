#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "http/characters.h"

// What the fuzz targets share. A target says what must hold for every input whatever;
// RINGSIDE_CHECK ends the run where it doesn't.
namespace ringside::fuzz {

// The one function that each target defines.
void examine(std::string_view input);

// Takes the first `size` bytes of an input, as far as they are there: what steers a target stands
// before what is parsed.
inline std::string_view take(std::string_view& input, std::size_t size) {
  const std::string_view taken = input.substr(0, size);
  input.remove_prefix(taken.size());
  return taken;
}

inline std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    lines.push_back(take(text, text.find('\n')));
    take(text, 1);
  }
  return lines;
}

// How many bytes arrive at once: the bytes of `sizes` in turn, each 1 to 64; all at once without.
class Cuts {
 public:
  explicit Cuts(std::string_view sizes) : sizes_(sizes) {}

  std::string_view next(std::string_view& rest) {
    if (sizes_.empty()) return take(rest, rest.size());
    const auto size = static_cast<unsigned char>(sizes_[at_++ % sizes_.size()]) % 64U;
    return take(rest, size + 1);
  }

 private:
  std::string_view sizes_;
  std::size_t at_ = 0;
};

inline constexpr std::string_view byte_by_byte{"\0", 1};

inline bool all_in(std::string_view text, unsigned classes) {
  return std::all_of(text.begin(), text.end(), [=](char c) { return http::is_in(c, classes); });
}

// What is told to people and written to logs is one line of text, whatever was quoted in it.
inline void check_message(const Error& error) {
  RINGSIDE_CHECK(!error.message.empty());
  for (const char c : error.message) RINGSIDE_CHECK(static_cast<unsigned char>(c) >= 0x20);
}

}  // namespace ringside::fuzz
