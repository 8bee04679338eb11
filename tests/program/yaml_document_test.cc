#include "program/yaml_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.h"

namespace ringside::program {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(YamlDocument, KeepsOrderKindsAndLines) {
  const auto root = parse_yaml("a: 1\n\n# a remark\nb:\n  - x\n  - {c: \"null\"}\n", "f.yaml");
  ASSERT_TRUE(root) << root.error().message;
  ASSERT_EQ(root->entries.size(), 2U);
  EXPECT_EQ(root->entries[0].key, "a");
  EXPECT_EQ(root->entries[0].value.text, "1");
  EXPECT_EQ(root->entries[1].line, 4);
  const YamlValue& list = root->entries[1].value;
  ASSERT_EQ(list.kind, YamlValue::Kind::list);
  EXPECT_EQ(list.items[0].line, 5);
  EXPECT_EQ(list.items[1].entries[0].value.text, "null");
}

TEST(YamlDocument, NothingIsAnEmptyMap) {
  for (const char* const text : {"", "\n", "# only a remark\n", "---\n", "{}"}) {
    const auto root = parse_yaml(text, "f");
    ASSERT_TRUE(root) << text << root.error().message;
    EXPECT_EQ(root->kind, YamlValue::Kind::map);
    EXPECT_TRUE(root->entries.empty());
  }
}

struct Bad {
  std::string text;
  std::string place;
  std::string message;
};

TEST(YamlDocument, RefusesWithTheLine) {
  const std::string deep =
      std::string(limits::configuration_depth, '[') + std::string(limits::configuration_depth, ']');
  const std::vector<Bad> cases{
      {"a: 1\na: 2\n", "f:2: ", "stands twice, first in line 1"},
      {"a: 1\nb: &x 2\n", "f:2: ", "anchor"},
      {"a: &x [1]\nb: *x\n", "f:1: ", "anchor"},
      {"a: !!int 1\n", "f:1: ", "tag"},
      {"x: 1\na:\nb: 1\n", "f:2: ", "\"a\" has no value"},
      {"a: ~\n", "f:1: ", "has no value"},
      {"- a\n", "f:1: ", "a list"},
      {"word\n", "f:1: ", "a single value"},
      {"a: 1\n---\nb: 2\n", "f:", "second document"},
      {"a: 1\n  b: 2\n", "f:2: ", "no valid YAML"},
      {"a: [1\n", "f:1: ", "has no value"},
      {"a: [1]]\n", "f:1: ", "no valid YAML"},
      {"? [a]\n: 1\n", "f:1: ", "a key that is no text"},
      {"a: " + deep + "\n", "f:1: ", "nested deeper"},
      {"a:\n  - 1\n  -\n", "f:", "empty value"},
  };
  for (const Bad& bad : cases) {
    const auto parsed = parse_yaml(bad.text, "f");
    ASSERT_FALSE(parsed) << bad.text;
    EXPECT_THAT(parsed.error().message, StartsWith(bad.place)) << bad.text;
    EXPECT_THAT(parsed.error().message, HasSubstr(bad.message)) << bad.text;
    EXPECT_EQ(parsed.error().message.find('\n'), std::string::npos);
  }
}

TEST(YamlDocument, ABombOfAliasesIsRefusedAtItsFirstAnchor) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 20; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 9; ++j) bomb += (j ? ", *a" : "*a") + std::to_string(i - 1);
    bomb += "]\n";
  }
  const auto parsed = parse_yaml(bomb, "f");
  ASSERT_FALSE(parsed);
  EXPECT_THAT(parsed.error().message, StartsWith("f:1: an anchor"));
}

// The fuzzer's find: the parser quoted the end of the file, which it takes for a byte 0x04.
TEST(YamlDocument, AMessageHeldAControlByte) {
  for (const char* const text : {"a: \"b\\", "a: \"\\\x01\"", "a: %\x02"}) {
    const auto parsed = parse_yaml(text, "f");
    if (parsed) continue;
    for (const char c : parsed.error().message) EXPECT_GE(c, ' ') << parsed.error().message;
  }
  EXPECT_THAT(parse_yaml("a: \"b\\", "f").error().message, HasSubstr("no valid YAML"));
}

TEST(YamlDocument, SizeIsBounded) {
  const std::string long_text(limits::configuration_size_bytes + 1, ' ');
  EXPECT_THAT(parse_yaml(long_text, "f").error().message, HasSubstr("larger than"));

  std::string many = "a:\n";
  for (std::size_t i = 0; i <= limits::configuration_nodes; ++i) many += "- x\n";
  EXPECT_THAT(parse_yaml(many, "f").error().message, HasSubstr("values"));

  std::string keys;
  for (std::size_t i = 0; i <= limits::configuration_map_keys; ++i) {
    keys += "k" + std::to_string(i) + ": 1\n";
  }
  EXPECT_THAT(parse_yaml(keys, "f").error().message, HasSubstr("keys in one map"));

  using std::string_literals::operator""s;
  EXPECT_THAT(parse_yaml("a: 1\nb: \0\n"s, "f").error().message, StartsWith("f:2: a NUL byte"));
  EXPECT_THAT(parse_yaml("\xff\xfe", "f").error().message, HasSubstr("no UTF-8"));
  EXPECT_FALSE(parse_yaml("a: " + std::string(100'000, '['), "f"));
  EXPECT_FALSE(parse_yaml(std::string(100'000, '{'), "f"));
}

}  // namespace
}  // namespace ringside::program
