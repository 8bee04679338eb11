#include "http/cache_control.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "base/limits.h"

namespace ringside::http {
namespace {

Fields cache_control(const std::vector<std::string_view>& lines) {
  Fields fields;
  fields.add("Host", "a.example");
  for (const std::string_view line : lines) fields.add("Cache-Control", line);
  return fields;
}

ResponseDirectives response(const std::vector<std::string_view>& lines) {
  return parse_response_directives(cache_control(lines));
}

RequestDirectives request(const std::vector<std::string_view>& lines) {
  return parse_request_directives(cache_control(lines));
}

struct AgeRow {
  std::vector<std::string_view> lines;
  std::optional<std::int64_t> max_age_seconds;
};

void expect_max_age(const std::vector<AgeRow>& rows) {
  for (const auto& row : rows) {
    const auto max_age = response(row.lines).max_age;
    const auto in_request = request(row.lines).max_age;
    EXPECT_EQ(max_age.has_value(), row.max_age_seconds.has_value()) << row.lines.front();
    EXPECT_EQ(max_age.value_or(Seconds{0}).count(), row.max_age_seconds.value_or(0))
        << row.lines.front();
    EXPECT_EQ(max_age, in_request) << row.lines.front();
  }
}

TEST(CacheControl, Rfc9111Section1Point2Point2DeltaSeconds) {
  expect_max_age({
      {{"max-age=0"}, 0},
      {{"max-age=3600"}, 3600},
      {{"MaX-aGe=3600"}, 3600},
      {{"max-age=003600"}, 3600},
      {{"max-age=2147483647"}, 2147483647},
      {{"max-age=2147483648"}, 2147483648},
      {{"max-age=2147483649"}, 2147483648},
      {{"max-age=99999999999"}, 2147483648},
      {{"max-age=99999999999999999999999999999999999999"}, 2147483648},
      {{"max-age=\"3600\""}, 3600},
      {{"foobar, max-age=3600"}, 3600},
      {{"foo=bar,max-age=3600 ,, public"}, 3600},
      {{""}, std::nullopt},
      {{"public"}, std::nullopt},
      {{"x-max-age=5"}, std::nullopt},
      {{"max-ages=5"}, std::nullopt},
  });
}

TEST(CacheControl, Rfc9111Section4Point2Point1WhatCannotBeParsedIsStale) {
  for (const std::string_view line :
       {"max-age",        "max-age=",          "max-age=\"\"",   "max-age=-1",     "max-age=-3600",
        "max-age=+1",     "max-age=a",         "max-age=a3600",  "max-age=3600a",  "max-age=3600.0",
        "max-age=3600.5", "max-age='3600'",    "max-age =3600",  "max-age\t=3600", "max-age= 3600",
        "max-age = 3600", "max-age=\" 3600\"", "max-age=\"3600", "max-age=3600\"", "max-age=\"",
        "max-age=36 00",  "max-age=0x10",      "max-age=1e3",    "max-age==5",     "max-age=5;a"}) {
    expect_max_age({{{line}, 0}});
  }
}

TEST(CacheControl, Rfc9111Section4Point2Point1OfDuplicatesTheFirstCounts) {
  expect_max_age({
      {{"max-age=1800, max-age=1"}, 1800},
      {{"max-age=1, max-age=1800"}, 1},
      {{"max-age=1800", "max-age=1"}, 1800},
      {{"max-age=1", "max-age=1800"}, 1},
      {{"max-age=a, max-age=1800"}, 0},
      {{"public", "max-age=7"}, 7},
  });
  EXPECT_EQ(response({"s-maxage=1, s-maxage=2"}).s_maxage, Seconds{1});
  EXPECT_EQ(response({"s-maxage=1, max-age=2"}).max_age, Seconds{2});
}

TEST(CacheControl, Rfc9110Section5Point6Point4QuotedStringsHideNothing) {
  expect_max_age({
      {{"extension=\"max-age=3600\", max-age=1"}, 1},
      {{"max-age=1, extension=\"max-age=3600\""}, 1},
      {{"extension=\"a, max-age=3600, b\""}, std::nullopt},
      {{"extension=\"a\\\", max-age=3600\""}, std::nullopt},
      {{"extension=\"a\\\\\", max-age=3600"}, 3600},
  });
  EXPECT_FALSE(response({"extension=\"private, no-store\""}).is_private);
  EXPECT_FALSE(response({"extension=\"private, no-store\""}).no_store);
}

TEST(CacheControl, Rfc9111Section5Point2Point2ResponseFlags) {
  struct Row {
    std::string_view line;
    bool ResponseDirectives::*set;
  };
  const std::vector<Row> rows{
      {"no-store", &ResponseDirectives::no_store},
      {"No-Store", &ResponseDirectives::no_store},
      {"no-store=ignored", &ResponseDirectives::no_store},
      {"no-store =ignored", &ResponseDirectives::no_store},
      {"no-cache", &ResponseDirectives::no_cache},
      {"private", &ResponseDirectives::is_private},
      {"public", &ResponseDirectives::is_public},
      {"must-revalidate", &ResponseDirectives::must_revalidate},
      {"proxy-revalidate", &ResponseDirectives::proxy_revalidate},
      {"must-understand", &ResponseDirectives::must_understand},
      {"no-transform", &ResponseDirectives::no_transform},
      {"immutable", &ResponseDirectives::immutable},
      {"no-stores", nullptr},
      {"xprivate", nullptr},
      {"no_store", nullptr},
      {"\"no-store\"", nullptr},
  };
  const std::vector<bool ResponseDirectives::*> all{
      &ResponseDirectives::no_store,        &ResponseDirectives::no_cache,
      &ResponseDirectives::is_private,      &ResponseDirectives::is_public,
      &ResponseDirectives::must_revalidate, &ResponseDirectives::proxy_revalidate,
      &ResponseDirectives::must_understand, &ResponseDirectives::no_transform,
      &ResponseDirectives::immutable,
  };
  for (const auto& row : rows) {
    const ResponseDirectives directives = response({"x", row.line});
    for (const auto member : all) {
      EXPECT_EQ(directives.*member, member == row.set) << row.line;
    }
  }
}

using Names = std::vector<std::string_view>;

struct QualifiedRow {
  std::string_view argument;  // behind the directive's name
  bool whole;
  Names names;
};

// no-cache and private have the same rules.
void expect_qualified(const std::vector<QualifiedRow>& rows) {
  for (const auto& row : rows) {
    const std::string no_cache = "No-Cache" + std::string(row.argument);
    const std::string is_private = "private" + std::string(row.argument);
    const auto one = response({"x", no_cache});
    EXPECT_EQ(one.no_cache, row.whole) << no_cache;
    if (!row.whole) {
      EXPECT_EQ(one.no_cache_fields, row.names) << no_cache;
    }
    EXPECT_FALSE(one.is_private || !one.private_fields.empty()) << no_cache;
    const auto other = response({"x", is_private});
    EXPECT_EQ(other.is_private, row.whole) << is_private;
    if (!row.whole) {
      EXPECT_EQ(other.private_fields, row.names) << is_private;
    }
    EXPECT_FALSE(other.no_cache || !other.no_cache_fields.empty()) << is_private;
  }
}

TEST(CacheControl, Rfc9111Section5Point2Point2Point4And7FieldNames) {
  expect_qualified({
      {"=\"a\"", false, {"a"}},
      {"=\"a, b\"", false, {"a", "b"}},
      {"=\"Set-Cookie,b ,\tc\"", false, {"Set-Cookie", "b", "c"}},
      {"=\"a,, ,b,\"", false, {"a", "b"}},
      {"=a", false, {"a"}},
      {"=a, x", false, {"a"}},
      {"=\"a\", x=\"b\"", false, {"a"}},
      {"", true, {}},
      {"=", true, {}},
      {"=\"\"", true, {}},
      {"=\" \"", true, {}},
      {"=\",\"", true, {}},
      {"=\"a b\"", true, {}},
      {"=\"a, b c\"", true, {}},
      {"=\"a:\"", true, {}},
      {"=\"a", true, {}},
      {"=a\"", true, {}},
      {"=\"", true, {}},
      {"=\"a\\b\"", true, {}},
      {"=\"a\\\"b\"", true, {}},
      {"=\"a\"b\"c\"", true, {}},
      {"='a'", false, {"'a'"}},  // a token
      {"=(a)", true, {}},
      {"= a", true, {}},
      {" =a", true, {}},
      {" = \"a\"", true, {}},
      {"=\"f\xc3\xb6\"", true, {}},
  });
}

TEST(CacheControl, Rfc9111Section5Point2Point2Point4And7NamesAreGathered) {
  const auto names = response({"private=\"a\", no-cache=b", "PRIVATE=\"c, a\""});
  EXPECT_EQ(names.private_fields, (Names{"a", "c", "a"}));
  EXPECT_EQ(names.no_cache_fields, Names{"b"});
  EXPECT_FALSE(names.is_private || names.no_cache);
  for (const std::string_view line : {"private=\"a\", private", "private, private=\"a\""}) {
    const auto both = response({line});
    EXPECT_TRUE(both.is_private) << line;
    EXPECT_EQ(both.private_fields, Names{"a"}) << line;
  }
  EXPECT_FALSE(response({"private"}).is_targeted);
}

TEST(CacheControl, MoreFieldNamesThanTheLimitMeanTheWholeResponse) {
  std::string most = "private=\"";
  for (std::size_t number = 0; number < limits::structured_members; ++number) most += "a,";
  EXPECT_FALSE(response({most + "\""}).is_private);
  EXPECT_EQ(response({most + "\""}).private_fields.size(), limits::structured_members);
  EXPECT_TRUE(response({most + "a\""}).is_private);
  EXPECT_TRUE(response({most + "\"", "private=a"}).is_private);
}

TEST(CacheControl, Rfc5861StaleExtensions) {
  const auto both = response({"max-age=1, stale-while-revalidate=30, Stale-If-Error=\"60\""});
  EXPECT_EQ(both.stale_while_revalidate, Seconds{30});
  EXPECT_EQ(both.stale_if_error, Seconds{60});
  const auto neither = response({"max-age=1"});
  EXPECT_FALSE(neither.stale_while_revalidate);
  EXPECT_FALSE(neither.stale_if_error);
  const auto broken = response({"stale-while-revalidate, stale-if-error=x"});
  EXPECT_EQ(broken.stale_while_revalidate, Seconds{0});
  EXPECT_EQ(broken.stale_if_error, Seconds{0});
}

TEST(CacheControl, Rfc9111Section5Point2Point1RequestDirectives) {
  const auto all = request({"no-cache, no-store", "only-if-cached, min-fresh=20,max-stale=30"});
  EXPECT_TRUE(all.no_cache);
  EXPECT_TRUE(all.no_store);
  EXPECT_TRUE(all.only_if_cached);
  EXPECT_EQ(all.min_fresh, Seconds{20});
  EXPECT_EQ(all.max_stale, Seconds{30});
  EXPECT_FALSE(all.max_age);
  EXPECT_EQ(request({"max-stale"}).max_stale, Seconds::max());
  EXPECT_EQ(request({"max-stale=1, max-stale"}).max_stale, Seconds{1});
  EXPECT_EQ(request({"max-stale, max-stale=1"}).max_stale, Seconds::max());
  EXPECT_EQ(request({"max-stale=x"}).max_stale, Seconds{0});
  EXPECT_EQ(request({"max-stale="}).max_stale, Seconds{0});
  EXPECT_EQ(request({"max-stale =5"}).max_stale, Seconds{0});
  EXPECT_EQ(request({"Stale-If-Error=5, stale-if-error=9"}).stale_if_error, Seconds{5});
  EXPECT_EQ(request({"stale-if-error"}).stale_if_error, Seconds{0});
  EXPECT_FALSE(request({"max-stale=5"}).stale_if_error);
  EXPECT_FALSE(request({"min-fresh=x"}).min_fresh);
  EXPECT_FALSE(request({"min-fresh"}).min_fresh);
  EXPECT_FALSE(request({"x"}).no_cache);
}

TEST(CacheControl, Rfc9111Section5Point4PragmaOnlyWithoutCacheControl) {
  struct Row {
    std::vector<Field> lines;
    bool no_cache;
  };
  const std::vector<Row> rows{
      {{{"Pragma", "no-cache"}}, true},
      {{{"pragma", "x, No-Cache"}}, true},
      {{{"Pragma", "x"}, {"Pragma", "no-cache"}}, true},
      {{{"Pragma", "no-cache=x"}}, false},
      {{{"Pragma", "x"}}, false},
      {{{"Pragma", "no-cache"}, {"Cache-Control", "max-age=5"}}, false},
      {{{"Cache-Control", ""}, {"Pragma", "no-cache"}}, false},
      {{{"Cache-Control", "no-cache"}, {"Pragma", "x"}}, true},
  };
  for (const auto& row : rows) {
    Fields fields;
    for (const Field& line : row.lines) fields.add(line.name, line.value);
    EXPECT_EQ(parse_request_directives(fields).no_cache, row.no_cache) << row.lines[0].value;
    EXPECT_FALSE(row.lines.size() == 1 && parse_response_directives(fields).no_cache);
  }
}

// A row is | `name`, `name` | in | what it says |
TEST(CacheControl, TheDocumentationNamesEveryDirectiveAndNoOther) {
  std::ifstream file(RINGSIDE_SOURCE_DIR "/docs/rules.md");
  std::string text(std::istreambuf_iterator<char>(file), {});
  const auto begin = text.find("\n### Directives\n");
  ASSERT_NE(begin, std::string::npos);
  text = text.substr(begin, text.find("\n### ", begin + 1) - begin);
  std::map<std::string, std::string> documented, heeded;
  for (std::size_t at = 0; (at = text.find("\n| `", at)) != std::string::npos;) {
    const auto names_end = text.find('|', at + 2);
    const auto in_end = text.find('|', names_end + 1);
    const std::string in = text.substr(names_end + 2, in_end - names_end - 3);
    while ((at = text.find('`', at)) < names_end) {
      const auto end = text.find('`', at + 1);
      documented[text.substr(at + 1, end - at - 1)] = in;
      at = end + 1;
    }
    at = in_end;
  }
  for (const auto& row : kRequestDirectives) heeded.emplace(row.name, "requests");
  for (const auto& row : kResponseDirectives) {
    const auto [place, is_new] = heeded.emplace(row.name, "responses");
    if (!is_new) place->second = "both";
  }
  EXPECT_EQ(documented, heeded);
}

}  // namespace
}  // namespace ringside::http
