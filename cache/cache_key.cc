#include "cache/cache_key.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"

namespace ringside::cache {
namespace {

void append_uri(std::string& text, std::string_view host) {
  text.append("http\n").append(host).append("\n");
}

}  // namespace

void CacheKey::assign(std::string_view host, const http::Target& target,
                      std::string_view extra_key) {
  text.clear();
  append_uri(text, host);
  text.append(target.path);
  if (target.has_query) text.append("?").append(target.query);
  text.append("\n");
  uri_size_bytes = text.size();
  hash = hash64(text);
  text.append(extra_key);
  own_hash = hash ^ (hash64(extra_key) * 0x9e3779b97f4a7c15ULL);  // the two are apart
}

std::string uri_prefix(std::string_view host, std::string_view path_and_query) {
  std::string text;
  append_uri(text, host);
  text.append(path_and_query).append("\n");
  return text;
}

CacheKey key_of_uri(std::string_view host, std::string_view path_and_query) {
  CacheKey key;
  key.text = uri_prefix(host, path_and_query);
  key.uri_size_bytes = key.text.size();
  key.hash = key.own_hash = hash64(key.text);
  return key;
}

std::string readable(const CacheKey& key) {
  std::string text = key.text;
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

CacheKey slice_key(const CacheKey& object, std::uint64_t index, std::string_view strong_tag) {
  CacheKey key;
  key.text = fmt::format("{}\nslice {} of {}", object.text, index, strong_tag);
  key.uri_size_bytes = object.uri_size_bytes;
  key.hash = key.own_hash =
      hash64(key.text);  // its own: a large object's slices shall not lie in one place
  return key;
}

}  // namespace ringside::cache
