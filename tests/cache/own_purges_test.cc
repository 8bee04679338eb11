#include "cache/own_purges.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

namespace ringside::cache {
namespace {

TEST(OwnPurges, TellsWhoHasMissedSomethingUntilItHasHeededTheLastOne) {
  OwnPurges purges("a");
  EXPECT_FALSE(purges.news("cache-1"));
  const OwnPurges::Issued first(purges);
  purges.missed("cache-1");
  const OwnPurges::Issued second(purges);
  auto news = purges.news("cache-1");
  ASSERT_TRUE(news);
  EXPECT_EQ(news->number, 1U);
  EXPECT_EQ(tier::to_text(news->last), "a 2") << "its store is emptied after both have begun";
  EXPECT_FALSE(purges.news("cache-2"));

  purges.missed("cache-1");
  purges.heeded("cache-1", 1);
  news = purges.news("cache-1");
  ASSERT_TRUE(news) << "what it missed since is news";
  EXPECT_EQ(news->number, 2U);
  purges.heeded("cache-1", 2);
  EXPECT_FALSE(purges.news("cache-1"));
}

// The first that another one hears of stands for all that are settled.
TEST(OwnPurges, SettlesWhatIsNotUnderWayAnyMore) {
  OwnPurges purges("a");
  std::optional<OwnPurges::Issued> first(std::in_place, purges);
  EXPECT_EQ(first->number(), (tier::PurgeNumber{"a", 1, 0}));
  {
    const OwnPurges::Issued second(purges);
    EXPECT_EQ(second.number(), (tier::PurgeNumber{"a", 2, 0}));
  }
  first.reset();
  const OwnPurges::Issued third(purges);
  EXPECT_EQ(third.number(), (tier::PurgeNumber{"a", 3, 2}));
}

TEST(OwnPurges, ForgetsWhoMissedSomethingLongestAgoWhenThereAreTooManyNames) {
  OwnPurges purges("a");
  std::optional<OwnPurges::Issued> one(std::in_place, purges);
  purges.missed("m");
  one.emplace(purges);
  for (std::size_t i = 0; i < limits::replicas_remembered; ++i) {
    purges.missed("cache-" + std::to_string(i));
  }
  EXPECT_FALSE(purges.news("m"));
  EXPECT_TRUE(purges.news("cache-0"));
  EXPECT_TRUE(purges.news("cache-" + std::to_string(limits::replicas_remembered - 1)));
}

}  // namespace
}  // namespace ringside::cache
