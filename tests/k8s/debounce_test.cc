#include "k8s/debounce.h"

#include <gtest/gtest.h>

namespace ringside::k8s {
namespace {

using namespace std::chrono_literals;

SteadyPoint at(Milliseconds time) { return SteadyPoint{time}; }

TEST(DebounceTest, NewsAreDueWhenNoneCameForAWhile) {
  Debounce debounce(50ms, 250ms);
  EXPECT_EQ(debounce.due(), std::nullopt);
  debounce.news(at(1'000ms));
  EXPECT_EQ(debounce.due(), at(1'050ms));
  debounce.news(at(1'040ms));
  EXPECT_EQ(debounce.due(), at(1'090ms));
}

TEST(DebounceTest, NoLaterThanTheMostAfterTheFirst) {
  Debounce debounce(50ms, 250ms);
  for (Milliseconds time = 1'000ms; time < 2'000ms; time += 10ms) debounce.news(at(time));
  EXPECT_EQ(debounce.due(), at(1'250ms));
}

TEST(DebounceTest, AfterPublishingItBeginsAgain) {
  Debounce debounce(50ms, 250ms);
  debounce.news(at(1'000ms));
  debounce.published();
  EXPECT_EQ(debounce.due(), std::nullopt);
  debounce.news(at(1'200ms));
  EXPECT_EQ(debounce.due(), at(1'250ms));
}

}  // namespace
}  // namespace ringside::k8s
