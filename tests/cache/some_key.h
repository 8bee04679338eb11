#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cache/cache_key.h"
#include "http/target.h"

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

}  // namespace ringside::cache
