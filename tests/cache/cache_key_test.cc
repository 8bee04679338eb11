#include "cache/cache_key.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace ringside::cache {
namespace {

http::Target target_of(std::string_view text) {
  http::Target target;
  EXPECT_TRUE(http::normalise_target(text, target)) << text;
  return target;
}

CacheKey key_of(std::string_view host, std::string_view target, std::string_view extra) {
  CacheKey key;
  key.text = "what was there before";
  key.assign(host, target_of(target), extra);
  return key;
}

TEST(CacheKey, DiffersWhereAnyPartDiffers) {
  std::set<std::string> texts;
  std::set<std::uint64_t> hashes;
  std::size_t made = 0;
  for (const auto* host : {"a.test", "a.test:8080", "b.test"}) {
    for (const auto* target : {"/", "/a", "/a/", "/ab", "/a?", "/a?b", "/a?b=", "/a%3Fb", "/A"}) {
      for (const auto* extra : {"", "DE", "FR", "DE,x"}) {
        const auto key = key_of(host, target, extra);
        texts.insert(key.text);
        hashes.insert(key.hash);
        ++made;
      }
    }
  }
  EXPECT_EQ(texts.size(), made);
  EXPECT_EQ(hashes.size(), made);
}

TEST(CacheKey, IsOneForSpellingsOfOneTarget) {
  const auto key = key_of("a.test", "/b~?x", "DE");
  for (const auto* target : {"/a/../b%7e?x", "/./b~?x", "http://other.test/b%7E?x"}) {
    EXPECT_EQ(key_of("a.test", target, "DE").text, key.text) << target;
    EXPECT_EQ(key_of("a.test", target, "DE").hash, key.hash) << target;
  }
}

TEST(UriPrefix, BeginsAllKeysOfItsUriAndNoOther) {
  const auto prefix = uri_prefix("a.test", "/a");
  for (const auto* extra : {"", "DE", "FR"}) {
    EXPECT_TRUE(key_of("a.test", "/a", extra).text.starts_with(prefix)) << extra;
  }
  for (const auto* target : {"/ab", "/a/", "/a/b", "/a?", "/a?b", "/", "/b/a"}) {
    EXPECT_FALSE(key_of("a.test", target, "").text.starts_with(prefix)) << target;
  }
  EXPECT_FALSE(key_of("b.test", "/a", "").text.starts_with(prefix));
  EXPECT_FALSE(key_of("a.test:81", "/a", "").text.starts_with(prefix));
  EXPECT_TRUE(key_of("a.test", "/a?b", "DE").text.starts_with(uri_prefix("a.test", "/a?b")));
  EXPECT_TRUE(key_of("a.test", "/a?", "DE").text.starts_with(uri_prefix("a.test", "/a?")));
}

}  // namespace
}  // namespace ringside::cache
