#include "shard/circle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <string_view>
#include <vector>

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

TEST(Circle, PutsPointsInOrderHoweverTheyLie) {
  struct Case {
    std::string_view how;
    std::uint64_t (*position)(std::uint64_t random);
    unsigned bits;
  };
  constexpr std::uint64_t last_of_32 = std::numeric_limits<std::uint32_t>::max();
  const auto cases = std::to_array<Case>(
      {{"evenly", [](std::uint64_t random) { return random; }, 64},
       {"evenly, in 32 bits", [](std::uint64_t random) { return random >> 32; }, 32},
       {"at the ends", [](std::uint64_t random) { return random % 2 == 0 ? 0 : last; }, 64},
       {"at the end", [](std::uint64_t random) { return last_of_32 - random % 2; }, 32},
       {"in one slot", [](std::uint64_t random) { return random % 1000; }, 64}});
  std::mt19937_64 random(1);
  for (const Case& one : cases) {
    for (const std::size_t count : {0U, 1U, 2U, 3U, 1000U, 1024U}) {
      std::vector<Circle::Point> points;
      for (std::size_t i = 0; i < count; ++i) {
        points.push_back({one.position(random()), static_cast<MemberIndex>(random() % 11)});
      }
      auto sorted = points;
      std::sort(sorted.begin(), sorted.end());
      EXPECT_EQ(Circle::in_order(points, one.bits), sorted) << one.how << ' ' << count;
    }
  }
}

TEST(Circle, OfNoPointsOwnsNothing) { EXPECT_THAT(owners(Circle({}), 5, 3), IsEmpty()); }

}  // namespace
}  // namespace ringside::shard
