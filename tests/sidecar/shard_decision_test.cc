#include "sidecar/shard_decision.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/limits.h"

namespace ringside::sidecar {
namespace {

struct Keys {
  std::string shard;
  std::string extra;
};

Keys keys_of(std::string_view spec_text, const http::Fields& fields,
             const http::Target& target = {"/p", "q=1", true}) {
  const auto spec = shard::KeySpec::parse(spec_text).value();
  const RequestFacts facts{"a.test", target, fields, IpAddress::parse("203.0.113.9").value(),
                           geo::Country::from("DE")};
  Keys keys;
  build_shard_key(keys.shard, spec, facts);
  build_extra_key(keys.extra, spec, facts);
  return keys;
}

// Some origins read the last of them, and the first alone was keyed.
TEST(ShardDecision, OfACookieThatStandsTwiceOneValueWasKeyed) {
  http::Fields fields;
  fields.add("Cookie", "lang=de; lang=fr");
  fields.add("Cookie", "lang=it");
  EXPECT_EQ(keys_of("cookie:lang", fields).shard, "de;fr;it\n");
  EXPECT_EQ(keys_of("cookie:lang", fields).extra, "cookie:lang=de;fr;it&");
}

// `lang="x; lang=fr"` is one cookie to some origins and two to others, `Lang` and `l%61ng` are
// `lang` to some: whoever found another way to write it filled the entry of others.
TEST(ShardDecision, WhereOriginsReadCookiesOtherwiseAllOfThemCount) {
  for (const std::string_view odd :
       {"lang=de; x=\"; lang=fr\"", "lang=de, lang=fr", "lang=de; Lang=fr", "lang=de; lang =fr",
        "lang=de; l%61ng=fr", "lang=de; lang", "lang=de; foo", "lang=de; \xc3\xa9=1",
        "lang=de; x=a b", "lang=de; =x", "lang=de; lang[]=fr"}) {
    http::Fields fields;
    fields.add("Cookie", odd);
    const auto extra = keys_of("cookie:lang", fields).extra;
    EXPECT_TRUE(extra.starts_with("cookie:lang*lang%3Dde")) << extra;
  }
  http::Fields fields;
  fields.add("Cookie", "a=b%20c; lang=de; other=(1)");
  EXPECT_EQ(keys_of("cookie:lang", fields).extra, "cookie:lang=de&");
}

// Python's SimpleCookie finds nothing in `foo; session_id=1`, and PHP finds `session_id` in
// `session.id=1`; neither reads as many cookies as fit in a head.
TEST(ShardDecision, ACookieThatAnOriginFindsAndWeDoNotIsKeyedWithAllOthers) {
  std::string many;
  for (std::size_t count = 0; count < limits::cookies_read; ++count) many += "a=;";
  for (const std::string& odd : {std::string("foo; session_id=1"), std::string("session.id=1"),
                                 std::string("session+id=1"), many + " session_id=1"}) {
    http::Fields fields;
    fields.add("Cookie", odd);
    const auto extra = keys_of("cookie:session_id", fields).extra;
    EXPECT_TRUE(extra.starts_with("cookie:session_id*")) << extra;
  }
}

// A client's longest odd Cookie was too long for the replica, and so 431, with two such parts.
TEST(ShardDecision, CookieLinesStoodInTheKeyOnceForEachPart) {
  http::Fields fields;
  fields.add("Cookie", "a=1; b=2; foo");
  EXPECT_EQ(keys_of("cookie:a,cookie:b", fields).extra,
            "cookie:a*a%3D1;%20b%3D2;%20foo%0D&cookie:b*&");
  const std::string odd = "foo;" + std::string(limits::head_size_bytes, ' ');
  http::Fields longest;
  longest.add("Cookie", odd);
  const auto extra = keys_of("cookie:a,cookie:b,cookie:c,cookie:d", longest).extra;
  EXPECT_LT(extra.size() + limits::head_size_bytes, limits::hop_head_size_bytes);
}

TEST(ShardDecision, EachPartHasItsPlaceInTheKeys) {
  struct Row {
    std::string_view spec;
    std::string_view shard;
    std::string_view extra;
  };
  http::Fields fields;
  fields.add("Accept-Language", "de");
  fields.add("Cookie", "plan=free; user=u1; empty=");
  fields.add("X-Twice", "one");
  fields.add("x-twice", "two, three");
  fields.add("X-Empty", "");
  fields.add("X-Odd", "50%&a\\b\xc3\xa9");
  for (const Row& row : std::vector<Row>{
           {"country", "DE\n", "country=DE&"},
           {"ip", "203.0.113.9\n", "ip=203.0.113.9&"},
           {"path", "/p\n", ""},
           {"query", "q=1\n", ""},
           {"host", "a.test\n", ""},
           {"header:accept-language", "de\n", "header:accept-language=de&"},
           {"header:x-twice", "one, two, three\n", "header:x-twice=one%2C%20two%2C%20three&"},
           {"header:x-odd", "50%&a\\\\b\xc3\xa9\n", "header:x-odd=50%25%26a\\b%C3%A9&"},
           {"cookie:user", "u1\n", "cookie:user=u1&"},
           {"country,path", "DE\n/p\n", "country=DE&"},
           {"path,country", "/p\nDE\n", "country=DE&"},
           {"host,header:accept-language,query,cookie:plan,ip",
            "a.test\nde\nq=1\nfree\n203.0.113.9\n",
            "header:accept-language=de&cookie:plan=free&ip=203.0.113.9&"},
           // Absent and empty lie on one replica, but are not the same.
           {"header:x-empty,path", "\n/p\n", "header:x-empty=&"},
           {"header:x-absent,path", "\n/p\n", "header:x-absent&"},
           {"cookie:empty,path", "\n/p\n", "cookie:empty=&"},
           {"cookie:absent,path", "\n/p\n", "cookie:absent&"},
       }) {
    const Keys keys = keys_of(row.spec, fields);
    EXPECT_EQ(keys.shard, row.shard) << row.spec;
    EXPECT_EQ(keys.extra, row.extra) << row.spec;
  }
}

TEST(ShardDecision, IsAppendedToWhatIsThere) {
  const auto spec = shard::KeySpec::country_and_path();
  const http::Target target{"/p", "", false};
  const http::Fields none;
  const RequestFacts facts{"a.test", target, none, IpAddress{}, geo::Country{}};
  std::string key = "before ";
  build_shard_key(key, spec, facts);
  EXPECT_EQ(key, "before ZZ\n/p\n");
}

TEST(ShardDecision, FindsCookies) {
  struct Row {
    std::vector<std::string_view> lines;
    std::string_view name;
    std::string_view value;
  };
  for (const Row& row : std::vector<Row>{
           {{"a=1"}, "a", "1"},
           {{"ab=2; a=1"}, "a", "1"},
           {{"a=1"}, "ab", ""},
           {{"ba=2; a=1"}, "a", "1"},
           {{"A=2; a=1"}, "a", "1"},
           {{"a=1; a=2"}, "a", "1;2"},
           {{"b=2", "a=1"}, "a", "1"},
           {{"b=2", "a=1", "a=3"}, "a", "1;3"},
           {{"a="}, "a", ""},
           {{"a; a=1"}, "a", "1"},
           {{"a=x=y"}, "a", "x=y"},
           {{";; a=1;"}, "a", "1"},
           {{"b=2;a=1"}, "a", "1"},
           {{"b=2;   a=1"}, "a", "1"},
           {{"=1"}, "a", ""},
           {{""}, "a", ""},
           {{}, "a", ""},
       }) {
    http::Fields fields;
    fields.add("Not-Cookie", "a=wrong");
    for (const auto line : row.lines) fields.add("Cookie", line);
    std::string all;
    for (const auto line : row.lines) all.append(line).append(" | ");
    EXPECT_EQ(keys_of("cookie:" + std::string(row.name), fields).shard,
              std::string(row.value) + "\n")
        << row.name << " in " << all;
  }
}

// Short values of everything that a careless form of the keys would mix up.
class ValueSource {
 public:
  std::string next() {
    static constexpr std::array<char, 14> bytes = {'&', '%', ',',  '\\', '\n',   ' ',    '2',
                                                   '6', 'C', '\t', '\0', '\x80', '\xff', 'n'};
    std::string value(random_() % 4, ' ');
    for (char& c : value) c = bytes[random_() % bytes.size()];
    return value;
  }

