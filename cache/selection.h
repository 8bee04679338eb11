#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "cache/request_context.h"
#include "cache/stored_response.h"
#include "http/byte_range.h"

namespace ringside::cache {

// What of a stored or streamed response a request gets (RFC 9110 §13.2.2, §14.2).
struct Selection {
  enum class Kind {
    not_modified,  // 304: the client has it
    whole,
    parts,          // 206 with `spans`, at least one
    unsatisfiable,  // 416: it has none of the ranges
  };
  Kind kind = Kind::whole;
  std::vector<http::ByteSpan> spans;
};

// Of other methods than GET and HEAD the whole: the fields of their requests are not looked at,
// which may be gone. `complete_length_bytes`: nullopt where it is not known yet; ranges are then
// ignored.
[[nodiscard]] Selection select(const RequestContext& context, const http::Fields& request,
                               const StoredHead& stored,
                               std::optional<std::uint64_t> complete_length_bytes, TimePoint now);

// True where what is stored is enough for the request: all of it, or the part that is wanted, or a
// 304 will do (RFC 9111 §3.3).
[[nodiscard]] bool is_enough(const StoredResponse& stored, const RequestContext& context,
                             const http::Fields& request, TimePoint now);

}  // namespace ringside::cache
