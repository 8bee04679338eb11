#include "http1/head_parser.h"

#include <algorithm>
#include <cstring>

#include "base/limits.h"

namespace ringside::http {
namespace {

const char* find(const char* from, const char* end, char wanted) noexcept {
  if (from == end) return nullptr;
  return static_cast<const char*>(std::memchr(from, wanted, static_cast<std::size_t>(end - from)));
}

constexpr const char* nul_in_head = "NUL in a head";

Error malformed(ErrorSource source, const char* why) {
  return {ErrorKind::malformed, source, Retry::no, why};
}

// The bytes that are too many for a request line, where there is no end of one in them.
std::optional<std::string_view> line_too_long(std::string_view bytes,
                                              std::size_t line_size_bytes) noexcept {
  if (bytes.starts_with("\r\n")) bytes.remove_prefix(2);
  const std::size_t with_end = line_size_bytes + 2;
  if (bytes.size() < with_end) return std::nullopt;
  const std::string_view line = bytes.substr(0, with_end);
  return line.find('\n') == line.npos ? std::optional(line) : std::nullopt;
}

}  // namespace

HeadLimits HeadLimits::defaults() noexcept {
  return {limits::head_size_bytes, limits::request_line_size_bytes, limits::head_fields};
}

HeadLimits HeadLimits::between_hops() noexcept {
  return {limits::hop_head_size_bytes, limits::request_line_size_bytes, limits::hop_head_fields};
}

Result<std::optional<std::size_t>> find_head_end(std::string_view bytes, std::size_t searched,
                                                 const HeadLimits& limits, ErrorSource source) {
  const bool is_request = source == ErrorSource::client;
  const std::size_t size = std::min(bytes.size(), limits.head_size_bytes);
  const char* const begin = bytes.data();
  const char* const end = begin + size;
  const char* const from = begin + std::min(searched, size);
  // Faults count in the order of the bytes: what is wrong with a head must not depend on the cuts
  // in which it came.
  if (const auto line = line_too_long(bytes.substr(0, size), limits.line_size_bytes);
      is_request && line) {
    if (line->find('\0') != line->npos) return malformed(source, nul_in_head);
    return Error{ErrorKind::target_too_long, source, Retry::no, "request line too long"};
  }
  for (const char* at = from; (at = find(at, end, '\n')) != nullptr; ++at) {
    const auto index = static_cast<std::size_t>(at - begin);
    if (index == 0 || at[-1] != '\r') return malformed(source, "bare LF in a head");
    if (index == 1 && !is_request) return malformed(source, "empty line before the status line");
    if (index < 3 || at[-2] != '\n') continue;
    if (index == 3) return malformed(source, "more than one empty line before the request line");
    if (find(from, at, '\0') != nullptr) return malformed(source, nul_in_head);
    return std::optional<std::size_t>(index + 1);
  }
  if (find(from, end, '\0') != nullptr) return malformed(source, nul_in_head);
  if (bytes.size() >= limits.head_size_bytes) {
    return Error{ErrorKind::head_too_large, source, Retry::no, "head too large"};
  }
  return std::optional<std::size_t>();
}

}  // namespace ringside::http
