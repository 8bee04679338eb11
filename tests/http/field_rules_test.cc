#include "http/field_rules.h"

#include <gtest/gtest.h>

namespace ringside::http {
namespace {

// RFC 9110 §5.1: names are compared in any case.
TEST(FieldRules, Rfc9110Section5_1ReplacesWhatTheySetOrRemove) {
  const FieldRules rules{{"X-Powered-By", "server"}, {{"X-Tier", "ringside"}}};
  struct Row {
    std::string name;
    bool replaced;
  };
  const std::vector<Row> rows{
      {"X-Powered-By", true}, {"x-powered-by", true}, {"Server", true}, {"x-tier", true},
      {"X-Tiers", false},     {"X-Powered", false},   {"", false},      {"ringside", false},
  };
  for (const Row& row : rows) EXPECT_EQ(rules.replaces(row.name), row.replaced) << row.name;
}

TEST(FieldRules, AreEmptyWithoutAnyChange) {
  EXPECT_TRUE(FieldRules{}.empty());
  EXPECT_FALSE(FieldRules{}.replaces("server"));
  EXPECT_FALSE((FieldRules{{"a"}, {}}.empty()));
  EXPECT_FALSE((FieldRules{{}, {{"a", "b"}}}.empty()));
}

}  // namespace
}  // namespace ringside::http
