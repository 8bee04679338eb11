#include "cache/cache_key.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"

namespace ringside::cache {

void CacheKey::assign(http::Scheme scheme, std::string_view host, const http::Target& target,
                      std::string_view extra_key, Keyspace keyspace, std::string_view route) {
  text.assign(host).append("\n").append(target.path);
  if (target.has_query) text.append("?").append(target.query);
  text.append("\n");
  uri_size_bytes = text.size();
  hash = hash64(text);
  if (keyspace == Keyspace::strangers) text.append("stranger ");
  text.append(name(scheme)).append("\n").append(extra_key);
  // Like the parts of the extra key, of which none has this name.
  if (!route.empty()) text.append("route=").append(route).append("&");
  const auto own = std::string_view(text).substr(uri_size_bytes);
  bucket.reset();
  own_hash = hash ^ (hash64(own) * 0x9e3779b97f4a7c15ULL);  // the two are apart
}

std::string uri_prefix(std::string_view host, std::string_view path_and_query) {
  std::string text(host);
  text.append("\n").append(path_and_query).append("\n");
  return text;
}

std::string purged_prefix(const http::PurgeTarget& purged) {
  switch (purged.scope) {
    case http::PurgeTarget::Scope::uri:
      return uri_prefix(purged.host, purged.path_and_query);
    case http::PurgeTarget::Scope::below:
      return purged.host + "\n" + purged.path_and_query;
    case http::PurgeTarget::Scope::everything:
      break;
  }
  return {};
}

CacheKey key_of_uri(std::string_view host, std::string_view path_and_query) {
  CacheKey key;
  key.text = uri_prefix(host, path_and_query);
  key.uri_size_bytes = key.text.size();
  key.hash = key.own_hash = hash64(key.text);
  return key;
}

std::string readable(const CacheKey& key) {
  const auto own = std::string_view(key.text).substr(key.uri_size_bytes);
  const auto scheme_size = std::min(own.find('\n'), own.size());
  std::string text(own.substr(0, scheme_size));
  text.append(" ").append(key.uri()).append(own.substr(std::min(scheme_size + 1, own.size())));
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
  key.bucket = object.bucket;
  return key;
}

}  // namespace ringside::cache
