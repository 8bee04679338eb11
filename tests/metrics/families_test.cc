#include "metrics/families.h"

#include <gtest/gtest.h>

namespace ringside::metrics {
namespace {

TEST(Families, EachStandsOnceInTheOrderOfFirstMention) {
  Families families;
  families.add(Kind::counter, "b_total", "B.", {{"x", "1"}}, 1);
  families.add(Kind::gauge, "a", "A.", {}, 5);
  families.add(Kind::counter, "b_total", "B.", {{"x", "2"}}, 3);
  families.add(Kind::counter, "b_total", "B.", {{"x", "1"}}, 1);
  families.add(Kind::gauge, "a", "A.", {}, 4);
  EXPECT_EQ(families.text(),
            "# HELP b_total B.\n"
            "# TYPE b_total counter\n"
            "b_total{x=\"1\"} 2\n"
            "b_total{x=\"2\"} 3\n"
            "# HELP a A.\n"
            "# TYPE a gauge\n"
            "a 4\n");
}

TEST(Families, HistogramsOfEqualLabelsAreAddedUp) {
  Families families;
  families.add_histogram("h", "H.", {}, {{1, 2}, {1, 0, 0}, 0.5});
  families.add_histogram("h", "H.", {}, {{1, 2}, {0, 1, 1}, 4.5});
  EXPECT_EQ(families.text(),
            "# HELP h H.\n"
            "# TYPE h histogram\n"
            "h_count 3\n"
            "h_sum 5\n"
            "h_bucket{le=\"1\"} 1\n"
            "h_bucket{le=\"2\"} 2\n"
            "h_bucket{le=\"+Inf\"} 3\n");
}

TEST(FamiliesDeathTest, AFamilyKeepsItsKind) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Families families;
  families.add(Kind::gauge, "a", "A.", {}, 5);
  EXPECT_DEATH(families.add(Kind::counter, "a", "A.", {}, 5), "broken invariant");
}

}  // namespace
}  // namespace ringside::metrics