 private:
  std::mt19937 random_{20240601};
};

// What a replica's cache key rests on: it sees the URI and the extra key and nothing else.
TEST(ShardDecision, EqualExtraKeysOfAUriAreEqualShardKeys) {
  ValueSource values;
  std::map<std::string, std::string> shard_of_extra;
  std::map<std::string, std::string> extra_of_shard;
  for (int i = 0; i < 20'000; ++i) {
    const std::string one = values.next();
    const std::string two = values.next();
    http::Fields fields;
    fields.add("One", one);
    fields.add("Two", two);
    const Keys keys = keys_of("header:one,path,header:two,country", fields);
    EXPECT_EQ(shard_of_extra.emplace(keys.extra, keys.shard).first->second, keys.shard);
    EXPECT_EQ(extra_of_shard.emplace(keys.shard, keys.extra).first->second, keys.extra);
  }
  EXPECT_LT(shard_of_extra.size(), 20'000U);  // Else nothing was compared.
}

TEST(ShardDecision, DifferentUrisNeverShareAKey) {
  ValueSource values;
  std::map<std::string, std::vector<std::string>> parts_of_key;
  const http::Fields none;
  for (int i = 0; i < 20'000; ++i) {
    const http::Target target{"/" + values.next(), values.next(), true};
    const Keys keys = keys_of("path,query", none, target);
    const std::vector<std::string> parts{target.path, target.query};
    EXPECT_EQ(parts_of_key.emplace(keys.shard, parts).first->second, parts);
  }
}

TEST(ShardDecision, TheExtraKeyFitsAFieldValue) {
  std::string every_byte;
  for (int c = 0; c < 256; ++c) every_byte.push_back(static_cast<char>(c));
  http::Fields fields;
  fields.add("X", every_byte);
  const auto extra = keys_of("header:x", fields).extra;
  for (const char c : extra) EXPECT_TRUE(c > ' ' && c < '\x7f') << int{c};
  EXPECT_EQ(extra.find(','), std::string::npos);  // a list would be taken apart
}

}  // namespace
}  // namespace ringside::sidecar
