#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/freshness.h"
#include "tests/cache/some_fields.h"

namespace ringside::cache {
namespace {

TEST(EffectiveDirectives, Rfc9213Section2Point2TheFirstTargetedFieldThatIsValid) {
  struct Row {
    http::Fields fields;
    std::optional<Seconds> max_age;
    bool is_targeted;
  };
  const http::Field general{"Cache-Control", "max-age=1, no-store"};
  const std::vector<Row> rows{
      {fields_of({general}), Seconds{1}, false},
      {fields_of({{"A-Cache-Control", "max-age=2"}, general}), Seconds{2}, true},
      {fields_of({general, {"B-Cache-Control", "max-age=3"}}), Seconds{3}, true},
      {fields_of({{"B-Cache-Control", "max-age=3"}, {"A-Cache-Control", "max-age=2"}, general}),
       Seconds{2}, true},
      {fields_of({{"a-cache-control", "max-age=2"}, general}), Seconds{2}, true},
      {fields_of({{"A-Cache-Control", ""}, {"B-Cache-Control", "max-age=3"}, general}), Seconds{3},
       true},
      {fields_of({{"A-Cache-Control", "max-age=,"}, {"B-Cache-Control", "max-age=3"}, general}),
       Seconds{3}, true},
      {fields_of({{"A-Cache-Control", ""}, {"B-Cache-Control", "?"}, general}), Seconds{1}, false},
      {fields_of({{"A-Cache-Control", "must-revalidate"}, general}), std::nullopt, true},
      {fields_of({{"C-Cache-Control", "max-age=4"}, general}), Seconds{1}, false},
      {fields_of({}), std::nullopt, false},
  };
  Rules rules;
  rules.targeted = {"A-Cache-Control", "B-Cache-Control"};
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto got = effective_directives(rows[row].fields, rules);
    EXPECT_EQ(got.max_age, rows[row].max_age) << row;
    EXPECT_EQ(got.is_targeted, rows[row].is_targeted) << row;
    const bool general_counts = rows[row].fields.has("cache-control") && !rows[row].is_targeted;
    EXPECT_EQ(got.no_store, general_counts) << row;
  }
}

TEST(EffectiveDirectives, WhatProtectsSomebodyIsHeededEvenWhereTheOriginIsNot) {
  Rules rules;
  rules.heed_origin = false;
  const auto everything = fields_of(
      {{"Cache-Control",
        "public, max-age=1, s-maxage=2, no-cache, no-cache=\"x\", must-revalidate, immutable"},
       {"Cache-Control", "proxy-revalidate, stale-while-revalidate=3, stale-if-error=4"}});
  EXPECT_EQ(effective_directives(everything, rules), http::ResponseDirectives{});

  const auto protecting = fields_of(
      {{"Cache-Control", "max-age=1, private=\"a\", no-cache=\"b\", no-store, must-understand"}});
  const auto got = effective_directives(protecting, rules);
  EXPECT_TRUE(got.no_store);
  EXPECT_TRUE(got.must_understand);
  EXPECT_FALSE(got.is_private);
  EXPECT_EQ(got.private_fields, std::vector<std::string_view>{"a"});
  EXPECT_EQ(got.no_cache_fields, std::vector<std::string_view>{"b"});
  EXPECT_EQ(got.max_age, std::nullopt);
  EXPECT_TRUE(effective_directives(fields_of({{"Cache-Control", "private"}}), rules).is_private);
}

TEST(EffectiveDirectives, Rfc9111Section5Point2Point2Point7NamesWeCanNotDoWithoutCountAsNone) {
  for (const std::string name :
       {"cache-control", "Content-Encoding", "content-language", "content-length", "content-range",
        "Content-Type", "date", "expires", "Vary"}) {
    const std::string is_private = "private=\"x, " + name + "\"";
    const std::string no_cache = "no-cache=\"" + name + ", x\"";
    const auto first = effective_directives(fields_of({{"Cache-Control", is_private}}), {});
    EXPECT_TRUE(first.is_private) << name;
    EXPECT_FALSE(first.no_cache) << name;
    EXPECT_TRUE(first.private_fields.empty()) << name;
    const auto second = effective_directives(fields_of({{"Cache-Control", no_cache}}), {});
    EXPECT_TRUE(second.no_cache) << name;
    EXPECT_FALSE(second.is_private) << name;
    EXPECT_TRUE(second.no_cache_fields.empty()) << name;
  }
  const auto got = effective_directives(fields_of({{"Cache-Control", "private=\"x, ETag\""}}), {});
  EXPECT_FALSE(got.is_private);
  EXPECT_EQ(got.private_fields, (std::vector<std::string_view>{"x", "ETag"}));
}

}  // namespace
}  // namespace ringside::cache
