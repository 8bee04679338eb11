#include "cache/cells.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace ringside::cache {
namespace {

struct Held {
  void* cell;
  std::size_t bytes;
  char letter;
};

void hold_and_free(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Held> held;
  Cells& cells = Cells::all();
  for (unsigned step = 0; step < 20'000; ++step) {
    if (held.size() < 3000 && random() % 3 != 0) {
      const std::size_t bytes = random() % (random() % 8 == 0 ? 5000 : 300);
      void* const cell = cells.allocate(bytes);
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(cell) % 16, 0U);
      held.push_back({cell, bytes, static_cast<char>(random())});
      std::memset(cell, held.back().letter, bytes);
    } else if (!held.empty()) {
      std::swap(held[random() % held.size()], held.back());
      const auto [cell, bytes, letter] = held.back();
      ASSERT_EQ(std::string_view(static_cast<char*>(cell), bytes), std::string(bytes, letter));
      cells.free(cell, bytes);
      held.pop_back();
    }
  }
  for (const Held& one : held) cells.free(one.cell, one.bytes);
}

TEST(Cells, KeepWhatIsWrittenOnThemFromAllThreads) {
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed) threads.emplace_back(hold_and_free, seed);
  for (std::thread& thread : threads) thread.join();
}

TEST(Cells, OfOneSizeDoNotOverlap) {
  Cells& cells = Cells::all();
  std::set<char*> seen;
  for (unsigned number = 0; number < 1000; ++number) {
    seen.insert(static_cast<char*>(cells.allocate(100)));
  }
  EXPECT_EQ(seen.size(), 1000U);
  char* before = nullptr;
  for (char* cell : seen) {
    EXPECT_TRUE(before == nullptr || cell - before >= 100);
    before = cell;
  }
  for (char* cell : seen) cells.free(cell, 100);
}

// What nearly empty pages hold is told, so that a store can make it up.
TEST(Cells, PagesThatAreNotFullAreToldAsExcess) {
  Cells& cells = Cells::all();
  std::vector<void*> some;
  some.reserve(160'000);
  for (unsigned number = 0; number < 160'000; ++number) some.push_back(cells.allocate(100));
  const std::size_t before = cells.excess_bytes();
  for (unsigned number = 0; number < 160'000; ++number) {
    if (number % 20 != 0) cells.free(some[number], 100);
  }
  const std::size_t excess = cells.excess_bytes();
  for (unsigned number = 0; number < 160'000; number += 20) cells.free(some[number], 100);
  EXPECT_LE(cells.excess_bytes(), before + 64 * 1024);
  if (excess == 0) GTEST_SKIP() << "sanitizers look at what the allocator gives";
  EXPECT_GT(excess, std::size_t{10} * 1024 * 1024);
}

}  // namespace
}  // namespace ringside::cache
