#include "http1/chunked.h"

#include <algorithm>
#include <charconv>

#include "base/limits.h"
#include "http/characters.h"

namespace ringside::http {
namespace {

// Enough for every 64-bit size. More digits are refused, leading zeros or not, so that no size
// overflows and none has many spellings.
constexpr std::size_t kSizeDigits = 16;

// In a quoted string of a chunk extension (RFC 9110 §5.6.4).
constexpr unsigned kQuotedClasses = kValueClass;

constexpr bool is_space(char c) noexcept { return c == ' ' || c == '\t'; }

}  // namespace

Result<ChunkDecoder::Step> ChunkDecoder::decode(std::string_view input, ErrorSource source) {
  std::size_t at = 0;
  while (at < input.size() && state_ != State::done) {
    if (state_ == State::data) {
      const auto size =
          static_cast<std::size_t>(std::min<std::uint64_t>(left_bytes_, input.size() - at));
      left_bytes_ -= size;
      if (left_bytes_ == 0) state_ = State::data_cr;
      return Step{at + size, input.substr(at, size)};
    }
    const char* const why = state_ < State::trailer_start ? frame(input[at]) : trailer(input[at]);
    if (why != nullptr) return Error{ErrorKind::malformed, source, Retry::no, why};
    ++at;
  }
  return Step{at, {}};
}

const char* ChunkDecoder::frame(char c) noexcept {
  if (state_ < State::size_lf) {
    if (++line_bytes_ > limits::chunk_line_size_bytes) return "a chunk's first line is too long";
    return line(c);
  }
  switch (state_) {
    case State::size_lf:
      if (c != '\n') return "bare CR in a chunk's first line";
      state_ = left_bytes_ == 0 ? State::trailer_start : State::data;
      return nullptr;
    case State::data_cr:
      if (c != '\r') return "a chunk is longer than its size";
      state_ = State::data_lf;
      return nullptr;
    default:  // data_lf
      if (c != '\n') return "bare CR after a chunk";
      state_ = State::size_first;
      line_bytes_ = 0;
      return nullptr;
  }
}

const char* ChunkDecoder::line(char c) noexcept {
  if (state_ == State::extension_quoted || state_ == State::extension_escape) {
    return extension_quoted(c);
  }
  const bool in_size = state_ <= State::size;
  const int digit = in_size ? hex_value(c) : -1;
  if (digit >= 0) return size_digit(static_cast<unsigned>(digit));
  if (state_ == State::size_first) return "a chunk without a size";
  if (in_size && c != ';' && c != '\r') return "a chunk's size is not hexadecimal";
  if (c == '\n') return "bare LF in a chunk's first line";
  const bool may_end = state_ == State::size || state_ == State::extension_name ||
                       state_ == State::extension_token || state_ == State::extension_quoted_end;
  if (c == '\r' && may_end) {
    state_ = State::size_lf;
    return nullptr;
  }
  return extension(c);
}

// RFC 9112 §7.1.1: `;name`, `;name=token`, `;name="quoted string"`, with white space around `;` and
// `=`, but none that nothing follows, and none between the size and the first `;`.
const char* ChunkDecoder::extension(char c) noexcept {
  const State before = state_;
  const bool after_name = before == State::extension_name || before == State::extension_name_gap;
  if (before == State::extension || before == State::extension_value) {
    const bool named = before == State::extension_value;
    if (is_space(c)) return nullptr;
    if (named && c == '"') {
      state_ = State::extension_quoted;
      return nullptr;
    }
    state_ = named ? State::extension_token : State::extension_name;
    return is_in(c, kTokenClass) ? nullptr : "invalid byte in a chunk extension";
  }
  if (c == ';') {
    state_ = State::extension;
  } else if (c == '=' && after_name) {
    state_ = State::extension_value;
  } else if (is_space(c)) {
    state_ = after_name ? State::extension_name_gap : State::extension_gap;
  } else if ((before != State::extension_name && before != State::extension_token) ||
             !is_in(c, kTokenClass)) {
    return "invalid byte in a chunk extension";
  }
  return nullptr;
}

const char* ChunkDecoder::extension_quoted(char c) noexcept {
  if (!is_in(c, kQuotedClasses)) return "control byte in a chunk extension";
  const bool escaped = state_ == State::extension_escape;
  if (escaped || (c != '"' && c != '\\')) {
    state_ = State::extension_quoted;
  } else {
    state_ = c == '"' ? State::extension_quoted_end : State::extension_escape;
  }
  return nullptr;
}

const char* ChunkDecoder::size_digit(unsigned digit) noexcept {
  if (line_bytes_ > kSizeDigits) return "a chunk's size is too large";
  left_bytes_ = left_bytes_ * 16 + digit;
  state_ = State::size;
  return nullptr;
}

const char* ChunkDecoder::trailer(char c) noexcept {
  if (++trailer_bytes_ > limits::trailer_size_bytes) return "trailers are too long";
  switch (state_) {
    case State::trailer_start:
      if (c == '\r') {
        state_ = State::end_lf;
        return nullptr;
      }
      if (c == ' ' || c == '\t') return "white space before a trailer's name (obs-fold)";
      if (!is_in(c, kTokenClass)) return "invalid byte in a trailer's name";
      state_ = State::trailer_name;
      return nullptr;
    case State::trailer_name:
      if (c != ':' && !is_in(c, kTokenClass)) return "invalid byte in a trailer's name";
      if (c == ':') state_ = State::trailer_value;
      return nullptr;
    case State::trailer_value:
      if (c == '\r') {
        state_ = State::trailer_lf;
        return nullptr;
      }
      return is_in(c, kValueClass) ? nullptr : "bare LF or control byte in a trailer";
    case State::trailer_lf:
      if (c != '\n') return "bare CR in a trailer";
      state_ = State::trailer_start;
      return nullptr;
    default:  // end_lf
      if (c != '\n') return "bare CR after the trailers";
      state_ = State::done;
      return nullptr;
  }
}

std::string_view chunk_line(std::size_t size_bytes, std::span<char, 20> space) noexcept {
  const auto end = std::to_chars(space.data(), space.data() + 16, size_bytes, 16).ptr;
  end[0] = '\r';
  end[1] = '\n';
  return {space.data(), static_cast<std::size_t>(end + 2 - space.data())};
}

}  // namespace ringside::http
