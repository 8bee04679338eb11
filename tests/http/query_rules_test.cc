#include "http/query_rules.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "http/target.h"

namespace ringside::http {
namespace {

using Names = std::vector<std::string>;

TEST(QueryRules, MakeEqualRequestsLookEqual) {
  struct Row {
    QueryRules rules;
    std::string query;
    std::string expected;
  };
  const QueryRules sorted{true, {}, {}};
  const QueryRules without_utm{false, {}, {"utm_*", "fbclid"}};
  const QueryRules only_two{false, {"id", "page*"}, {}};
  const std::vector<Row> rows{
      {{}, "b=2&&a=1", "b=2&&a=1"},
      {sorted, "", ""},
      {sorted, "b=2&a=1", "a=1&b=2"},
      {sorted, "a=2&b=1&a=1", "a=2&a=1&b=1"},  // of one name in their order
      {sorted, "a=b=c&a", "a=b=c&a"},          // a name ends at the first =
      {sorted, "b&a&ab=&a%20=1", "a&a%20=1&ab=&b"},
      {sorted, "B&a&A", "A&B&a"},  // as they are written
      {sorted, "&b&&a&", "a&b"},
      {sorted, "&&&", ""},
      {without_utm, "utm_source=x&a=1&utm_=2&utm=3&fbclid=4", "a=1&utm=3"},
      {without_utm, "fbclid_2=1&UTM_source=2", "fbclid_2=1&UTM_source=2"},
      {without_utm, "b&a", "b&a"},
      {without_utm, "utm_source=x", ""},
      {only_two, "x=1&id=2&page=3&pages=4&i=5", "id=2&page=3&pages=4"},
      {{true, {"a", "b", "b2"}, {"b*"}}, "c&b2&b&a", "a"},  // what is dropped is not kept
      {{false, {}, {"*"}}, "a=1&b", ""},
      {{false, {"*"}, {}}, "a=1&b", "a=1&b"},
      {{false, {}, {"a"}}, "a&a=&a=1&%61=2&b=a", "%61=2&b=a"},
      {{false, {}, {"=x"}}, "=x", "=x"},
  };
  for (const Row& row : rows) {
    const std::string once = row.rules.applied(row.query);
    EXPECT_EQ(once, row.expected) << row.query;
    EXPECT_EQ(row.rules.applied(once), once) << row.query;
  }
}

TEST(QueryRules, LookAtSoManyParametersOnly) {
  std::string query = "z";
  for (std::size_t i = 1; i < limits::query_parameters; ++i) query += "&x";
  const QueryRules rules{true, {}, {"x"}};
  EXPECT_EQ(rules.applied(query), "z");
  query += "&a";
  EXPECT_EQ(rules.applied(query), query);
}

TEST(QueryRules, AQueryOfWhichNothingIsLeftIsNone) {
  struct Row {
    QueryRules rules;
    Target target;
    std::string expected;
  };
  const QueryRules without_a{false, {}, {"a"}};
  const std::vector<Row> rows{
      {without_a, {"/p", "a=1&b", true}, "/p?b"},
      {without_a, {"/p", "a=1", true}, "/p"},
      {without_a, {"/p", "", true}, "/p"},
      {without_a, {"/p", "", false}, "/p"},
      {{}, {"/p", "", true}, "/p?"},
      {{}, {"/p", "a=1", true}, "/p?a=1"},
  };
  for (const Row& row : rows) {
    Target target = row.target;
    row.rules.apply_to(target);
    EXPECT_EQ(target.text(), row.expected);
  }
}

TEST(QueryRules, AreEmptyWithoutAnyChange) {
  EXPECT_TRUE(QueryRules{}.empty());
  EXPECT_FALSE((QueryRules{true, {}, {}}.empty()));
  EXPECT_FALSE((QueryRules{false, {"a"}, {}}.empty()));
  EXPECT_FALSE((QueryRules{false, {}, {"a"}}.empty()));
}

}  // namespace
}  // namespace ringside::http
