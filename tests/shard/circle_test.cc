#include "shard/circle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace ringside::shard {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<MemberIndex> owners(const Circle& circle, std::uint64_t position, std::size_t n) {
  std::vector<MemberIndex> found{99};  // what was there is replaced
  circle.owners(position, n, found);
  return found;
}

constexpr std::uint64_t last = std::numeric_limits<std::uint64_t>::max();

TEST(Circle, GivesAPositionToTheNextPointAtOrAfterItAndWraps) {
  const Circle circle({{300, 2}, {100, 0}, {200, 1}});
  struct Case {
    std::uint64_t position;
    MemberIndex owner;
  };
  for (const Case& c : {Case{0, 0}, Case{100, 0}, Case{101, 1}, Case{200, 1}, Case{201, 2},
                        Case{300, 2}, Case{301, 0}, Case{last, 0}}) {
    EXPECT_THAT(owners(circle, c.position, 1), ElementsAre(c.owner)) << c.position;
  }
}

TEST(Circle, CollectsDistinctMembersClockwise) {
  const Circle circle({{100, 0}, {200, 0}, {300, 1}, {400, 0}, {500, 2}, {600, 1}});
  EXPECT_THAT(owners(circle, 150, 0), IsEmpty());
  EXPECT_THAT(owners(circle, 150, 2), ElementsAre(0, 1));
  EXPECT_THAT(owners(circle, 150, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(owners(circle, 150, 9), ElementsAre(0, 1, 2));
  EXPECT_THAT(owners(circle, 550, 3), ElementsAre(1, 0, 2));
  EXPECT_THAT(owners(circle, last, 3), ElementsAre(0, 1, 2));
}

TEST(Circle, BreaksTiesByMemberWhateverTheOrderOfArrival) {
  for (const auto& points : {std::vector<Circle::Point>{{100, 0}, {100, 1}, {100, 2}},
                             std::vector<Circle::Point>{{100, 2}, {100, 1}, {100, 0}}}) {
    const Circle circle(points);
    EXPECT_THAT(owners(circle, 100, 3), ElementsAre(0, 1, 2));
    EXPECT_THAT(owners(circle, 101, 3), ElementsAre(0, 1, 2));
  }
}

TEST(Circle, OfNoPointsOwnsNothing) { EXPECT_THAT(owners(Circle({}), 5, 3), IsEmpty()); }

}  // namespace
}  // namespace ringside::shard
