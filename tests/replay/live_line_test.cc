#include "replay/live_line.h"

#include <gtest/gtest.h>

namespace ringside::replay {
namespace {

TEST(ProgressText, RatesAreOfTheLastWindow) {
  const Client::Progress earlier{1000, 1000, 1000, 500, 0};
  const Client::Progress now{3010, 3000, 3000, 2300, 1};
  const std::string text =
      progress_text(now, earlier, std::chrono::milliseconds(500), 8000, "during");
  for (const char* part :
       {"3000 of 8000", "4000/s", "90.0 % now", "76.7 % in all", "errors 1", "during"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
}

TEST(ProgressText, NothingYetIsNoRate) {
  EXPECT_NE(progress_text({}, {}, {}, 10, "").find("hit rate - now"), std::string::npos);
}

TEST(LiveLine, SaysNothingWhereThereIsNoTerminal) {
  testing::internal::CaptureStdout();
  LiveLine line(false);
  line.show({10, 10, 10, 10, 0}, 20, "", SteadyPoint{std::chrono::seconds(1)});
  line.show({20, 20, 20, 20, 0}, 20, "", SteadyPoint{std::chrono::seconds(9)});
  line.clear();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(LiveLine, IsWrittenOverAndCleared) {
  testing::internal::CaptureStdout();
  LiveLine line(true);
  line.show({10, 10, 10, 10, 0}, 20, "", SteadyPoint{std::chrono::seconds(1)});
  line.show({20, 20, 20, 20, 0}, 20, "", SteadyPoint{std::chrono::seconds(2)});
  line.clear();
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(text.starts_with("\r\x1b[K")) << text;
  EXPECT_TRUE(text.ends_with("\r\x1b[K")) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace ringside::replay
