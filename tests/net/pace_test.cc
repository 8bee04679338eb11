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

TEST(Pace, AnUploadIsWaitedForInProportionToWhatCame) {
  constexpr std::size_t rate = limits::upload_rate_least_bytes_s;
  constexpr Milliseconds upload_grace = limits::upload_grace;
  struct Row {
    std::uint64_t came_bytes;
    std::chrono::microseconds patience;
  };
  constexpr Seconds for_most{limits::request_body_size_bytes / rate};
  for (const Row& row :
       {Row{0, upload_grace}, Row{rate, upload_grace + second},
        Row{rate / 2, upload_grace + second / 2}, Row{3'600 * rate, upload_grace + Seconds{3'600}},
        Row{limits::request_body_size_bytes, upload_grace + for_most},
        Row{UINT64_MAX, upload_grace + for_most}}) {
    EXPECT_EQ(upload_patience(row.came_bytes), row.patience) << row.came_bytes;
  }
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
