#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/hash.h"
#include "cache/cache_key.h"
#include "cache/store.h"
#include "http/target.h"
#include "tests/cache/some_response.h"

namespace ringside::cache {

inline CacheKey key_in(std::optional<shard::Bucket> bucket, const std::string& path,
                       std::string_view extra_key = {}) {
  http::Target target;
  target.path = path;
  CacheKey key;
  key.assign(http::Scheme::http, "a.test", target, extra_key);
  key.bucket = bucket;
  return key;
}

inline CacheKey key_of(std::string text) {
  CacheKey key;
  key.hash = hash64(text);
  key.text = std::move(text);
  return key;
}

// The body of what is found.
inline std::string found_in(Store& store, const CacheKey& key, const http::Fields& request = {}) {
  const auto found = store.find(key, request);
  return found.response ? body_of(found.response) : "nothing";
}

}  // namespace ringside::cache
