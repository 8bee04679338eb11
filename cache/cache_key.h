#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/target.h"

namespace ringside::cache {

// What identifies a stored response before Vary: scheme, host, normalised path and query, and what
// the sidecar said of the shard key. The parts can't contain the separating line feed.
struct CacheKey {
  std::string text;
  std::uint64_t hash = 0;

  void assign(std::string_view host, const http::Target& target, std::string_view extra_key);
};

// The part of a key's text that all shard keys of one URI share.
[[nodiscard]] std::string uri_prefix(std::string_view host, std::string_view path_and_query);

}  // namespace ringside::cache
