#include "cache/cache_key.h"

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
  text.append("\n").append(extra_key);
  hash = hash64(text);
}

std::string uri_prefix(std::string_view host, std::string_view path_and_query) {
  std::string text;
  append_uri(text, host);
  text.append(path_and_query).append("\n");
  return text;
}

}  // namespace ringside::cache
