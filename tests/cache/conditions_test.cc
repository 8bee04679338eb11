#include "cache/conditions.h"

#include <gtest/gtest.h>

namespace ringside::cache {
namespace {

using In = Condition::In;

http::Fields some_fields() {
  http::Fields fields;
  fields.add("Authorization", "Basic eDp5");
  fields.add("X-Debug", "0");
  fields.add("x-debug", "1");
  fields.add("X-Empty", "");
  fields.add("Cookie", "a=1; session=abc;b = 2; flag; c=d=e");
  fields.add("cookie", "late=\"x\"; a=2");
  return fields;
}

TEST(Conditions, MatchAnyLineCookieOrParameter) {
  struct Row {
    Condition condition;
    bool matches;
  };
  const std::vector<Row> rows{
      {{In::header, "authorization", {}}, true},
      {{In::header, "Authorization", "Basic eDp5"}, true},
      {{In::header, "Authorization", "basic eDp5"}, false},
      {{In::header, "X-DEBUG", "1"}, true},  // the second line
      {{In::header, "X-Debug", "2"}, false},
      {{In::header, "X-Debug", "0, 1"}, false},
      {{In::header, "X-Empty", {}}, true},
      {{In::header, "X-Empty", ""}, true},
      {{In::header, "X-Debug", ""}, false},
      {{In::header, "session", {}}, false},
      {{In::cookie, "session", {}}, true},
      {{In::cookie, "session", "abc"}, true},
      {{In::cookie, "session", "ab"}, false},
      {{In::cookie, "Session", {}}, false},  // RFC 6265 §4.2.1: as it stands
      {{In::cookie, "sess", {}}, false},
      {{In::cookie, "a", "2"}, true},
      {{In::cookie, "c", "d=e"}, true},
      {{In::cookie, "flag", {}}, true},
      {{In::cookie, "flag", ""}, true},
      {{In::cookie, "late", "\"x\""}, true},
      {{In::cookie, "late", "x"}, false},
      {{In::cookie, "abc", {}}, false},
      {{In::cookie, "Authorization", {}}, false},
      {{In::query, "nocache", {}}, true},
      {{In::query, "nocache", "1"}, true},
      {{In::query, "nocache", "11"}, false},
      {{In::query, "nocache", ""}, false},
      {{In::query, "bare", {}}, true},
      {{In::query, "bare", ""}, true},
      {{In::query, "x", "2"}, true},
      {{In::query, "1", {}}, false},
      {{In::query, "session", {}}, false},
      {{In::every_request, "", {}}, true},
  };
  const auto fields = some_fields();
  for (const Row& row : rows) {
    EXPECT_EQ(matches(row.condition, fields, "x=1&nocache=1&&bare&x=2"), row.matches)
        << static_cast<int>(row.condition.in) << " " << row.condition.name;
  }
}

TEST(Conditions, NothingMatchesWhatIsNotThere) {
  for (const In in : {In::header, In::cookie, In::query}) {
    EXPECT_FALSE(matches({in, "a", {}}, {}, ""));
    EXPECT_FALSE(matches({in, "a", ""}, {}, ""));
  }
}

TEST(Conditions, OneOfThemIsEnough) {
  const std::vector<Condition> conditions{{In::header, "X-A", {}}, {In::query, "b", {}}};
  EXPECT_FALSE(matches_any({}, some_fields(), "b"));
  EXPECT_FALSE(matches_any(conditions, some_fields(), "a"));
  EXPECT_TRUE(matches_any(conditions, some_fields(), "b"));
}

}  // namespace
}  // namespace ringside::cache
