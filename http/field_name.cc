#include "http/field_name.h"

#include <cstring>

namespace ringside::http::detail {
namespace {

constexpr std::size_t word_size = sizeof(std::uint64_t);
constexpr std::size_t half_size = sizeof(std::uint32_t);

constexpr std::uint64_t every_byte(std::uint64_t byte) noexcept {
  return 0x0101010101010101 * byte;
}

std::uint64_t word_at(const char* at) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, at, word_size);
  return word;
}

// Fewer than eight bytes, all of them and some of them twice.
std::uint64_t short_word(const char* at, std::size_t size) noexcept {
  if (size >= half_size) {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::memcpy(&first, at, half_size);
    std::memcpy(&last, at + size - half_size, half_size);
    return std::uint64_t{first} << 32 | last;
  }
  if (size == 0) return 0;
  const auto byte = [at](std::size_t index) {
    return std::uint64_t{static_cast<unsigned char>(at[index])};
  };
  return byte(0) << 16 | byte(size / 2) << 8 | byte(size - 1);
}

// The highest bit of each byte that is a letter.
std::uint64_t letters_of(std::uint64_t word) noexcept {
  const std::uint64_t lower = word | every_byte(0x20);
  const std::uint64_t ascii = lower & every_byte(0x7f);
  const std::uint64_t from_a = ascii + every_byte(0x80 - 'a');
  const std::uint64_t behind_z = ascii + every_byte(0x80 - ('z' + 1));
  return from_a & ~behind_z & ~lower & every_byte(0x80);
}

// Eight bytes at once: they may differ in the bit of the case alone, and there where letters are.
bool same_words(std::uint64_t a, std::uint64_t b) noexcept {
  const std::uint64_t differs = a ^ b;
  if ((differs & ~every_byte(0x20)) != 0) return false;
  return ((differs << 2) & ~letters_of(a)) == 0;
}

}  // namespace

bool same_letters(const char* a, const char* b, std::size_t size) noexcept {
  if (size >= word_size) {
    // The last word overlaps the one before.
    for (std::size_t i = 0; i < size - word_size; i += word_size) {
      if (!same_words(word_at(a + i), word_at(b + i))) return false;
    }
    return same_words(word_at(a + size - word_size), word_at(b + size - word_size));
  }
  return same_words(short_word(a, size), short_word(b, size));
}

}  // namespace ringside::http::detail
