#include "http/multipart_ranges.h"

#include <fmt/format.h>

#include "base/check.h"

namespace ringside::http {

std::string multipart_boundary(std::uint64_t number) {
  return fmt::format("ringside-{:016x}", number);
}

MultipartRanges frame_ranges(std::span<const ByteSpan> spans, std::uint64_t complete_length,
                             std::string_view content_type, std::string_view boundary) {
  RINGSIDE_CHECK(!spans.empty());
  MultipartRanges body;
  body.content_type = fmt::format("multipart/byteranges; boundary={}", boundary);
  body.closing = fmt::format("\r\n--{}--\r\n", boundary);
  body.length_bytes = body.closing.size();
  for (const ByteSpan& span : spans) {
    RINGSIDE_CHECK(span.first <= span.last && span.last < complete_length);
    // The line end before a delimiter is the delimiter's own, not the part's (RFC 2046 §5.1.1);
    // before the first there is nothing to end.
    std::string head = fmt::format("{}--{}\r\n", body.parts.empty() ? "" : "\r\n", boundary);
    if (!content_type.empty()) head += fmt::format("Content-Type: {}\r\n", content_type);
    head += fmt::format("Content-Range: {}\r\n\r\n", content_range_text(span, complete_length));
    body.length_bytes += head.size() + span.size();
    body.parts.push_back({std::move(head), span});
  }
  return body;
}

}  // namespace ringside::http
