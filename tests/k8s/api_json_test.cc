#include "k8s/api_json.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "tests/k8s/some_objects.h"

namespace ringside::k8s {
namespace {

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  out.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

std::string wrong_with(const ApiJson& json) {
  return json.failure() ? json.failure()->message : "nothing";
}

testing::AssertionResult is_wrong(const ApiJson& json, std::string_view word) {
  if (!json.failure()) return testing::AssertionFailure() << "nothing is wrong";
  return failed_as(Outcome<void>(*json.failure()), FailureReason::malformed, word);
}

TEST(ApiJson, ReadsWhatIsThere) {
  ApiJson json(R"({"kind": "Äpfel", "code": 3, "items": [{"ready": true}, {"ready": null}],
                   "spec": null})");
  const ApiField root = json.root();
  EXPECT_EQ(root.at("kind").text(), "Äpfel");
  EXPECT_EQ(root.at("code").count(), 3U);
  const auto items = root.at("items").elements();
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].at("ready").truth(), true);
  EXPECT_EQ(items[1].at("ready").truth(), std::nullopt);
  EXPECT_TRUE(root.at("spec").is_absent());
  EXPECT_FALSE(json.failure()) << wrong_with(json);
}

TEST(ApiJson, ReadsNothingFromWhatIsAbsent) {
  ApiJson json("{}");
  const ApiField absent = json.root().at("metadata").at("annotations");
  EXPECT_TRUE(absent.is_absent());
  EXPECT_EQ(absent.text(), "");
  EXPECT_EQ(absent.count(), std::nullopt);
  EXPECT_EQ(absent.truth(), std::nullopt);
  EXPECT_TRUE(absent.elements().empty());
  EXPECT_FALSE(json.failure()) << wrong_with(json);
  EXPECT_EQ(absent.needed_text(), "");
  EXPECT_TRUE(is_wrong(json, "metadata.annotations is missing or empty"));
}

TEST(ApiJson, TakesTheLastOfTwoKeys) {
  ApiJson json(R"({"kind": {"name": 1}, "kind": "last"})");
  EXPECT_EQ(json.root().at("kind").text(), "last");
  EXPECT_FALSE(json.failure()) << wrong_with(json);
}

TEST(ApiJson, TellsWhereATypeIsWrong) {
  const auto read = [](std::string_view text, const auto& reader) {
    ApiJson json(text);
    reader(json.root());
    return wrong_with(json);
  };
  const auto name = [](const ApiField& root) {
    for (const ApiField& item : root.at("items").elements()) (void)item.at("name").text();
  };
  const auto code = [](const ApiField& root) { (void)root.at("code").count(); };
  const auto ready = [](const ApiField& root) { (void)root.at("ready").truth(); };
  const std::pair<std::string, const char*> table[] = {
      {read(R"({"items": [{"name": "a"}, {"name": 5}]})", name),
       "items[1].name is of type number, not a string"},
      {read(R"({"items": {"name": "a"}})", name), "items is of type object, not an array"},
      {read(R"({"items": ["name"]})", name), "items[0] is of type string, not an object"},
      {read(R"(["items"])", name), "the whole is of type array, not an object"},
      {read(R"("items")", name), "the whole is of type string, not an object"},
      {read(R"({"code": "5"})", code), "code is of type string, not a whole number"},
      {read(R"({"code": -5})", code), "code is negative, too large or has a fraction"},
      {read(R"({"code": 5.0})", code), "code is negative, too large or has a fraction"},
      {read(R"({"code": 18446744073709551616})", code), "code is negative, too large"},
      {read(R"({"ready": 1})", ready), "ready is of type number, not true or false"},
      {read(R"({"ready": "true"})", ready), "ready is of type string, not true or false"},
  };
  for (const auto& [said, wanted] : table) EXPECT_NE(said.find(wanted), std::string::npos) << said;
}

TEST(ApiJson, RemembersTheFirstThingThatIsWrong) {
  ApiJson json(R"({"kind": 1, "code": "x"})");
  (void)json.root().at("code").count();
  (void)json.root().at("kind").text();
  EXPECT_TRUE(is_wrong(json, "code is of type string"));
}

TEST(ApiJson, RefusesWhatIsNoJson) {
  const std::string_view table[] = {
      "",
      " ",
      "{",
      "{]",
      "nothing",
      "{\"kind\": \"a\"} {",
      "{\"kind\": tru}",
      "{'kind': 1}",
      "<html><body>502 Bad Gateway</body></html>",
      "{\"other\": [1, 2}",
      "{\"code\": 1e999}",
      "{\"kind\": \"\xff\xfe\"}",
      "{\"other\": \"\xff\"}",
  };
  for (const std::string_view text : table) {
    ApiJson json(text);
    EXPECT_TRUE(is_wrong(json, "is no JSON at byte")) << text;
    EXPECT_EQ(json.root().at("kind").text(), "") << text;
  }
}

TEST(ApiJson, KeepsOnlyWhatIsRead) {
  ApiJson json(R"({"managedFields": [{"name": "x", "spec": {"name": 7}}], "name": "kept",
                   "other": {"items": [[]]}, "spec": {"template": {"spec": 4}, "replicas": 2},
                   "last": 1})");
  const ApiField root = json.root();
  EXPECT_TRUE(root.at("managedFields").is_absent());
  EXPECT_TRUE(root.at("other").is_absent());
  EXPECT_TRUE(root.at("items").is_absent());
  EXPECT_EQ(root.at("name").text(), "kept");
  EXPECT_EQ(root.at("spec").at("replicas").count(), 2U);
  EXPECT_TRUE(root.at("spec").at("template").is_absent());
  EXPECT_FALSE(json.failure()) << wrong_with(json);
}

TEST(ApiJson, TakesAnyDepthOfWhatIsNotReadAndLittleOfWhatIs) {
  constexpr std::size_t deep = 2'000'000;
  const std::string brackets = repeated("[", deep) + repeated("]", deep);
  ApiJson passed_over(R"({"fieldsV1": )" + brackets + R"(, "name": "after"})");
  EXPECT_EQ(passed_over.root().at("name").text(), "after");
  EXPECT_FALSE(passed_over.failure()) << wrong_with(passed_over);

  EXPECT_TRUE(is_wrong(ApiJson(brackets), "nests more than 16 deep"));
  EXPECT_TRUE(is_wrong(ApiJson(repeated("[", limits::api_event_size_bytes)), "nests more than"));
  EXPECT_TRUE(is_wrong(ApiJson(repeated("{\"items\":", deep)), "nests more than 16 deep"));
  EXPECT_TRUE(is_wrong(ApiJson("{\"x\":" + repeated("[", deep)), "is no JSON"));
  ApiJson just_so(repeated("[", limits::json_depth) + repeated("]", limits::json_depth));
  EXPECT_FALSE(just_so.failure()) << wrong_with(just_so);
}

TEST(ApiJson, HasLimits) {
  EXPECT_TRUE(is_wrong(ApiJson("[" + repeated("0,", 1'100'000) + "0]"), "values of use"));
  ApiJson passed_over("{\"x\": [" + repeated("0,", 1'100'000) + "0]}");
  EXPECT_FALSE(passed_over.failure()) << wrong_with(passed_over);
  EXPECT_TRUE(is_wrong(ApiJson(std::string(limits::api_answer_size_bytes + 1, ' ')),
                       "at most 33554432 are read"));
}

}  // namespace
}  // namespace ringside::k8s
