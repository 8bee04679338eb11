#include "http1/head_reader.h"

#include <bit>
#include <cstring>
#include <limits>
#include <string>

#include "base/limits.h"
#include "http/characters.h"

namespace ringside::http {
namespace {

constexpr std::uint64_t every_byte(unsigned char byte) { return 0x0101010101010101ULL * byte; }

// A bit for each of eight bytes that is below 0x20 or is 0x7f. Bytes from 0x80 on are left out of
// both tests by their high bit; a borrow can only pass on from a byte that is itself a hit, to
// those behind it, so that the first hit is one for certain.
std::uint64_t controls_of(std::uint64_t eight) noexcept {
  const std::uint64_t below_space = (eight - every_byte(0x20)) & ~eight;
  const std::uint64_t from_delete = eight ^ every_byte(0x7f);
  const std::uint64_t is_delete = (from_delete - every_byte(0x01)) & ~from_delete;
  return (below_space | is_delete) & every_byte(0x80);
}

// Eight bytes, the first of them lowest.
std::uint64_t eight_at(const char* at) noexcept {
  std::uint64_t eight = 0;
  std::memcpy(&eight, at, sizeof eight);
  return std::endian::native == std::endian::little ? eight : __builtin_bswap64(eight);
}

// The first byte at or after `at` that can't stand in a field value. The bytes up to `end` have
// one.
const char* end_of_value(const char* at, const char* end) noexcept {
  while (end - at >= 8) {
    const std::uint64_t controls = controls_of(eight_at(at));
    if (controls == 0) {
      at += 8;
      continue;
    }
    at += std::countr_zero(controls) / 8;
    if (*at != '\t') return at;
    ++at;
  }
  while (is_in(*at, kValueClass)) ++at;
  return at;
}

constexpr bool is_space(char c) noexcept { return c == ' ' || c == '\t'; }

}  // namespace

HeadReader::HeadReader(std::string_view bytes, ErrorSource source) noexcept
    : begin_(bytes.data()), end_(bytes.data() + bytes.size()), at_(bytes.data()), source_(source) {}

bool HeadReader::has_sentinel() noexcept {
  if (end_ - begin_ >= 2 && end_[-2] == '\r' && end_[-1] == '\n') return true;
  return refuse("head without its empty line");
}

void HeadReader::skip_empty_line() noexcept {
  if (end_ - at_ > 2 && at_[0] == '\r' && at_[1] == '\n') at_ += 2;
}

std::string_view HeadReader::take(unsigned classes) noexcept {
  const char* const from = at_;
  const char* to = from;
  while (is_in(*to, classes)) ++to;
  at_ = to;
  return {from, static_cast<std::size_t>(to - from)};
}

bool HeadReader::take_space(const char* otherwise) noexcept {
  if (*at_ != ' ') return refuse(otherwise);
  ++at_;
  return true;
}

bool HeadReader::take_version(int& minor_version) noexcept {
  constexpr std::ptrdiff_t size = 8;  // HTTP/1.1
  if (end_ - at_ < size || std::memcmp(at_, "HTTP/", 5) != 0 || !is_in(at_[5], kDigitClass) ||
      at_[6] != '.' || !is_in(at_[7], kDigitClass)) {
    return refuse("no HTTP version where one is due");
  }
  if (at_[5] != '1' || at_[7] > '1') {
    return refuse(ErrorKind::unsupported_version, "an HTTP version other than 1.0 and 1.1");
  }
  minor_version = at_[7] - '0';
  at_ += size;
  return true;
}

bool HeadReader::take_line_end(const char* where) noexcept {
  // The last two bytes are CRLF, so that a CR has a byte after it.
  if (at_[0] != '\r' || at_[1] != '\n') return refuse_byte(where);
  at_ += 2;
  return true;
}

bool HeadReader::take_fields(std::size_t most, Fields& fields) {
  while (at_ != end_ && *at_ != '\r') {
    if (fields.size() == most) return refuse(ErrorKind::head_too_large, "too many field lines");
    if (!take_field(fields)) return false;
  }
  if (at_ == end_) return refuse("head without its empty line");
  if (!take_line_end("the start of a line")) return false;
  return at_ == end_ || refuse("bytes after the empty line of a head");
}

bool HeadReader::take_field(Fields& fields) {
  const std::string_view field_name = take(kTokenClass);
  if (*at_ != ':') {
    if (!is_space(*at_)) return refuse_byte("a field name");
    return refuse(field_name.empty() ? "white space before a field name (obs-fold)"
                                     : "white space before the colon of a field line");
  }
  if (field_name.empty()) return refuse("empty field name");
  ++at_;
  while (is_space(*at_)) ++at_;
  const char* const from = at_;
  at_ = end_of_value(at_, end_);
  const char* to = at_;
  if (!take_line_end("a field value")) return false;
  while (to != from && is_space(to[-1])) --to;
  const std::string_view value(from, static_cast<std::size_t>(to - from));
  fields.add(field_name, value);
  return note(field_name, value);
}

bool HeadReader::note(std::string_view field_name, std::string_view value) {
  switch (field_name.size()) {
    case 4:
      if (same_token(field_name, "host") && facts_.host_lines++ == 0) facts_.host = value;
      return true;
    case 6:
      if (!same_token(field_name, "expect")) return true;
      // Two lines are a list of expectations, which is not exactly `100-continue`.
      facts_.expect = facts_.expect ? std::string_view{} : value;
      return true;
    case 10:
      return !same_token(field_name, "connection") || note_connection(value);
    case 14:
      return !same_token(field_name, "content-length") || note_content_length(value);
    case 17:
      return !same_token(field_name, "transfer-encoding") || note_transfer_encoding(value);
    default:
      return true;
  }
}

bool HeadReader::note_content_length(std::string_view value) noexcept {
  if (facts_.content_length) return refuse("several Content-Length lines");
  if (value.empty()) return refuse("empty Content-Length");
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t length = 0;
  for (const char c : value) {
    if (!is_in(c, kDigitClass)) return refuse("Content-Length is not a number");
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (length > (most - digit) / 10) return refuse("Content-Length is too large");
    length = length * 10 + digit;
  }
  facts_.content_length = length;
  return true;
}

// A list element that is empty or has parameters on `chunked` is refused rather than ignored: what
// two readers may read in two ways is no framing (RFC 9112 §11.2).
bool HeadReader::note_transfer_encoding(std::string_view value) noexcept {
  facts_.has_transfer_encoding = true;
  for (std::size_t start = 0; start <= value.size();) {
    const std::size_t end = end_of_member(value, start);
    const std::string_view member = trimmed(value.substr(start, end - start));
    start = end + 1;
    const std::string_view coding = trimmed(member.substr(0, member.find(';')));
    if (!is_token(coding)) return refuse("Transfer-Encoding is not a list of codings");
    const bool chunked = same_token(coding, "chunked");
    if (chunked && coding.size() != member.size()) return refuse("parameters of chunked");
    ++facts_.codings;
    facts_.chunked_codings += chunked ? 1 : 0;
    facts_.last_coding_is_chunked = chunked;
  }
  return true;
}

bool HeadReader::note_connection(std::string_view value) noexcept {
  for_each_member(value, [this](std::string_view option) {
    if (same_token(option, "close")) facts_.close = true;
    if (same_token(option, "keep-alive")) facts_.keep_alive = true;
    return ++facts_.connection_options <= limits::connection_options;
  });
  return facts_.connection_options <= limits::connection_options ||
         refuse("too many connection options");
}

bool HeadReader::decide_framing(int minor_version, Framing& framing) noexcept {
  framing = Framing{};
  if (!facts_.has_transfer_encoding) {
    if (facts_.content_length) framing = {Framing::Kind::length, *facts_.content_length};
    return true;
  }
  if (facts_.content_length) return refuse("Content-Length with Transfer-Encoding");
  if (minor_version == 0) return refuse("Transfer-Encoding in HTTP/1.0");
  if (facts_.chunked_codings > 1) return refuse("chunked more than once");
  if (!facts_.last_coding_is_chunked) return refuse("chunked is not the final transfer coding");
  if (facts_.codings > 1) {
    return refuse(ErrorKind::unsupported, "a transfer coding other than chunked");
  }
  framing.kind = Framing::Kind::chunked;
  return true;
}

bool HeadReader::refuse(ErrorKind kind, const char* why) noexcept {
  kind_ = kind;
  why_ = why;
  return false;
}

bool HeadReader::refuse_byte(const char* where) noexcept {
  where_ = where;
  switch (*at_) {
    case '\n':
      return refuse("bare LF in ");
    case '\r':
      return refuse("bare CR in ");
    case '\0':
      return refuse("NUL in ");
    default:
      return refuse(is_in(*at_, kValueClass) ? "misplaced byte in " : "control byte in ");
  }
}

std::size_t HeadReader::offset() const noexcept { return static_cast<std::size_t>(at_ - begin_); }

Error HeadReader::fault() const {
  return Error{kind_, source_, Retry::no, where_ ? std::string(why_) + where_ : std::string(why_)};
}

}  // namespace ringside::http
