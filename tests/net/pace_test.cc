#include "net/pace.h"

#include <gtest/gtest.h>

namespace ringside::net {
namespace {

constexpr Milliseconds second{1'000};
constexpr Milliseconds grace{10'000};

TEST(Pace, WaitingTakesFromTheGraceAndBytesPutBack) {
  Pace pace(grace, 256);
  EXPECT_EQ(pace.left(), grace);
  pace.waited(3 * second);
  EXPECT_EQ(pace.left(), 7 * second);
  pace.moved(256);
  EXPECT_EQ(pace.left(), 8 * second);
  pace.moved(64);
  EXPECT_EQ(pace.left(), Milliseconds{8'250});
}

TEST(Pace, NothingIsSavedAboveTheGrace) {
  for (const std::size_t bytes : {std::size_t{2'561}, std::size_t{1} << 20, SIZE_MAX}) {
    Pace pace(grace, 256);
    pace.moved(bytes);
    EXPECT_EQ(pace.left(), grace);
    pace.waited(10 * second);
    pace.moved(bytes);
    EXPECT_EQ(pace.left(), grace) << bytes;
  }
}

TEST(Pace, WhoIsLateOwesTheTime) {
  Pace pace(grace, 256);
  pace.waited(25 * second);
  EXPECT_EQ(pace.left(), -15 * second);
  pace.moved(256);
  EXPECT_EQ(pace.left(), -14 * second);
  pace.restart();
  EXPECT_EQ(pace.left(), grace);
}

// Rows of a rate that is kept up, and how long it is borne; 0: for an hour and more.
TEST(Pace, BearsTheLeastRateForEverAndLessForAWhile) {
  struct Row {
    std::size_t bytes_s;
    int seconds;
  };
  for (const Row& row : {Row{256, 0}, Row{10'000, 0}, Row{255, 2'560}, Row{128, 20}, Row{0, 10}}) {
    Pace pace(grace, 256);
    int lasted = 0;
    while (lasted < 3'600 && pace.left().count() > 0) {
      pace.waited(second);
      if (pace.left().count() > 0) pace.moved(row.bytes_s);
      ++lasted;
    }
    if (row.seconds == 0) {
      EXPECT_EQ(lasted, 3'600) << row.bytes_s;
    } else {
      EXPECT_NEAR(lasted, row.seconds, 1 + row.seconds * 0.1) << row.bytes_s;
    }
  }
}

}  // namespace
}  // namespace ringside::net
