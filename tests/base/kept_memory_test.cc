#include "base/kept_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "base/limits.h"

namespace ringside {
namespace {

TEST(KeptMemory, HasRoomForWhatWasAskedFor) {
  for (const std::size_t size_bytes :
       {std::size_t{1}, std::size_t{64}, std::size_t{65}, limits::kept_block_size_bytes,
        limits::kept_block_size_bytes + 1}) {
    void* const block = allocate_kept(size_bytes);
    std::memset(block, 0xab, size_bytes);
    free_kept(block, size_bytes);
  }
}

// Blocks in use never lie in each other, whatever was given back before and on which thread.
TEST(KeptMemory, NoBlockIsGivenTwice) {
  constexpr std::size_t size_bytes = 1000;
  std::vector<void*> blocks;
  for (int i = 0; i < 200; ++i) blocks.push_back(allocate_kept(size_bytes));
  std::thread([&] {
    for (int i = 0; i < 100; ++i) free_kept(blocks[static_cast<std::size_t>(i)], size_bytes);
  }).join();
  for (std::size_t i = 100; i < blocks.size(); ++i) free_kept(blocks[i], size_bytes);
  std::set<void*> given;
  for (void*& block : blocks) {
    block = allocate_kept(size_bytes);
    std::memset(block, 0xcd, size_bytes);
    EXPECT_TRUE(given.insert(block).second);
  }
  for (void* block : blocks) free_kept(block, size_bytes);
}

}  // namespace
}  // namespace ringside
