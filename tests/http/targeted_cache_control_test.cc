#include "http/targeted_cache_control.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace ringside::http {
namespace {

using Lines = std::vector<std::string_view>;

std::optional<ResponseDirectives> parsed(std::string_view name, const Lines& lines) {
  Fields fields;
  fields.add("Cache-Control", "no-store, private, max-age=7");
  fields.add("Other-Cache-Control", "&");
  for (const std::string_view line : lines) fields.add(name, line);
  return parse_targeted_directives(fields, name);
}

struct TargetedRow {
  Lines lines;
  // What is changed in directives that say nothing; empty: the field does not count.
  std::function<void(ResponseDirectives&)> set;
};

void expect_rows(std::string_view name, const std::vector<TargetedRow>& rows) {
  for (const TargetedRow& row : rows) {
    std::optional<ResponseDirectives> expected;
    if (row.set) {
      expected.emplace().is_targeted = true;
      row.set(*expected);
    }
    EXPECT_EQ(parsed(name, row.lines), expected) << (row.lines.empty() ? "" : row.lines[0]);
  }
}

const auto nothing = [](ResponseDirectives&) {};

std::function<void(ResponseDirectives&)> max_age(std::int64_t seconds) {
  return [seconds](ResponseDirectives& out) { out.max_age = Seconds{seconds}; };
}

TEST(TargetedCacheControl, Rfc9213Section2Point1DirectivesOfADictionary) {
  expect_rows(
      "CDN-Cache-Control",
      {
          {{"max-age=600"}, max_age(600)},
          {{"max-age=0"}, max_age(0)},
          {{"none"}, nothing},
          {{"x=\"a, b\", max-age=60"}, max_age(60)},
          {{"s-maxage=5, stale-while-revalidate=6, stale-if-error=7"},
           [](auto& out) {
             out.s_maxage = Seconds{5};
             out.stale_while_revalidate = Seconds{6};
             out.stale_if_error = Seconds{7};
           }},
          {{"no-store", "no-cache, private"},
           [](auto& out) { out.no_store = out.no_cache = out.is_private = true; }},
          {{"public, immutable, must-understand"},
           [](auto& out) { out.is_public = out.immutable = out.must_understand = true; }},
          {{"must-revalidate, proxy-revalidate, no-transform"},
           [](auto& out) { out.must_revalidate = out.proxy_revalidate = out.no_transform = true; }},
          {{"no-cache=\"a, b\", private=\"c\""},
           [](auto& out) {
             out.no_cache_fields = {"a", "b"};
             out.private_fields = {"c"};
           }},
          {{"no-cache=a"}, [](auto& out) { out.no_cache_fields = {"a"}; }},
      });
}

TEST(TargetedCacheControl, Rfc9213Section2Point1EmptyOrMalformedDoesNotCount) {
  expect_rows("CDN-Cache-Control", {
                                       {{}, {}},
                                       {{""}, {}},
                                       {{" "}, {}},
                                       {{"", ""}, {}},
                                       {{"max-age=10000, &&&&&"}, {}},
                                       {{"max-age=600,"}, {}},
                                       {{"max-age=600, , no-store"}, {}},
                                       {{"MaX-aGe=600"}, {}},
                                       {{"max-age =600"}, {}},
                                       {{"max-age= 600"}, {}},
                                       {{"max-age="}, {}},
                                       {{"max-age=600s"}, {}},
                                       {{"max-age=+600"}, {}},
                                       {{"max-age='600'"}, {}},
                                       {{"max-age=9999999999999999"}, {}},
                                       {{"max-age=600; no-store, No-Cache"}, {}},
                                       {{"no-store", "max-age=&"}, {}},
                                   });
}

TEST(TargetedCacheControl, Rfc9213Section2Point1Types) {
  expect_rows("CDN-Cache-Control",
              {
                  // RFC 9111 §4.2.1: what makes no sense is stale
                  {{"max-age=\"600\""}, max_age(0)},
                  {{"max-age=600.0"}, max_age(0)},
                  {{"max-age"}, max_age(0)},
                  {{"max-age=?1"}, max_age(0)},
                  {{"max-age=(600)"}, max_age(0)},
                  {{"max-age=@600"}, max_age(0)},
                  {{"max-age=a"}, max_age(0)},
                  {{"max-age=-600"}, max_age(0)},
                  // §1.2.2
                  {{"max-age=2147483648"}, max_age(2147483648)},
                  {{"max-age=2147483649"}, max_age(2147483648)},
                  {{"max-age=99999999999"}, max_age(2147483648)},
                  {{"no-store=?0, no-cache=?0, private=?0, public=?0"}, nothing},
                  {{"no-store=1"}, [](auto& out) { out.no_store = true; }},
                  {{"no-store=\"x\""}, [](auto& out) { out.no_store = true; }},
                  {{"no-store=(a)"}, [](auto& out) { out.no_store = true; }},
                  {{"private=1"}, [](auto& out) { out.is_private = true; }},
                  {{"private=(\"a\")"}, [](auto& out) { out.is_private = true; }},
                  {{"private=\"\""}, [](auto& out) { out.is_private = true; }},
                  {{"no-cache=\"a b\""}, [](auto& out) { out.no_cache = true; }},
                  {{"no-cache=a/b"}, [](auto& out) { out.no_cache = true; }},
                  {{"no-cache=\"a\\\"b\""}, [](auto& out) { out.no_cache = true; }},
                  {{"public=1, immutable=\"x\", must-understand=a, must-revalidate=1"}, nothing},
              });
}

TEST(TargetedCacheControl, Rfc9213Section2Point1ParametersAndDuplicates) {
  expect_rows("CDN-Cache-Control", {
                                       {{"max-age=600;other"}, max_age(600)},
                                       {{"max-age=600;no-store;private=\"a\""}, max_age(600)},
                                       {{"max-age=600, max-age=5"}, max_age(5)},
                                       {{"max-age=600", "max-age=\"5\""}, max_age(0)},
                                       {{"max-age=600", "max-age=5"}, max_age(5)},
                                       {{"no-store, no-store=?0"}, nothing},
                                   });
}

TEST(TargetedCacheControl, Rfc9213Section2Point1ForSimpleTextsTheSameAsCacheControl) {
  for (const std::string_view text :
       {"max-age=60", "s-maxage=5, public", "no-store", "no-cache", "private", "no-cache=\"a, b\"",
        "private=\"a\", max-age=1", "must-revalidate, proxy-revalidate", "immutable, x=\"y\", z"}) {
    Fields fields;
    fields.add("Cache-Control", text);
    auto plain = parse_response_directives(fields);
    plain.is_targeted = true;
    EXPECT_EQ(parsed("example-cache-control", {text}), plain) << text;
  }
}

TEST(SurrogateControl, EdgeArchitectureSection2Point2Directives) {
  expect_rows("Surrogate-Control",
              {
                  {{"max-age=3600"}, max_age(3600)},
                  {{"MaX-aGe=3600"}, max_age(3600)},
                  {{"foobar, max-age=3600"}, max_age(3600)},
                  {{"max-age=0"}, max_age(0)},
                  {{"max-age=2147483648"}, max_age(2147483648)},
                  {{"max-age=99999999999"}, max_age(2147483648)},
                  {{"max-age=600+30"},
                   [](auto& out) {
                     out.max_age = Seconds{600};
                     out.stale_while_revalidate = out.stale_if_error = Seconds{30};
                   }},
                  {{"stale-if-error=5, max-age=600+30"},
                   [](auto& out) {
                     out.max_age = Seconds{600};
                     out.stale_while_revalidate = Seconds{30};
                     out.stale_if_error = Seconds{5};
                   }},
                  {{"no-store, content=\"BigPipe/1.0\""}, [](auto& out) { out.no_store = true; }},
                  {{"No-Store-Remote"}, [](auto& out) { out.no_store = true; }},
                  {{"max-age=60, stale-while-revalidate=5"},
                   [](auto& out) {
                     out.max_age = Seconds{60};
                     out.stale_while_revalidate = Seconds{5};
                   }},
                  {{"private"}, [](auto& out) { out.is_private = true; }},
                  {{"private= a"}, [](auto& out) { out.is_private = true; }},
                  {{"private =a"}, [](auto& out) { out.is_private = true; }},
                  {{"max-age=60, private=\"a, b\""},
                   [](auto& out) {
                     out.max_age = Seconds{60};
                     out.private_fields = {"a", "b"};
                   }},
                  {{"max-age=60", "max-age=5"}, max_age(60)},
              });
}

TEST(SurrogateControl, Rfc9111Section4Point2Point1WhatCannotBeParsedIsStale) {
  for (const std::string_view line :
       {"max-age", "max-age=", "max-age =100", "max-age= 100", "max-age=a", "max-age=-1",
        "max-age=600+", "max-age=+30", "max-age=600+x", "max-age=x+30", "max-age=600+30+1",
        "max-age=600 +30", "max-age=1.5"}) {
    expect_rows("surrogate-control", {{{line}, max_age(0)}});
  }
  expect_rows("surrogate-control",
              {{{"s-maxage=600+30"}, [](auto& out) { out.s_maxage = Seconds{0}; }}});
}

TEST(SurrogateControl, EdgeArchitectureSection2Point3Targets) {
  expect_rows("Surrogate-Control",
              {
                  {{"max-age=3600;ringside"}, max_age(3600)},
                  {{"max-age=3600 ; Ringside"}, max_age(3600)},
                  {{"max-age=3600;other;ringside"}, max_age(3600)},
                  {{"max-age=3600;not-for-you"}, {}},
                  {{"max-age=3600;ringside2"}, {}},
                  {{"max-age=3600;"}, {}},
                  {{"no-store;other"}, {}},
                  {{"max-age=60, no-store;other"}, max_age(60)},
                  {{"max-age=3600, max-age=60;ringside, max-age=1;other"}, max_age(60)},
                  {{"max-age=60;ringside", "max-age=3600"}, max_age(60)},
                  {{"no-store, max-age=60;ringside"},
                   [](auto& out) {
                     out.no_store = true;
                     out.max_age = Seconds{60};
                   }},
                  {{"x=\";ringside\", max-age=60;other"}, {}},
                  {{"private=\"a;b\";other, max-age=60"}, max_age(60)},
              });
}

TEST(SurrogateControl, WhatSaysNothingOfStoringDoesNotCount) {
  expect_rows("Surrogate-Control", {
                                       {{}, {}},
                                       {{""}, {}},
                                       {{"foo"}, {}},
                                       {{"content=\"ESI/1.0\""}, {}},
                                       {{"content=\"max-age=60, no-store\""}, {}},
                                       {{"public, stale-while-revalidate=60"}, {}},
                                       {{"private=\"a\""}, {}},
                                   });
}

}  // namespace
}  // namespace ringside::http
