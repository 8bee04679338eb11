#include "shard/shard_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "base/limits.h"

namespace ringside::shard {
namespace {

using Kind = KeyPart::Kind;
using testing::HasSubstr;

TEST(KeySpec, ReadsWhatItWrites) {
  struct Case {
    std::string written;
    std::vector<KeyPart> parts;
    std::string text;
  };
  const Case cases[] = {
      {"path", {{Kind::path, ""}}, "path"},
      {"country,path", {{Kind::country, ""}, {Kind::path, ""}}, "country,path"},
      {"path,country", {{Kind::path, ""}, {Kind::country, ""}}, "path,country"},
      {" country ,\tpath ", {{Kind::country, ""}, {Kind::path, ""}}, "country,path"},
      {"ip,query,host", {{Kind::ip, ""}, {Kind::query, ""}, {Kind::host, ""}}, "ip,query,host"},
      {"header:Accept-Language", {{Kind::header, "accept-language"}}, "header:accept-language"},
      {"cookie:Cart", {{Kind::cookie, "Cart"}}, "cookie:Cart"},
      {"cookie:a,cookie:A,header:a",
       {{Kind::cookie, "a"}, {Kind::cookie, "A"}, {Kind::header, "a"}},
       "cookie:a,cookie:A,header:a"},
      {"id:2", {{Kind::id, "", 2}}, "id:2"},
      {"path, id:{user-id} ,id:64",
       {{Kind::path, ""}, {Kind::id, "user-id"}, {Kind::id, "", 64}},
       "path,id:{user-id},id:64"},
  };
  for (const Case& c : cases) {
    const auto spec = KeySpec::parse(c.written);
    ASSERT_TRUE(spec) << c.written << ": " << spec.error().message;
    EXPECT_EQ(spec->parts, c.parts) << c.written;
    EXPECT_EQ(spec->text(), c.text);
    EXPECT_EQ(*KeySpec::parse(spec->text()), *spec) << c.written;
  }
}

TEST(KeySpec, NamesThePartThatIsWrongAndWhatMayStandThere) {
  struct Case {
    std::string written;
    std::string part;
    std::string remedy;
  };
  const Case cases[] = {
      {"", "part 1, \"\"",
       "country, ip, path, query, host, header:NAME, cookie:NAME, id:N or id:{NAME}"},
      {"  ", "part 1, \"\"", "country, ip"},
      {"country,", "part 2, \"\"", "country, ip"},
      {",path", "part 1, \"\"", "country, ip"},
      {"country,paht", "part 2, \"paht\"", "country, ip"},
      {"Country", "part 1, \"Country\"", "country, ip"},
      {"path,path", "part 2, \"path\"", "leave one of them out"},
      {"header:A,path,header:a", "part 3, \"header:a\"", "leave one of them out"},
      {"path:x", "part 1, \"path:x\"", "write path"},
      {"query:page", "part 1, \"query:page\"", "write query"},
      {"path,header", "part 2, \"header\"", "write header:NAME"},
      {"header:", "part 1, \"header:\"", "write header:NAME"},
      {"header:a b", "part 1, \"header:a b\"", "write header:NAME"},
      {"cookie:a:b", "part 1, \"cookie:a:b\"", "write cookie:NAME"},
      {"id", "part 1, \"id\"", "write id:N, from 1 to 64, or id:{NAME}"},
      {"path,id:0", "part 2, \"id:0\"", "names no segment of the path; write id:N"},
      {"id:65", "part 1, \"id:65\"", "from 1 to 64"},
      {"id:-1", "part 1, \"id:-1\"", "write id:N"},
      {"id:2x", "part 1, \"id:2x\"", "write id:N"},
      {"id:user", "part 1, \"id:user\"", "id:{NAME}"},
      {"id:{}", "part 1, \"id:{}\"", "id:{NAME}"},
      {"id:{a b}", "part 1, \"id:{a b}\"", "id:{NAME}"},
      {"id:99999999999999999999999", "part 1, ", "from 1 to 64"},
      {"id:2,id:2", "part 2, \"id:2\"", "leave one of them out"},
      {"cookie:a\nb", "part 1, \"cookie:a?b\"", "write cookie:NAME"},
  };
  for (const Case& c : cases) {
    const auto spec = KeySpec::parse(c.written);
    ASSERT_FALSE(spec) << c.written;
    EXPECT_EQ(spec.error().kind, ErrorKind::invalid_input);
    EXPECT_THAT(spec.error().message, HasSubstr(c.part));
    EXPECT_THAT(spec.error().message, HasSubstr(c.remedy));
  }
}

TEST(KeySpec, HasAtMostTheLimitOfParts) {
  std::string text = "path";
  for (std::size_t i = 1; i < limits::shard_key_parts; ++i) {
    text += ",cookie:c" + std::to_string(i);
  }
  ASSERT_TRUE(KeySpec::parse(text));
  EXPECT_EQ(KeySpec::parse(text)->parts.size(), limits::shard_key_parts);
  const auto spec = KeySpec::parse(text + ",host");
  ASSERT_FALSE(spec);
  EXPECT_THAT(spec.error().message, HasSubstr("part 9, \"host\", is one too many; at most 8"));
}

TEST(KeySpec, TellsWhichKindsItUses) {
  const KeySpec spec = KeySpec::country_and_path();
  EXPECT_EQ(spec.text(), "country,path");
  EXPECT_TRUE(spec.uses(Kind::country));
  EXPECT_TRUE(spec.uses(Kind::path));
  EXPECT_FALSE(spec.uses(Kind::query));
}

std::string key_from(const std::vector<std::string>& values) {
  std::string key;
  for (const std::string& value : values) append_key_value(key, value);
  return key;
}

TEST(ShardKey, EndsEachValueAndEscapesWhatEndsOne) {
  EXPECT_EQ(key_from({}), "");
  EXPECT_EQ(key_from({""}), "\n");
  EXPECT_EQ(key_from({"FR", "/a"}), "FR\n/a\n");
  EXPECT_EQ(key_from({"a\nb"}), "a\\\nb\n");
  EXPECT_EQ(key_from({"a\\"}), "a\\\\\n");
  EXPECT_EQ(key_from({"\\\n\n\\"}), "\\\\\\\n\\\n\\\\\n");
  EXPECT_EQ(key_from({std::string("a\0b", 3)}), std::string("a\0b\n", 4));
}

// Lists over an alphabet of nothing but the bytes with a meaning and one without, so that two lists
// often have the same bytes after each other and only the ends of the values tell them apart.
TEST(ShardKey, DifferentListsOfValuesNeverGiveTheSameBytes) {
  std::mt19937_64 dice(20);
  std::map<std::string, std::vector<std::string>> list_of;
  for (int round = 0; round < 50'000; ++round) {
    std::vector<std::string> values(dice() % 4);
    for (std::string& value : values) {
      for (std::size_t size = dice() % 4; size > 0; --size) value.push_back("\\\na"[dice() % 3]);
    }
    const auto [known, added] = list_of.emplace(key_from(values), values);
    ASSERT_EQ(known->second, values);
  }
  EXPECT_GT(list_of.size(), 5'000U);
}

}  // namespace
}  // namespace ringside::shard
