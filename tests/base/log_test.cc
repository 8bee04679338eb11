#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace ringside::log {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

template <class Write>
std::string written_by(Write write) {
  ::testing::internal::CaptureStderr();
  write();
  return ::testing::internal::GetCapturedStderr();
}

TEST(Log, NoInputCanForgeALine) {
  const std::string out =
      written_by([] { warning("path {}", "/a\n2026-01-01 error forged\r\x1b[31m\t\x7f"); });
  EXPECT_THAT(out, HasSubstr("/a\\x0a2026-01-01 error forged\\x0d\\x1b[31m\\x09\\x7f"));
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 1);
  EXPECT_EQ(out.back(), '\n');
}

TEST(Log, KeepsTextThatIsNotAscii) {
  EXPECT_THAT(written_by([] { info("Zürich {{}} {}", 100 % 7); }), HasSubstr("info Zürich {} 2\n"));
}

TEST(Log, BracesInAMessageAreNoFormat) {
  EXPECT_THAT(written_by([] { write(Level::error, "{} {0} %v"); }), HasSubstr("error {} {0} %v\n"));
}

TEST(Log, WritesFromTheThresholdUp) {
  set_level(Level::error);
  EXPECT_THAT(written_by([] { warning("low"); }), IsEmpty());
  EXPECT_THAT(written_by([] { error("high"); }), HasSubstr("high"));
  set_level(Level::info);
  EXPECT_THAT(written_by([] { warning("low"); }), Not(IsEmpty()));
  EXPECT_THAT(written_by([] { write(Level::debug, "lowest"); }), IsEmpty());
}

}  // namespace
}  // namespace ringside::log
