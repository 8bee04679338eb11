#include "metrics/process.h"

#include <gtest/gtest.h>

#include <string>

namespace ringside::metrics {
namespace {

constexpr ProcessUnits units{.ticks_per_second = 100, .page_size_bytes = 4096};
constexpr std::string_view system_stat = "cpu  1 2 3\nbtime 1700000000\nprocesses 9\n";

// proc(5): pid, (comm), state, …, 14 utime 250, 15 stime 150, …, 22 starttime 1050, 23 vsize, 24
// rss 3.
std::string process_stat(const std::string& name) {
  return "77 (" + name +
         ") S 1 77 77 0 -1 4194560 1 0 0 0 250 150 0 0 20 0 4 0 1050 8192 3 18446744073709551615\n";
}

TEST(Process, IsReadFromWhatTheKernelWrites) {
  for (const char* name : {"ringside", "a b", "a) S 1 (b", ")("}) {
    SCOPED_TRACE(name);
    const auto figures = process_from(process_stat(name), system_stat, units);
    ASSERT_TRUE(figures);
    EXPECT_DOUBLE_EQ(figures->cpu_seconds, 4.0);
    EXPECT_DOUBLE_EQ(figures->start_time_seconds, 1700000010.5);
    EXPECT_EQ(figures->resident_memory_bytes, 3u * 4096);
  }
}

TEST(Process, IsNothingWhereTheFormIsAnother) {
  EXPECT_FALSE(process_from("", system_stat, units));
  EXPECT_FALSE(process_from("77 (ringside) S 1 77", system_stat, units));
  EXPECT_FALSE(process_from("77 ringside S 1 77", system_stat, units));
  EXPECT_FALSE(process_from(process_stat("ringside"), "cpu 1\n", units));
  EXPECT_FALSE(process_from(process_stat("ringside"), "cpu 1\nbtime x\n", units));
}

TEST(Process, ReadsThisOne) {
  const auto figures = read_process();
  ASSERT_TRUE(figures);
  EXPECT_GT(figures->resident_memory_bytes, 0u);
  EXPECT_GE(figures->open_fds, 3u);
  EXPECT_GT(figures->start_time_seconds, 1.6e9);
}

}  // namespace
}  // namespace ringside::metrics
