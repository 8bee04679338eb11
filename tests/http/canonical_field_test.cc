#include "http/canonical_field.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"

namespace ringside::http {
namespace {

using Lines = std::vector<std::pair<std::string_view, std::string_view>>;

std::string canonical(const Lines& lines, std::string_view name) {
  Fields fields;
  for (const auto& [field_name, value] : lines) fields.add(field_name, value);
  std::string out;
  append_canonical(out, fields, name);
  return out;
}

// The form of one line, which is its own form.
std::string form(std::string_view name, std::string_view value) {
  std::string out = canonical({{name, value}}, name);
  EXPECT_TRUE(out.ends_with('\r')) << value;
  out.pop_back();
  EXPECT_EQ(canonical({{name, out}}, name), out + "\r") << value;
  return out;
}

TEST(CanonicalField, AcceptLanguageIsWrittenAsBrowsersWriteIt) {
  const std::vector<std::pair<std::string_view, std::string_view>> rows{
      {"DE", "de"},
      {"pt-br", "pt-BR"},
      {"ZH-hant-tw", "zh-Hant-TW"},
      {"es-419", "es-419"},
      {"EN-A-bb-CCCC", "en-a-bb-cccc"},
      {"x-AB", "x-ab"},
      {"en;q=0.70,de-DE", "de-DE, en;q=0.7"},
      {"en ,,  de;q=1.000 ,en", "en, de"},
      {"*;Q=0", "*;q=0"},
      {"en_GB,  x", "en_GB, x"},
      {"en;q=7,de", "en;q=7, de"},
      {",", ""},
      {"", ""},
  };
  for (const auto& [from, to] : rows) EXPECT_EQ(form("accept-language", from), to) << from;
}

TEST(CanonicalField, TheOthersThatAreKnown) {
  EXPECT_EQ(form("Accept-Encoding", "GZIP, br;q=1.0,deflate;q=0.50"), "br, gzip, deflate;q=0.5");
  EXPECT_EQ(form("accept-charset", "UTF-8,iso-8859-1; q=0.50"), "utf-8, iso-8859-1;q=0.5");
  EXPECT_EQ(form("accept", "Text/HTML,a/b;c=D,,*/*;q=0.80"), "text/html, a/b;c=D, */*;q=0.8");
}

// X-Theme: dark, and X-Theme: dark were one variant, which the first of them filled.
TEST(CanonicalField, Rfc9111Section4_1OfAFieldThatNobodyKnowsOnlyLinesAndSpacesAreMadeOne) {
  const std::vector<std::pair<std::string_view, std::string_view>> rows{
      {"dark,", "dark,"},
      {"dark", "dark"},
      {",dark", ", dark"},
      {"a,,b", "a,, b"},
      {"a , b", "a, b"},
      {"a,b", "a, b"},
      {"DARK", "DARK"},
      {"a  b", "a  b"},
      {"\"a,b\" ,c", "\"a,b\", c"},
      {"\"a,b , c", "\"a,b , c"},
      {"b, a", "b, a"},
      {"", ""},
      {",", ","},
      {" , ,", ",,"},
  };
  for (const auto& [from, to] : rows) EXPECT_EQ(form("x-theme", from), to) << from;
  EXPECT_EQ(canonical({{"X-Theme", "a"}, {"Y", "z"}, {"x-theme", "b"}}, "x-theme"), "a, b\r");
  EXPECT_EQ(canonical({{"X-Theme", "a"}, {"x-theme", ""}}, "x-theme"), "a,\r");
  EXPECT_EQ(canonical({{"X-Theme", "\"a"}, {"x-theme", "b\""}}, "x-theme"), "\"a\rb\"\r");
  EXPECT_EQ(canonical({{"Y", "z"}}, "x-theme"), "");
}

TEST(CanonicalField, WhatIsNoListStaysAsItCame) {
  for (const std::string_view name : {"Cookie", "user-agent", "If-None-Match", "referer"}) {
    EXPECT_EQ(form(name, "a ,b"), "a ,b");
    EXPECT_EQ(canonical({{name, "a"}, {name, "b"}}, name), "a\rb\r");
  }
}

TEST(CanonicalField, WhatItsSenderMayHaveSignedStaysAsItCame) {
  for (const std::string_view signs : {"Authorization", "Signature"}) {
    EXPECT_EQ(canonical({{signs, "x"}, {"X-A", "a,b"}, {"x-a", "c"}}, "x-a"), "a,b\rc\r");
    EXPECT_EQ(canonical({{"Accept-Language", "DE"}, {signs, "x"}}, "accept-language"), "DE\r");
  }
}

}  // namespace
}  // namespace ringside::http
