#include "http/structured_field.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/limits.h"

namespace ringside::http::structured {
namespace {

std::optional<Dictionary> parsed(const std::vector<std::string_view>& lines) {
  Fields fields;
  fields.add("Other", "&");
  for (const std::string_view line : lines) fields.add("Example", line);
  return parse_dictionary(fields, "example");
}

// The value of `a=<text>`.
std::optional<BareItem> bare_item(std::string_view text) {
  const std::string line = "a=" + std::string(text);
  const auto dictionary = parsed({line});
  if (!dictionary) return std::nullopt;
  // What is viewed must outlive `line`: the rows' own text.
  BareItem value = std::get<Item>(dictionary->at(0).value).value;
  const auto again = [&](std::string_view view) {
    return text.substr(static_cast<std::size_t>(view.data() - line.data()) - 2, view.size());
  };
  if (auto* string = std::get_if<String>(&value)) string->escaped = again(string->escaped);
  if (auto* token = std::get_if<Token>(&value)) token->text = again(token->text);
  if (auto* bytes = std::get_if<ByteSequence>(&value)) bytes->base64 = again(bytes->base64);
  if (auto* shown = std::get_if<DisplayString>(&value)) shown->encoded = again(shown->encoded);
  return value;
}

struct ItemRow {
  std::string_view text;
  BareItem value;
};

void expect_values(const std::vector<ItemRow>& rows) {
  for (const ItemRow& row : rows) EXPECT_EQ(bare_item(row.text), row.value) << row.text;
}

void expect_faults(const std::vector<std::string_view>& rows) {
  for (const std::string_view row : rows) EXPECT_FALSE(bare_item(row)) << row;
}

Member item(std::string_view key, BareItem value, std::vector<Parameter> parameters = {}) {
  return {key, Item{value, std::move(parameters)}};
}

TEST(StructuredField, Rfc9651Section4Point2Point2Dictionaries) {
  const std::vector<std::pair<std::vector<std::string_view>, Dictionary>> rows{
      {{}, {}},
      {{""}, {}},
      {{"  "}, {}},
      {{"a"}, {item("a", true)}},
      {{"a=1"}, {item("a", Integer{1})}},
      {{"  a=1  "}, {item("a", Integer{1})}},
      {{"a=1,b=2"}, {item("a", Integer{1}), item("b", Integer{2})}},
      {{"a=1\t ,\t b"}, {item("a", Integer{1}), item("b", true)}},
      {{"a", "b=?0"}, {item("a", true), item("b", false)}},
      {{"*a.b-c_9*"}, {item("*a.b-c_9*", true)}},
      {{"a=1, b=2, a=x"}, {item("a", Token{"x"}), item("b", Integer{2})}},
      {{"a=1", "a"}, {item("a", true)}},
      {{"a;x=1;y, b=2;z"},
       {item("a", true, {{"x", Integer{1}}, {"y", true}}), item("b", Integer{2}, {{"z", true}})}},
      {{"a=1; x;  x=2;y;x=3"}, {item("a", Integer{1}, {{"x", Integer{3}}, {"y", true}})}},
      {{"a=();q"}, {{"a", InnerList{{}, {{"q", true}}}}}},
      {{"a=(1  \"b\";c )"},
       {{"a", InnerList{{{Integer{1}, {}}, {String{"b"}, {{"c", true}}}}, {}}}}},
  };
  for (const auto& [lines, dictionary] : rows) {
    EXPECT_EQ(parsed(lines), dictionary) << (lines.empty() ? "" : lines[0]);
  }
}

TEST(StructuredField, Rfc9651Section4Point2Point1Lists) {
  const std::vector<std::pair<std::string_view, List>> rows{
      {"", {}},
      {"  ", {}},
      {"a", {Item{Token{"a"}, {}}}},
      {" a,b ", {Item{Token{"a"}, {}}, Item{Token{"b"}, {}}}},
      {"a, a", {Item{Token{"a"}, {}}, Item{Token{"a"}, {}}}},
      {"a;x=1;y; x=2 \t,\t5",
       {Item{Token{"a"}, {{"x", Integer{2}}, {"y", true}}}, Item{Integer{5}, {}}}},
      {"\"a, b\";x, (1 c);q",
       {Item{String{"a, b"}, {{"x", true}}},
        InnerList{{{Integer{1}, {}}, {Token{"c"}, {}}}, {{"q", true}}}}},
  };
  for (const auto& [value, list] : rows) EXPECT_EQ(parse_list(value), list) << value;
  for (const std::string_view value :
       {"a,", ",a", "a,,b", "a b", "a=1", "a;", "a;X", "a ;x", "(a", "a)", "\"a", "a, &", "\ta"}) {
    EXPECT_FALSE(parse_list(value)) << value;
  }
  std::string most = "a";
  for (std::size_t i = 1; i < limits::structured_members; ++i) most += ",a";
  EXPECT_TRUE(parse_list(most));
  EXPECT_FALSE(parse_list(most + ",a"));
}

TEST(StructuredField, WhatStringsAndParametersSay) {
  const auto list = parse_list(R"(a;x="\"b\\c\"";y=?0)");
  ASSERT_TRUE(list && list->size() == 1);
  const auto& item = std::get<Item>(list->front());
  ASSERT_NE(parameter(item, "x"), nullptr);
  EXPECT_EQ(unescaped(std::get<String>(*parameter(item, "x"))), R"("b\c")");
  EXPECT_EQ(*parameter(item, "y"), BareItem(false));
  EXPECT_EQ(parameter(item, "z"), nullptr);
}

TEST(StructuredField, Rfc9651Section4Point2WhatIsNoneIsNoneOfIt) {
  const std::vector<std::vector<std::string_view>> rows{
      {"a,"},           {",a"},       {"a,,b"},       {"a b"},
      {"a = 1"},        {"a =1"},     {"a= 1"},       {"a=1,"},
      {"A=1"},          {"1=1"},      {"a=1;"},       {"a=1;X"},
      {"a;b=1 c"},      {"a=1 ;x"},   {"a=1\t;x"},    {"a;\tx"},
      {"a=(1"},         {"a=(1,2)"},  {"a=(1 2"},     {"a=(1\t2)"},
      {"a=(1)2"},       {"a=((1))"},  {"a=(\"b\"c)"}, {"-a=1"},
      {"a=&"},          {"a=1, &"},   {"&&&&&"},      {"=1"},
      {"a="},           {"a=1", ""},  {"", "a=1"},    {"a=1", " ", "b"},
      {"a=\"x", "y\""}, {"a=1", "B"}, {"a\xc3\xb6"},  {"a=1\r"},
      {"a\n"},          {"a=(1)x"},
  };
  for (const auto& lines : rows) EXPECT_FALSE(parsed(lines)) << lines[0];
}

TEST(StructuredField, Rfc9651Section4Point2Point4Numbers) {
  expect_values({
      {"0", Integer{0}},
      {"-0", Integer{0}},
      {"0042", Integer{42}},
      {"-42", Integer{-42}},
      {"999999999999999", Integer{999'999'999'999'999}},
      {"-999999999999999", Integer{-999'999'999'999'999}},
      {"1.5", Decimal{1500}},
      {"-1.050", Decimal{-1050}},
      {"-0.001", Decimal{-1}},
      {"999999999999.999", Decimal{999'999'999'999'999}},
  });
  expect_faults({"-", "--1", "+1", "1.", ".1", "-.1", "1.1234", "1.1.1", "- 1", "1e3", "0x1",
                 "1000000000000000", "0000000000000001", "1234567890123.1", "1a"});
}

TEST(StructuredField, Rfc9651Section4Point2Point5Strings) {
  expect_values({
      {"\"\"", String{""}},
      {"\"a, b;c=(d)\"", String{"a, b;c=(d)"}},
      {"\"a\\\"b\\\\\"", String{"a\\\"b\\\\"}},
      {"\" ~\"", String{" ~"}},
  });
  expect_faults({"\"", "\"a", "\"a\\\"", "\"a\\", "\"\\a\"", "\"a\tb\"", "\"\x7f\"", "\"\xc3\xb6\"",
                 "\"a\"b", "'a'", "\"\\\""});
}

TEST(StructuredField, Rfc9651Section4Point2Point6Tokens) {
  expect_values({
      {"a", Token{"a"}},
      {"A/b:c", Token{"A/b:c"}},
      {"*", Token{"*"}},
      {"a1!#$%&'*+-.^_`|~", Token{"a1!#$%&'*+-.^_`|~"}},
  });
  expect_faults({"!a", "/a", ":a", "a\"b", "a{", "a@", "a=b"});
}

TEST(StructuredField, Rfc9651Section4Point2Point7ByteSequences) {
  expect_values({
      {"::", ByteSequence{""}},
      {":aGVsbG8=:", ByteSequence{"aGVsbG8="}},
      {":aGVsbG8:", ByteSequence{"aGVsbG8"}},
      {":+/A=:", ByteSequence{"+/A="}},
      {":YQ==:", ByteSequence{"YQ=="}},
  });
  expect_faults({":", ":aGVsbG8=", ":=aGVsbG8=:", ":a=GVsbG8=:", ":a GVsbG8:", ":aGVs!G8=:",
                 ":_-Ah:", ":A:", ":YQ=:", ":=:", ":YQ===:", ":====:", ":YWI==:"});
}

TEST(StructuredField, Rfc9651Section4Point2Point8Booleans) {
  expect_values({{"?0", false}, {"?1", true}});
  expect_faults({"?", "?2", "?t", "? 1", "?10"});
}

TEST(StructuredField, Rfc9651Section4Point2Point9Dates) {
  expect_values({{"@0", Date{0}}, {"@1659578233", Date{1'659'578'233}}, {"@-5", Date{-5}}});
  expect_faults({"@", "@a", "@1.5", "@ 1", "@1000000000000000"});
}

TEST(StructuredField, Rfc9651Section4Point2Point10DisplayStrings) {
  expect_values({
      {"%\"\"", DisplayString{""}},
      {"%\"a b\"", DisplayString{"a b"}},
      {"%\"f%c3%bc %25%22\"", DisplayString{"f%c3%bc %25%22"}},
      {"%\"%e2%82%ac%f0%9f%98%80\"", DisplayString{"%e2%82%ac%f0%9f%98%80"}},
      {"%\"%ed%9f%bf%f4%8f%bf%bf\"", DisplayString{"%ed%9f%bf%f4%8f%bf%bf"}},
  });
  expect_faults({"%",
                 "%a",
                 "%\"",
                 "%\"a",
                 "%\"%C3%BC\"",
                 "%\"%c3\"",
                 "%\"%c\"",
                 "%\"%\"",
                 "%\"%gg\"",
                 "%\"%80\"",
                 "%\"%c0%80\"",
                 "%\"%c1%bf\"",
                 "%\"%e0%80%80\"",
                 "%\"%ed%a0%80\"",
                 "%\"%f0%80%80%80\"",
                 "%\"%f4%90%80%80\"",
                 "%\"%f5%80%80%80\"",
                 "%\"%c3%c3\"",
                 "%\"%e2%82a\"",
                 "%\"\xc3\xbc\"",
                 "%\"a\tb\""});
}

TEST(StructuredField, MoreThanTheLimitIsNoneOfIt) {
  const auto repeated = [](std::string_view text, std::size_t times) {
    std::string out;
    for (std::size_t i = 0; i < times; ++i) out += text;
    return out;
  };
  constexpr std::size_t most = limits::structured_members;
  const std::string members = repeated("a,", most - 1) + "b";
  const std::string items = "a=(" + repeated("1 ", most - 1) + ")";
  const std::string parameters = "a" + repeated(";x", most - 1);
  EXPECT_TRUE(parsed({members}));
  EXPECT_FALSE(parsed({members + ",a"}));
  EXPECT_FALSE(parsed({members, "a"}));
  EXPECT_TRUE(parsed({items}));
  EXPECT_FALSE(parsed({items + ";x"}));
  EXPECT_TRUE(parsed({parameters}));
  EXPECT_FALSE(parsed({parameters + ";x"}));
}

}  // namespace
}  // namespace ringside::http::structured
