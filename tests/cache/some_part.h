#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "cache/parts.h"
#include "cache/request_context.h"
#include "http/byte_range.h"
#include "tests/cache/some_response.h"

namespace ringside::cache {

// A stored part of a whole of that length, with an entity tag; empty: without.
inline StoredPointer part_of(std::string_view bytes, std::uint64_t first_byte,
                             std::uint64_t complete_length_bytes, std::string_view etag = "\"1\"") {
  http::Fields fields = fields_of({{"Cache-Control", "max-age=60"}});
  if (!etag.empty()) fields.add("ETag", etag);
  const auto whole = response_of(fields, bytes);
  return std::make_shared<const StoredResponse>(
      StoredResponse{whole->head, whole->body, Extent{first_byte, complete_length_bytes}});
}

inline StoredPointer whole_of(std::string_view bytes, std::string_view etag = "\"1\"") {
  const auto part = part_of(bytes, 0, bytes.size(), etag);
  return std::make_shared<const StoredResponse>(StoredResponse{part->head, part->body});
}

// Of a GET with that Range; empty: without.
inline RequestContext context_of(std::string_view range) {
  RequestContext context;
  context.method = "GET";
  if (!range.empty()) context.ranges = http::parse_range(range);
  return context;
}

}  // namespace ringside::cache
