#pragma once

#include <string>

#include "cache/cache_key.h"
#include "http/target.h"

namespace ringside::cache {

inline CacheKey key_of(const std::string& path, shard::Bucket bucket) {
  http::Target target;
  target.path = path;
  CacheKey key;
  key.assign(http::Scheme::http, "a.test", target, "");
  key.bucket = bucket;
  return key;
}

}  // namespace ringside::cache
