#include "http/request_conditions.h"

#include <gtest/gtest.h>

namespace ringside::http {
namespace {

using Lines = std::vector<std::pair<std::string_view, std::string_view>>;

bool holds_of_header(const ValueCondition& condition, const Lines& lines) {
  Fields fields;
  for (const auto& [name, value] : lines) fields.add(name, value);
  return hold({{}, {condition}, {}}, "GET", fields, "");
}

TEST(RequestConditions, LookAtAHeaderInTheFormThatIsSentOn) {
  const ValueCondition present{"x-plan", {}, {}};
  const ValueCondition paid{"x-plan", canonical_value("x-plan", "paid,gold"), {}};
  const ValueCondition like{"X-PLAN", {}, *Regex::make("p.*d")};
  struct Row {
    Lines lines;
    bool present;
    bool paid;
    bool like;
  };
  for (const Row& row : std::vector<Row>{
           {{}, false, false, false},
           {{{"X-Other", "paid"}}, false, false, false},
           {{{"X-Plan", ""}}, true, false, false},
           {{{"X-Plan", "paid, gold"}}, true, true, true},
           {{{"x-plan", "paid ,gold"}}, true, true, true},
           {{{"X-Plan", "paid"}, {"X-Plan", "gold"}}, true, true, true},
           {{{"X-Plan", "paid, gold"}, {"Authorization", "Basic x"}}, true, true, true},
           {{{"X-Plan", "paid ,gold"}, {"Authorization", "Basic x"}}, true, true, true},
           {{{"X-Plan", "Paid, gold"}}, true, false, false},
           {{{"X-Plan", "paid"}}, true, false, true},
           {{{"X-Plan", "unpaid"}}, true, false, false},
       }) {
    EXPECT_EQ(holds_of_header(present, row.lines), row.present);
    EXPECT_EQ(holds_of_header(paid, row.lines), row.paid);
    EXPECT_EQ(holds_of_header(like, row.lines), row.like);
  }
  const ValueCondition agent{"user-agent", "b", {}};
  EXPECT_TRUE(holds_of_header(agent, {{"User-Agent", "a"}, {"User-Agent", "b"}})) << "one of them";
}

TEST(RequestConditions, LookAtEachParameterOfTheQuery) {
  const ValueCondition present{"v", {}, {}};
  const ValueCondition two{"v", "2", {}};
  const ValueCondition empty{"v", "", {}};
  const ValueCondition digits{"v", {}, *Regex::make("[0-9]+")};
  struct Row {
    std::string_view query;
    bool present;
    bool two;
    bool empty;
    bool digits;
  };
  for (const Row& row : std::vector<Row>{
           {"", false, false, false, false},
           {"v", true, false, true, false},
           {"v=", true, false, true, false},
           {"v=2", true, true, false, true},
           {"v=x&v=2", true, true, false, true},
           {"&&v=33&", true, false, false, true},
           {"V=2", false, false, false, false},
           {"vv=2&w=v", false, false, false, false},
           {"v=2=2", true, false, false, false},
       }) {
    EXPECT_EQ(hold({{}, {}, {present}}, "GET", {}, row.query), row.present) << row.query;
    EXPECT_EQ(hold({{}, {}, {two}}, "GET", {}, row.query), row.two) << row.query;
    EXPECT_EQ(hold({{}, {}, {empty}}, "GET", {}, row.query), row.empty) << row.query;
    EXPECT_EQ(hold({{}, {}, {digits}}, "GET", {}, row.query), row.digits) << row.query;
  }
}

TEST(RequestConditions, AllOfThemMustHold) {
  const RequestConditions all{{"GET", "POST"}, {{"a", {}, {}}, {"b", {}, {}}}, {{"q", {}, {}}}};
  Fields both;
  both.add("A", "");
  Fields one = both;
  both.add("B", "");
  EXPECT_TRUE(hold(all, "GET", both, "q"));
  EXPECT_TRUE(hold(all, "HEAD", both, "q"));
  EXPECT_TRUE(hold(all, "POST", both, "q"));
  EXPECT_FALSE(hold(all, "PUT", both, "q"));
  EXPECT_FALSE(hold(all, "GET", one, "q"));
  EXPECT_FALSE(hold(all, "GET", both, "r"));
  EXPECT_FALSE(hold({{"POST"}, {}, {}}, "HEAD", both, "q"));
  EXPECT_TRUE(hold({}, "ANY", {}, ""));
  EXPECT_TRUE(RequestConditions{}.empty());
}

}  // namespace
}  // namespace ringside::http
