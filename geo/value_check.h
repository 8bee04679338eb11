#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace ringside::geo {

// Checks a value of the MaxMind DB data format before libmaxminddb decodes it. That library (1.7.1
// is what Debian 12 has) recurses as deep as a file says and reads behind a metadata section that
// is empty; what passes here lies within its section and nests no deeper than
// limits::geo_value_depth, with no more than limits::geo_value_parts values in all.
class ValueCheck {
 public:
  enum class Arrays { of_anything, of_strings };
  // `section` is what pointers count from. The metadata's arrays hold strings only; the library
  // leaks where they don't.
  explicit ValueCheck(std::span<const std::uint8_t> section, Arrays arrays = Arrays::of_anything)
      : section_(section), arrays_(arrays) {}

  // True where a sound map begins at `offset`.
  [[nodiscard]] bool is_sound_map(std::size_t offset);

 private:
  struct Header {
    unsigned type = 0;
    std::size_t size = 0;    // bytes, or members of a map or array; of a pointer, its target
    std::size_t behind = 0;  // the offset of what follows the header
  };
  [[nodiscard]] std::optional<Header> header(std::size_t offset) const;
  [[nodiscard]] std::optional<Header> pointer(std::size_t offset) const;
  // The header of what stands at `offset` or of what a pointer there points to.
  [[nodiscard]] std::optional<Header> followed(std::size_t offset) const;
  [[nodiscard]] std::optional<std::size_t> number(std::size_t offset, std::size_t bytes) const;
  // The offset behind the value; nullopt where it is unsound.
  [[nodiscard]] std::optional<std::size_t> pass(std::size_t offset, unsigned depth);
  [[nodiscard]] std::optional<std::size_t> pass_members(const Header& container, unsigned depth);
  [[nodiscard]] std::optional<std::size_t> pass_scalar(const Header& scalar) const;
  [[nodiscard]] bool is_string(std::size_t offset) const;

  std::span<const std::uint8_t> section_;
  Arrays arrays_;
  std::size_t parts_ = 0;
};

}  // namespace ringside::geo
