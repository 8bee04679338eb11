#include "k8s/event_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/limits.h"
#include "k8s/api_json.h"
#include "tests/k8s/some_objects.h"

namespace ringside::k8s {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Taken {
  std::vector<std::string> lines;
  EventLines::Taker taker = [this](std::string_view line) {
    lines.emplace_back(line);
    return Outcome<void>();
  };
};

TEST(EventLines, AreTheSameHoweverTheBytesCome) {
  const std::string_view bytes = "one\n\ntwo\r\n\r\n three \n";
  for (std::size_t size = 1; size <= bytes.size(); ++size) {
    EventLines lines;
    Taken taken;
    for (std::size_t at = 0; at < bytes.size(); at += size) {
      ASSERT_TRUE(lines.add(bytes.substr(at, size), taken.taker));
    }
    EXPECT_THAT(taken.lines, ElementsAre("one", "two", " three ")) << "pieces of " << size;
    EXPECT_FALSE(lines.has_unfinished());
  }
}

TEST(EventLines, TellOfALineThatWasCut) {
  EventLines lines;
  Taken taken;
  ASSERT_TRUE(lines.add("whole\nha", taken.taker));
  EXPECT_TRUE(lines.has_unfinished());
  ASSERT_TRUE(lines.add("lf", taken.taker));
  EXPECT_THAT(taken.lines, ElementsAre("whole"));
  ASSERT_TRUE(lines.add("\n", taken.taker));
  EXPECT_THAT(taken.lines, ElementsAre("whole", "half"));
  EXPECT_FALSE(lines.has_unfinished());
}

TEST(EventLines, ForgetWhatWasBegun) {
  EventLines lines;
  Taken taken;
  ASSERT_TRUE(lines.add("of the old connection", taken.taker));
  lines.clear();
  EXPECT_FALSE(lines.has_unfinished());
  ASSERT_TRUE(lines.add("new\n", taken.taker));
  EXPECT_THAT(taken.lines, ElementsAre("new"));
}

TEST(EventLines, HaveALimitInOnePieceAndInMany) {
  const std::string most(limits::api_event_size_bytes, 'x');
  Taken taken;
  EventLines lines;
  ASSERT_TRUE(lines.add(most + "\n" + most, taken.taker));
  EXPECT_EQ(taken.lines.size(), 1U);
  EXPECT_TRUE(failed_as(lines.add("x", taken.taker), FailureReason::malformed, "4194304 bytes"));

  EventLines at_once;
  EXPECT_TRUE(failed_as(at_once.add(most + "x", taken.taker), FailureReason::malformed));
  EventLines with_end;
  EXPECT_TRUE(failed_as(with_end.add(most + "x\n", taken.taker), FailureReason::malformed));
  EXPECT_EQ(taken.lines.size(), 1U);
}

TEST(EventLines, EndWithTheTakersFailure) {
  EventLines lines;
  std::vector<std::string> seen;
  const auto taker = [&](std::string_view line) -> Outcome<void> {
    seen.emplace_back(line);
    if (line == "bad") return malformed("bad");
    return {};
  };
  EXPECT_TRUE(failed_as(lines.add("good\nbad\nnever\n", taker), FailureReason::malformed, "bad"));
  EXPECT_THAT(seen, ElementsAre("good", "bad"));
  EventLines in_pieces;
  seen.clear();
  ASSERT_TRUE(in_pieces.add("ba", taker));
  EXPECT_THAT(seen, IsEmpty());
  EXPECT_TRUE(failed_as(in_pieces.add("d\nnever", taker), FailureReason::malformed));
  EXPECT_FALSE(in_pieces.has_unfinished());
}

}  // namespace
}  // namespace ringside::k8s
