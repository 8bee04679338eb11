#include "program/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/limits.h"

namespace ringside::program {
namespace {

using limits::kMiB;
using testing::HasSubstr;

constexpr std::uint64_t kGiB = 1024 * kMiB;

TEST(Machine, IsWhatTheControlGroupsLeaveOfIt) {
  struct Case {
    std::optional<double> quota;
    std::optional<std::uint64_t> limit_bytes;
    std::size_t cores;
    std::uint64_t memory_bytes;
    std::size_t expected_cores;
    std::uint64_t expected_bytes;
  };
  const std::vector<Case> cases{
      {std::nullopt, std::nullopt, 8, kGiB, 8, kGiB},
      {2.0, 256 * kMiB, 8, kGiB, 2, 256 * kMiB},
      {1.5, kGiB, 8, kGiB, 2, kGiB},            // a part of a core is worth a thread
      {0.05, 2 * kGiB, 8, kGiB, 1, kGiB},       // a limit beyond what there is
      {7.1, std::nullopt, 8, kGiB, 8, kGiB},    //
      {64.0, std::nullopt, 8, kGiB, 8, kGiB},   //
      {1e300, std::nullopt, 8, kGiB, 8, kGiB},  // nothing that fits an integer
      {std::nullopt, kGiB, 0, 0, 1, kGiB},      // the machine itself is not known
      {0.5, std::nullopt, 0, 0, 1, 0},
  };
  for (const Case& one : cases) {
    const Machine machine =
        machine_within({one.limit_bytes, one.quota, {}}, one.cores, one.memory_bytes);
    EXPECT_EQ(machine.cores, one.expected_cores) << one.quota.value_or(-1);
    EXPECT_EQ(machine.memory_bytes, one.expected_bytes) << one.quota.value_or(-1);
  }
}

TEST(Machine, AStoreHasItsSizeOrItsShare) {
  struct Case {
    StoreMemory memory;
    std::uint64_t machine_bytes;
    std::size_t expected_bytes;
  };
  const std::vector<Case> cases{
      {{}, kGiB, limits::store_memory_bytes},
      {{5, 0}, kGiB, 5},
      {{0, 75}, kGiB, 768 * kMiB},
      {{0, 75}, 256 * kMiB + 1, 192 * kMiB},
      {{0, 90}, 101 * kMiB, 90 * kMiB},  // whole MiB, less rather than more
      {{0, 1}, 64 * kMiB, kMiB},         // never less than what is of use
      {{0, 50}, 0, kMiB},
      {{0, 90}, ~std::uint64_t{0}, limits::store_memory_most_bytes},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(store_bytes(one.memory, {1, one.machine_bytes}), one.expected_bytes)
        << one.memory.percent << "% of " << one.machine_bytes;
  }
}

TEST(Machine, AStoreThatFillsItIsWarnedOf) {
  EXPECT_EQ(memory_warning({0, 90}, {1, kGiB}), "");
  EXPECT_EQ(memory_warning({kGiB, 0}, {1, 2 * kGiB}), "");
  EXPECT_EQ(memory_warning({kGiB, 0}, {1, 0}), "");  // nobody knows
  EXPECT_THAT(memory_warning({kGiB, 0}, {1, kGiB}),
              HasSubstr("a store of 1GiB is more than 90% of the 1GiB"));
  EXPECT_THAT(memory_warning({}, {1, 256 * kMiB}), HasSubstr("a share such as 75%"));
}

// 300 idle connections at a limit of 256 descriptors left none for a probe.
TEST(Machine, ConnectionsHaveAShareOfItThatLeavesTheRestToOthers) {
  struct Case {
    std::uint64_t memory_bytes, descriptors;
    std::size_t halves;
    std::size_t connections, buffered_bytes;
  };
  const std::size_t most = limits::threads * limits::connections_per_core;
  for (const Case& one : std::vector<Case>{
           {0, 0, 1, most, limits::buffered_bytes},
           {0, 256, 1, 96, limits::buffered_bytes},
           {0, 1'024, 1, 480, limits::buffered_bytes},
           {0, 1'024, 4, 120, limits::buffered_bytes},
           {0, 1'048'576, 1, 786'144, limits::buffered_bytes},
           {200 * kMiB, 0, 1, 1'024, 40 * kMiB},
           {200 * kMiB, 0, 2, 512, 20 * kMiB},
           {200 * kMiB, 256, 2, 48, 20 * kMiB},
           {64 * kGiB, 0, 1, 335'544, limits::buffered_bytes},
           {0, 3, 11, 1, limits::buffered_bytes},
       }) {
    const Machine machine{1, one.memory_bytes, one.descriptors};
    EXPECT_EQ(allowance(machine, one.halves), (Allowance{one.connections, one.buffered_bytes}))
        << one.memory_bytes << ' ' << one.descriptors << ' ' << one.halves;
  }
}

TEST(Machine, ThisOneIsKnown) {
  const Machine& machine = this_machine().machine;
  EXPECT_GE(machine.cores, 1U);
  EXPECT_LE(machine.cores, std::thread::hardware_concurrency());
  EXPECT_GT(machine.memory_bytes, 16 * kMiB);
  EXPECT_TRUE(this_machine().complaints.empty());
}

}  // namespace
}  // namespace ringside::program
