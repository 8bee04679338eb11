#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cache/stored_response.h"
#include "http/byte_range.h"

namespace ringside::cache {

// True where the stored bytes hold all of `spans`.
[[nodiscard]] bool covers(const StoredResponse& stored,
                          const std::vector<http::ByteSpan>& spans) noexcept;

// The length of the whole of which the response has a part, or all.
[[nodiscard]] std::uint64_t complete_length_bytes(const StoredResponse& stored) noexcept;

// `fresh` with what `stored` has before and after it, where the two are parts of one representation
// (same strong validator and length) and leave no gap; else `fresh` alone. Complete where nothing
// is missing any more (RFC 9111 §3.4, RFC 9110 §15.3.7.3). Bytes are shared but for at most two
// pieces, which are cut.
[[nodiscard]] StoredPointer combined(const StoredResponse& stored, StoredPointer fresh);

// What is to be stored of the part `fresh` where `stored` has its place now (null: nothing): both
// combined, if that is no larger than `most_bytes`; the whole that is stored, where nothing tells
// that it is of another representation; else `fresh`.
[[nodiscard]] StoredPointer kept_of(const StoredPointer& stored, StoredPointer fresh,
                                    std::uint64_t most_bytes);

// The pieces of the body that lie in `span`, which is of the whole and inside what is stored: views
// into the body.
[[nodiscard]] std::vector<std::string_view> bytes_of(const StoredResponse& stored,
                                                     const http::ByteSpan& span);

}  // namespace ringside::cache
