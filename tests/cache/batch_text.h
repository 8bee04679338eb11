#pragma once

#include <string>
#include <utility>

#include "cache/moved_response.h"

namespace ringside::cache {

// What goes over.
inline std::string text_of(MovedBatch batch) {
  http::Body body = std::move(batch).body();
  std::string text;
  const auto pulled = body.take();
  if (!pulled || !*pulled) return text;
  for (const std::string_view piece : (*pulled)->pieces) text += piece;
  return text;
}

}  // namespace ringside::cache
