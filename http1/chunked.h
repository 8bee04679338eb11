#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/error.h"

namespace ringside::http {

// The chunked coding read strictly (RFC 9112 §7.1), byte-exact in any cuts: the body, the verdict
// and the byte after the end do not depend on how the input was cut. Extensions and trailers are
// read, held to limits and dropped.
class ChunkDecoder {
 public:
  struct Step {
    std::size_t consumed = 0;  // of the input
    std::string_view data;     // a piece of the body within the consumed bytes, may be empty
  };

  void reset() noexcept { *this = ChunkDecoder{}; }

  // Takes the next bytes as far as one piece of data or the end. consumed == 0 with !done() means
  // that more input is needed and none was given. Errors are malformed, from `source`; after one
  // only reset() may follow. After done() nothing is consumed.
  [[nodiscard]] Result<Step> decode(std::string_view input, ErrorSource source);
  [[nodiscard]] bool done() const noexcept { return state_ == State::done; }

 private:
  enum class State {
    size_first,
    size,
    // After a `;`, in a name, after white space behind a name, after `=`, in a token, in a quoted
    // string, behind a backslash in it, after its end, after white space behind a value.
    extension,
    extension_name,
    extension_name_gap,
    extension_value,
    extension_token,
    extension_quoted,
    extension_escape,
    extension_quoted_end,
    extension_gap,
    size_lf,
    data,
    data_cr,
    data_lf,
    trailer_start,
    trailer_name,
    trailer_value,
    trailer_lf,
    end_lf,
    done
  };
  // One byte each; a message where it is refused, else nullptr.
  [[nodiscard]] const char* frame(char c) noexcept;
  [[nodiscard]] const char* line(char c) noexcept;
  [[nodiscard]] const char* extension(char c) noexcept;
  [[nodiscard]] const char* extension_quoted(char c) noexcept;
  [[nodiscard]] const char* size_digit(unsigned digit) noexcept;
  [[nodiscard]] const char* trailer(char c) noexcept;

  State state_ = State::size_first;
  std::uint64_t left_bytes_ = 0;  // of the chunk; 0 between chunks
  std::size_t line_bytes_ = 0;
  std::size_t trailer_bytes_ = 0;
};

// The line before a chunk's data (RFC 9112 §7.1), in `space`.
[[nodiscard]] std::string_view chunk_line(std::size_t size_bytes,
                                          std::span<char, 20> space) noexcept;
inline constexpr std::string_view last_chunk = "0\r\n\r\n";

}  // namespace ringside::http
