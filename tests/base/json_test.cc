#include "base/json.h"

#include <gtest/gtest.h>

#include "base/limits.h"

namespace ringside {
namespace {

using nlohmann::json;

std::string wrong_with(const std::string& text) {
  const auto read = parse_strict_json(text);
  return read ? "nothing" : read.error().message;
}

TEST(Json, KeepsAllThatIsThere) {
  const std::string text = R"({"a":[1,-2,3.5,"x",true,null,{}],"b":{"c":[]}})";
  EXPECT_EQ(parse_strict_json(text).value().dump(), text);
  EXPECT_EQ(parse_strict_json("[7]").value().dump(), "[7]");
  EXPECT_EQ(parse_strict_json("7").value().dump(), "7");
}

TEST(Json, TellsWhereItIsNone) {
  EXPECT_NE(wrong_with("{\n  \"a\": b}").find("line 2, column 8"), std::string::npos)
      << wrong_with("{\n  \"a\": b}");
  EXPECT_NE(wrong_with("").find("line 1, column 1"), std::string::npos);
  const std::string behind_a_zero("{}\n\0{]", 6);
  EXPECT_NE(wrong_with(behind_a_zero).find("line 2, column 1"), std::string::npos)
      << wrong_with(behind_a_zero);
}

TEST(Json, RefusesAKeyThatStandsTwiceInOneObject) {
  EXPECT_NE(wrong_with(R"({"a":1,"a":1})").find("\"a\" stands twice"), std::string::npos);
  EXPECT_NE(wrong_with(R"([{"a":{"b":1,"b":1}}])").find("\"b\" stands twice"), std::string::npos);
  EXPECT_EQ(wrong_with(R"({"a":{"a":1},"b":[{"a":1},{"a":1}]})"), "nothing");
}

TEST(Json, HasLimits) {
  EXPECT_NE(wrong_with(std::string(3'000'000, '[')).find("16 deep"), std::string::npos);
  std::string many = "[0";
  for (std::size_t i = 0; i < limits::json_values; ++i) many += ",0";
  EXPECT_NE(wrong_with(many + "]").find("1000000 values"), std::string::npos);
}

TEST(Json, PassesOverWhatIsNotKept) {
  JsonTerms terms;
  terms.is_kept = [](std::string_view key) { return key == "a"; };
  json value;
  const std::string deep = std::string(1'000, '[') + std::string(1'000, ']');
  EXPECT_FALSE(read_json("{\"x\":" + deep + ",\"x\":0,\"a\":{\"y\":1,\"a\":2}}", terms, value));
  EXPECT_EQ(value.dump(), R"({"a":{"a":2}})");
  const auto fault = read_json(R"({"a":1,"a":2})", terms, value);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, JsonFault::Kind::repeated_key);
  terms.may_repeat_keys = true;
  EXPECT_FALSE(read_json(R"({"a":1,"a":2})", terms, value));
  EXPECT_EQ(value.dump(), R"({"a":2})");
}

}  // namespace
}  // namespace ringside
