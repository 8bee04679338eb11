#include "http/vary.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/limits.h"
#include "tests/cache/some_fields.h"

namespace ringside::http {
namespace {

using cache::fields_of;

using Names = std::vector<std::string>;

TEST(VaryNames, AreLowerCaseSortedAndOnce) {
  EXPECT_EQ(vary_names(fields_of({})), Names{});
  EXPECT_EQ(vary_names(fields_of({{"Vary", ""}})), Names{});
  EXPECT_EQ(vary_names(fields_of({{"Vary", "Cookie,accept , ,ACCEPT"}, {"vary", "Accept, Via"}})),
            (Names{"accept", "cookie", "via"}));
}

TEST(VaryNames, Rfc9110Section12Point5Point5WhatIsNoListOfNamesIsAnything) {
  const std::vector<Fields> rows{
      fields_of({{"Vary", "*"}}),
      fields_of({{"Vary", "*, *"}}),
      fields_of({{"Vary", "*"}, {"Vary", "*"}}),
      fields_of({{"Vary", ", *"}}),
      fields_of({{"Vary", "Foo, *"}}),
      fields_of({{"Vary", "*, Foo"}}),
      fields_of({{"Vary", "Foo"}, {"Vary", "*"}}),
      fields_of({{"Vary", "Foo bar"}}),
      fields_of({{"Vary", "Foo; Bar"}}),
      fields_of({{"Vary", "Foo, \"Bar\""}}),
      fields_of({{"Vary", "\"Foo"}}),
      fields_of({{"Vary", "Foo:"}}),
      fields_of({{"Vary", "F\xc3\xb6\xc3\xb6"}}),
  };
  for (std::size_t row = 0; row < rows.size(); ++row) {
    EXPECT_EQ(vary_names(rows[row]), Names{"*"}) << row;
    EXPECT_TRUE(varies_on_anything(vary_names(rows[row]))) << row;
  }
  EXPECT_FALSE(varies_on_anything({}));
  EXPECT_FALSE(varies_on_anything({"a"}));
  EXPECT_FALSE(varies_on_anything({"*", "a"}));
}

TEST(VaryNames, MoreThanARequestMayHaveFieldsAreAnything) {
  std::string list;
  for (std::size_t number = 0; number < limits::head_fields; ++number) {
    list += "x" + std::to_string(number) + ",";
  }
  EXPECT_EQ(vary_names(fields_of({{"Vary", list}})).size(), limits::head_fields);
  EXPECT_EQ(vary_names(fields_of({{"Vary", list}, {"Vary", list}})).size(), limits::head_fields);
  EXPECT_EQ(vary_names(fields_of({{"Vary", list}, {"Vary", "y"}})), Names{"*"});
}

TEST(VariantKey, Rfc9111Section4Point1SameMeaningSameKey) {
  const Names names{"accept", "cookie"};
  const std::vector<Fields> same{
      fields_of({{"Accept", "a, b"}, {"Cookie", "c=d"}}),
      fields_of({{"Cookie", "c=d"}, {"accept", "a,b"}}),
      fields_of({{"ACCEPT", "a ,\tb"}, {"X", "y"}, {"Cookie", "c=d"}}),
      fields_of({{"Accept", "a"}, {"Cookie", "c=d"}, {"Accept", "b"}}),
      fields_of({{"Accept", "a,"}, {"Accept", ""}, {"Cookie", "c=d"}, {"Accept", ",b"}}),
  };
  for (std::size_t row = 1; row < same.size(); ++row) {
    EXPECT_EQ(variant_key(names, same[row]), variant_key(names, same[0])) << row;
  }
}

TEST(VariantKey, DifferentMeaningDifferentKey) {
  const Names names{"accept", "cookie"};
  const std::vector<Fields> different{
      fields_of({}),
      fields_of({{"Accept", ""}}),
      fields_of({{"Cookie", ""}}),
      fields_of({{"Accept", "a"}}),
      fields_of({{"Accept", "A"}}),
      fields_of({{"Cookie", "a"}}),
      fields_of({{"Accept", "a b"}}),
      fields_of({{"Accept", "a, b"}}),
      fields_of({{"Accept", "b, a"}}),
      fields_of({{"Accept", "\"a, b\""}}),
      fields_of({{"Accept", "\"a,b\""}}),
      fields_of({{"Accept", "a"}, {"Cookie", "a"}}),
      fields_of({{"Accept", "cookie:a"}}),
  };
  for (std::size_t a = 0; a < different.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      EXPECT_NE(variant_key(names, different[a]), variant_key(names, different[b]))
          << a << " " << b;
    }
  }
}

struct Pair {
  std::string_view a;
  std::string_view b;
};

std::string key_of(std::string_view name, std::string_view value) {
  return variant_key({std::string(name)}, fields_of({{name, value}}));
}

void expect_same(std::string_view name, const std::vector<Pair>& rows) {
  for (const Pair& row : rows) {
    EXPECT_EQ(key_of(name, row.a), key_of(name, row.b)) << row.a << " | " << row.b;
  }
}

void expect_different(std::string_view name, const std::vector<Pair>& rows) {
  for (const Pair& row : rows) {
    EXPECT_NE(key_of(name, row.a), key_of(name, row.b)) << row.a << " | " << row.b;
  }
}

TEST(VariantKey, Rfc9110Section12Point5Point3AcceptEncodingSame) {
  expect_same("accept-encoding", {
                                     {"gzip, br", "br,gzip"},
                                     {"GZip, bR", "gzip, br"},
                                     {"gzip;q=1.0", "gzip"},
                                     {"gzip;q=1", "gzip;q=1."},
                                     {"gzip;q=1.000", "gzip"},
                                     {"gzip ; Q=0.50", "gzip;q=0.5"},
                                     {"gzip;q=0.000", "gzip;q=0"},
                                     {"gzip;q=0.", "gzip;q=0"},
                                     {"gzip, gzip, br", "br, gzip"},
                                     {"gzip;q=0.5, gzip; q=0.500", "gzip;q=0.5"},
                                     {"*;q=0, identity;q=0.3", "identity;q=0.3,*;q=0"},
                                     {"gzip;q=0.5, br;q=0.5", "br;q=0.5, gzip;q=0.5"},
                                     {"gzip;q=0.01, br", "br, gzip;q=0.010"},
                                 });
}

TEST(VariantKey, Rfc9110Section12Point5Point3AcceptEncodingDifferent) {
  expect_different("accept-encoding", {
                                          {"", "identity"},
                                          {"gzip", "x-gzip"},
                                          {"gzip", "gzip;q=0"},
                                          {"gzip", "gzip;q=0.999"},
                                          {"gzip;q=0.1", "gzip;q=0.01"},
                                          {"gzip;q=0.5, br", "gzip, br;q=0.5"},
                                          {"gzip, br", "gzip"},
                                          // two weights for one coding
                                          {"gzip, gzip;q=0", "gzip;q=0, gzip"},
                                          {"gzip, gzip;q=0", "gzip"},
                                          // members that the grammar does not have
                                          {"gzip;q=500", "gzip;q=0.5"},
                                          {"gzip;q=1.001", "gzip"},
                                          {"gzip;q=0.5000", "gzip;q=0.5"},
                                          {"gzip;q=.5", "gzip;q=0.5"},
                                          {"gzip;q=2", "gzip"},
                                          {"gzip;q=", "gzip"},
                                          {"gzip;q=\"1\"", "gzip"},
                                          {"gzip;q =1", "gzip"},
                                          {"gzip;q= 1", "gzip"},
                                          {"gzip;", "gzip"},
                                          {"gzip;level=1", "gzip"},
                                          {"gzip;q=1;level=1", "gzip"},
                                          {"gzip br, GZIP", "gzip br, gzip"},
                                          {"gzip br, deflate", "deflate, gzip br"},
                                          {"\"gzip\"", "gzip"},
                                          {"gzip;q=0.5x", "gzip;q=0.5"},
                                          {"gzip;q=-1", "gzip"},
                                      });
}

TEST(VariantKey, Rfc9110Section12Point5Point4AcceptLanguageSame) {
  expect_same("accept-language", {
                                     {"en, de", "eN, De"},
                                     {"en, de", "  en ,   de"},
                                     {"en-GB;q=0.8,de", "de, EN-gb; q=0.80"},
                                     {"de, *;q=0.1, en;q=0.5", "en;q=0.5, de, *;q=0.1"},
                                     {"en, de, en", "en, de"},
                                     {"zh-Hant-TW;q=1", "zh-hant-tw"},
                                     {"es-419", "ES-419"},
                                 });
}

TEST(VariantKey, Rfc9110Section12Point5Point4AcceptLanguageDifferent) {
  expect_different("accept-language", {
                                          // origins do go by the order of equal weights
                                          {"en, de", "de, en"},
                                          {"en;q=0.5, de;q=0.5", "de;q=0.5, en;q=0.5"},
                                          {"fr, en;q=0.5, de;q=0.5", "fr, de;q=0.5, en;q=0.5"},
                                          {"en, de", "fr;q=0.5, de;q=1.0"},
                                          {"en", "en-GB"},
                                          {"en, *", "en"},
                                          // no language ranges
                                          {"en_GB", "en_gb"},
                                          {"en-", "EN-"},
                                          {"-en", "-EN"},
                                          {"verylonglanguage", "Verylonglanguage"},
                                          {"e1", "E1"},
                                          {"*-CH", "*-ch"},
                                          {"en--GB", "en--gb"},
                                      });
}

TEST(VariantKey, Rfc9110Section12Point5Point2AcceptCharset) {
  expect_same("accept-charset", {
                                    {"UTF-8", "utf-8"},
                                    {"utf-8;q=1.0, iso-8859-1;q=0.5", "ISO-8859-1;q=0.50,utf-8"},
                                });
  expect_different("accept-charset", {
                                         {"utf-8, iso-8859-1", "iso-8859-1, utf-8"},
                                         {"utf-8", "utf8"},
                                         {"utf-8;x=1", "utf-8"},
                                     });
}

TEST(VariantKey, Rfc9110Section12Point5Point1Accept) {
  expect_same("accept", {
                            {"Text/HTML, image/*;q=0.80", "text/html,image/* ; q=0.8"},
                            {"*/*;q=1.0", "*/*"},
                            {"TEXT/html, a/b;c=D", "text/html, a/b;c=D"},
                        });
  expect_different("accept", {
                                 {"text/html, text/plain", "text/plain, text/html"},
                                 {"text/html;level=1", "text/html;level=2"},
                                 {"a/b;c=D", "a/b;c=d"},
                                 {"a/b;c=D", "A/b;c=D"},
                                 {"a/b;c=D;q=1", "a/b;c=D"},
                                 {"text/html;q=800", "text/html;q=0.8"},
                                 {"text/html;q=0.8", "text/html"},
                                 {"*/html", "*/HTML"},
                                 {"text", "TEXT"},
                                 {"*", "*/*"},
                                 {"text/", "TEXT/"},
                             });
}

TEST(VariantKey, Rfc9111Section4Point1OtherFieldsAreTakenAsTheyCame) {
  for (const std::string_view name : {"foo", "cookie", "user-agent", "prefer"}) {
    expect_different(name, {
                               {"a", "A"},
                               {"a;q=1.0", "a"},
                               {"a, b", "b, a"},
                               {"a, a", "a"},
                           });
  }
  expect_same("foo", {{"1,2", "1, 2"}});
  // "dark," was filled as the variant of "dark".
  expect_different("foo", {{"1,,2", "1, 2"}, {"dark,", "dark"}, {",dark", "dark"}, {",", ""}});
}

TEST(VariantKey, Rfc9110Section5Point5WhatIsNoListKeepsItsCommas) {
  for (const std::string_view name : {"cookie", "user-agent", "Referer", "authorization"}) {
    const std::string lower_name = name == "Referer" ? "referer" : std::string(name);
    const auto key = [&](const Fields& fields) { return variant_key({lower_name}, fields); };
    EXPECT_NE(key(fields_of({{name, "a, b"}})), key(fields_of({{name, "a,b"}}))) << name;
    EXPECT_NE(key(fields_of({{name, "a, b"}})), key(fields_of({{name, "a"}, {name, "b"}}))) << name;
    EXPECT_NE(key(fields_of({{name, "a,"}})), key(fields_of({{name, "a"}}))) << name;
    EXPECT_NE(key(fields_of({{name, "a"}, {name, "b"}})),
              key(fields_of({{name, "b"}, {name, "a"}})))
        << name;
    EXPECT_EQ(key(fields_of({{name, "a, b"}})), key(fields_of({{"x", "y"}, {name, "a, b"}})))
        << name;
  }
}

TEST(VariantKey, Rfc9110Section5Point6Point4AStringIsNotPutTogetherFromTwoLines) {
  const auto two = variant_key({"foo"}, fields_of({{"Foo", "\"a"}, {"Foo", "b\""}}));
  EXPECT_NE(two, variant_key({"foo"}, fields_of({{"Foo", "\"a,b\""}})));
  EXPECT_NE(two, variant_key({"foo"}, fields_of({{"Foo", "\"a, b\""}})));
  EXPECT_NE(two, variant_key({"foo"}, fields_of({{"Foo", "b\""}, {"Foo", "\"a"}})));
}

TEST(VariantKey, BeyondTheLimitAListIsNotPutInOrder) {
  std::string most;
  for (std::size_t number = 0; number + 1 < limits::structured_members; ++number) {
    most += "x" + std::to_string(number) + ",";
  }
  EXPECT_EQ(key_of("accept-encoding", most + "y"), key_of("accept-encoding", "Y," + most));
  EXPECT_NE(key_of("accept-encoding", most + "y,z"), key_of("accept-encoding", "z,y," + most));
  EXPECT_EQ(key_of("accept-encoding", most + "y,z"), key_of("accept-encoding", most + "y ,z"));
}

TEST(VariantKey, LooksAtTheNamedFieldsOnly) {
  EXPECT_EQ(variant_key({}, fields_of({{"Accept", "a"}})), "");
  EXPECT_EQ(variant_key({"cookie"}, fields_of({{"Accept", "a"}})),
            variant_key({"cookie"}, fields_of({{"Accept", "b"}})));
}

}  // namespace
}  // namespace ringside::http
