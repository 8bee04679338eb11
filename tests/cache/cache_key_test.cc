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

CacheKey key_of_request(std::string_view host, std::string_view target, std::string_view extra,
                        http::Scheme scheme = http::Scheme::http) {
  CacheKey key;
  key.text = "what was there before";
  key.assign(scheme, host, target_of(target), extra);
  return key;
}

// The hash is the URI's: what has to be found together lies together.
TEST(CacheKey, DiffersWhereAnyPartDiffers) {
  std::set<std::string> texts;
  std::set<std::uint64_t> hashes;
  std::set<std::uint64_t> own_hashes;
  std::size_t made = 0;
  for (const auto* host : {"a.test", "a.test:8080", "b.test"}) {
    for (const auto* target : {"/", "/a", "/a/", "/ab", "/a?", "/a?b", "/a?b=", "/a%3Fb", "/A"}) {
      for (const auto* extra : {"", "DE", "FR", "DE,x"}) {
        for (const auto scheme : {http::Scheme::http, http::Scheme::https}) {
          const auto key = key_of_request(host, target, extra, scheme);
          texts.insert(key.text);
          own_hashes.insert(key.own_hash);
          hashes.insert(key.hash);
          ++made;
        }
      }
    }
  }
  EXPECT_EQ(texts.size(), made);
  EXPECT_EQ(own_hashes.size(), made);
  EXPECT_EQ(hashes.size(), made / 8);
}

// What a stranger says of itself can't lead to a member's key.
TEST(CacheKey, OfAStrangerIsNoMembers) {
  CacheKey member;
  CacheKey stranger;
  for (const auto* extra : {"", "DE", "stranger http", "http"}) {
    for (const auto* others_extra : {"", "DE", "stranger http", "http"}) {
      member.assign(http::Scheme::http, "a.test", target_of("/a"), extra);
      stranger.assign(http::Scheme::http, "a.test", target_of("/a"), others_extra,
                      Keyspace::strangers);
      EXPECT_NE(member.text, stranger.text);
      EXPECT_NE(member.own_hash, stranger.own_hash);
      EXPECT_EQ(member.uri(), stranger.uri());  // a purge finds both
      EXPECT_EQ(member.hash, stranger.hash);
    }
  }
  EXPECT_EQ(readable(stranger), "stranger http a.test /a http");
}

TEST(CacheKey, IsOneForSpellingsOfOneTarget) {
  const auto key = key_of_request("a.test", "/b~?x", "DE");
  for (const auto* target : {"/a/../b%7e?x", "/./b~?x", "http://other.test/b%7E?x"}) {
    EXPECT_EQ(key_of_request("a.test", target, "DE").text, key.text) << target;
    EXPECT_EQ(key_of_request("a.test", target, "DE").hash, key.hash) << target;
  }
}

TEST(UriPrefix, BeginsAllKeysOfItsUriAndNoOther) {
  const auto prefix = uri_prefix("a.test", "/a");
  for (const auto* extra : {"", "DE", "FR"}) {
    EXPECT_TRUE(key_of_request("a.test", "/a", extra).text.starts_with(prefix)) << extra;
  }
  for (const auto* target : {"/ab", "/a/", "/a/b", "/a?", "/a?b", "/", "/b/a"}) {
    EXPECT_FALSE(key_of_request("a.test", target, "").text.starts_with(prefix)) << target;
  }
  EXPECT_FALSE(key_of_request("b.test", "/a", "").text.starts_with(prefix));
  EXPECT_FALSE(key_of_request("a.test:81", "/a", "").text.starts_with(prefix));
  EXPECT_TRUE(
      key_of_request("a.test", "/a?b", "DE").text.starts_with(uri_prefix("a.test", "/a?b")));
  EXPECT_TRUE(key_of_request("a.test", "/a?", "DE").text.starts_with(uri_prefix("a.test", "/a?")));
}

TEST(CacheKey, OfAUriFindsAllItsKeys) {
  const auto uri = key_of_uri("a.test", "/a?b");
  for (const auto* extra : {"", "DE"}) {
    for (const auto scheme : {http::Scheme::http, http::Scheme::https}) {
      const auto key = key_of_request("a.test", "/a?b", extra, scheme);
      EXPECT_EQ(key.hash, uri.hash);
      EXPECT_EQ(key.uri(), uri.uri());
      EXPECT_EQ(key.uri(), uri.text);
    }
  }
  EXPECT_NE(key_of_request("a.test", "/a", "").uri(), uri.uri());
}

TEST(CacheKey, CanBeReadByPeople) {
  EXPECT_EQ(readable(key_of_request("a.test:81", "/a?b=c", "DE")), "http a.test:81 /a?b=c DE");
  EXPECT_EQ(readable(key_of_request("a.test", "/", "")), "http a.test /");
  EXPECT_EQ(readable(key_of_request("a.test", "/", "DE", http::Scheme::https)),
            "https a.test / DE");
}

// What a purge of the URI finds by its beginning, and nothing else by its hash.
TEST(SliceKey, IsOfItsUriItsTagAndItsPlace) {
  auto object = key_of_request("a.test", "/a", "DE");
  object.bucket = 12;
  const auto slice = slice_key(object, 7, "\"tag\"");
  EXPECT_TRUE(slice.text.starts_with(uri_prefix("a.test", "/a")));
  EXPECT_EQ(slice.uri(), object.uri());
  EXPECT_NE(slice.hash, object.hash);
  EXPECT_EQ(slice.bucket, 12);
  EXPECT_NE(slice.text, slice_key(object, 8, "\"tag\"").text);
  EXPECT_NE(slice.text, slice_key(object, 7, "\"other\"").text);
  EXPECT_NE(slice.text, slice_key(key_of_request("a.test", "/a", "FR"), 7, "\"tag\"").text);
}

}  // namespace
}  // namespace ringside::cache
