#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/byte_range.h"

namespace ringside::http {

// A multipart/byteranges body (RFC 9110 §14.6) but for the object's bytes: what is sent is each
// part's head and then the bytes of its span, in order, then the closing.
struct MultipartRanges {
  struct Part {
    std::string head;  // the delimiter, the part's fields and the empty line
    ByteSpan span;
  };
  std::string content_type;  // of the response
  std::vector<Part> parts;
  std::string closing;
  std::uint64_t length_bytes = 0;  // of the whole body, for Content-Length
};

// A boundary made of `number`, 25 bytes.
//
// The contract of every boundary (RFC 2046 §5.1.1): CRLF, two hyphens and the boundary occur
// nowhere in the bytes sent. Nobody looks: a number that is random and as good as new for each
// response makes it so. At each of n places of a body the chance of all 64 bits is at most 2^-64,
// so n/2^64 in all: 2^-24 for 1 TiB. That holds against a body made to contain delimiters, too, as
// long as its author can't foresee the number: a counter will do only where all authors are
// trusted, or encrypted or hashed with a secret.
[[nodiscard]] std::string multipart_boundary(std::uint64_t number);

// How the spans of an object of complete_length bytes are sent; they are as resolve() gives them,
// at least one (a single one belongs in a plain 206 where a single one was asked for, RFC 9110
// §15.3.7.2). content_type: the object's own, said again in each part; empty where it has none.
// boundary: see above.
[[nodiscard]] MultipartRanges frame_ranges(std::span<const ByteSpan> spans,
                                           std::uint64_t complete_length,
                                           std::string_view content_type,
                                           std::string_view boundary);

}  // namespace ringside::http
