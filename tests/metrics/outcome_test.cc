#include "metrics/outcome.h"

#include <gtest/gtest.h>

namespace ringside::metrics {
namespace {

TEST(Outcome, NamesAndTheHitRate) {
  struct Case {
    Outcome outcome;
    std::string_view name;
    bool hit;
    bool counts;
  };
  constexpr Case cases[] = {
      {Outcome::hit, "hit", true, true},
      {Outcome::miss, "miss", false, true},
      {Outcome::stale, "stale", true, true},
      {Outcome::revalidated, "revalidated", true, true},
      {Outcome::peer_fill, "peer_fill", true, true},
      {Outcome::collapsed, "collapsed", true, true},
      {Outcome::bypass, "bypass", false, false},
      {Outcome::error, "error", false, false},
  };
  static_assert(std::size(cases) == outcome_count);
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(name(c.outcome), c.name);
    EXPECT_EQ(outcome_from(c.name), c.outcome);
    EXPECT_EQ(is_hit(c.outcome), c.hit);
    EXPECT_EQ(counts_for_hit_rate(c.outcome), c.counts);
  }
}

TEST(Outcome, OtherTextIsNone) {
  for (const std::string_view text : {"", "HIT", "hit ", "peer-fill", "2xx"}) {
    EXPECT_EQ(outcome_from(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace ringside::metrics
