#include "cache/slabs.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <random>
#include <vector>

#include "base/limits.h"

namespace ringside::cache {
namespace {

using limits::kKiB;
using limits::kMiB;

constexpr std::size_t blocks_per_slab = kMiB / Slabs::block_bytes;

TEST(Slabs, GivesRunsThatDoNotOverlapAndKeepWhatIsWrittenOnThem) {
  Slabs slabs(8 * kMiB);
  std::mt19937 random(1);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same each time
  struct Held {
    Slabs::Run run;
    char letter;
  };
  std::vector<Held> held;
  std::size_t used_bytes = 0;
  for (unsigned step = 0; step < 20'000; ++step) {
    if (used_bytes < 7 * kMiB && random() % 2 == 0) {
      const Slabs::Run run = slabs.allocate(1 + random() % 200);
      ASSERT_GT(run.blocks, 0U);
      const char letter = static_cast<char>(random());
      std::memset(run.bytes, letter, run.size_bytes());
      used_bytes += run.size_bytes();
      held.push_back({run, letter});
    } else if (!held.empty()) {
      std::swap(held[random() % held.size()], held.back());
      const auto [run, letter] = held.back();
      ASSERT_EQ(std::string_view(run.bytes, run.size_bytes()),
                std::string(run.size_bytes(), letter));
      used_bytes -= run.size_bytes();
      slabs.free(run);
      held.pop_back();
    }
    ASSERT_EQ(slabs.used_bytes(), used_bytes);
    ASSERT_GE(slabs.held_bytes(), used_bytes);
  }
  for (const Held& one : held) slabs.free(one.run);
  EXPECT_EQ(slabs.used_bytes(), 0U);
  EXPECT_EQ(slabs.excess_bytes(), 0U);
}

TEST(Slabs, TellsHowManyPagesOfARunTheKernelHasStillToGive) {
  constexpr std::size_t blocks = 64;
  Slabs slabs(8 * kMiB);
  const Slabs::Run run = slabs.allocate(blocks);
  EXPECT_EQ(run.fresh_pages * page_bytes, run.size_bytes());
  Slabs::populate(run);
  EXPECT_EQ(run.bytes[run.size_bytes() - 1], '\0');
  std::memset(run.bytes, 'x', run.size_bytes());
  slabs.free(run);
  const Slabs::Run again = slabs.allocate(blocks);
  EXPECT_EQ(again.bytes, run.bytes);
  EXPECT_EQ(again.fresh_pages, 0U);
  Slabs::populate(again);
  EXPECT_EQ(again.bytes[0], 'x');
  slabs.free(again);
}

TEST(Slabs, ALargeBodyLiesWhereManySmallOnesWere) {
  Slabs slabs(2 * kMiB);  // and one slab more
  std::vector<Slabs::Run> small;
  while (slabs.used_bytes() < 3 * kMiB) small.push_back(slabs.allocate(8));
  for (std::size_t index = 0; index < small.size(); index += 2) slabs.free(small[index]);
  const std::size_t held_bytes = slabs.held_bytes();
  std::vector<Slabs::Run> large;
  std::size_t blocks = 128;
  while (blocks > 0) {
    large.push_back(slabs.allocate(blocks));
    ASSERT_GT(large.back().blocks, 0U);
    blocks -= large.back().blocks;
  }
  EXPECT_EQ(large.size(), 16U);
  EXPECT_LE(slabs.held_bytes(), held_bytes + 64 * kKiB);
}

TEST(Slabs, WhatIsFreeBeyondTheSlackGoesBackToTheKernel) {
  Slabs slabs(16 * kMiB);
  std::vector<Slabs::Run> runs;
  while (slabs.used_bytes() < 16 * kMiB) runs.push_back(slabs.allocate(128));
  EXPECT_EQ(slabs.held_bytes(), 16 * kMiB);
  for (const Slabs::Run& run : runs) slabs.free(run);
  EXPECT_EQ(slabs.used_bytes(), 0U);
  EXPECT_LE(slabs.held_bytes(), slabs.slack_bytes());
  EXPECT_EQ(slabs.excess_bytes(), 0U);
}

// What had just been freed went back, and was what was taken next, while pages that a large body
// had left were the slack for good: each piece of a body in passing cost two calls.
TEST(Slabs, ABodyInPassingNeedsNoPagesOfTheKernelAgainAndAgain) {
  Slabs slabs(48 * kMiB);
  std::vector<Slabs::Run> large;
  while (slabs.used_bytes() < 6 * kMiB) large.push_back(slabs.allocate(128));
  std::deque<Slabs::Run> window;
  const auto pass = [&](std::size_t pieces) {
    std::size_t fresh_pages = 0;
    for (std::size_t i = 0; i < pieces; ++i) {
      window.push_back(slabs.allocate(128));
      fresh_pages += window.back().fresh_pages;
      if (i % 16 != 15) continue;  // all 16 are read at once
      for (; window.size() > 8; window.pop_front()) slabs.free(window.front());
    }
    return fresh_pages;
  };
  pass(64);
  for (const Slabs::Run& run : large) slabs.free(run);
  pass(64);
  EXPECT_EQ(pass(640), 0U);
  EXPECT_LE(slabs.held_bytes(), slabs.used_bytes() + slabs.slack_bytes());
}

// One block of each page stays in use.
void use_a_bit_of_each_page(Slabs& slabs, std::size_t size_bytes) {
  std::vector<Slabs::Run> runs;
  while (slabs.used_bytes() < size_bytes) runs.push_back(slabs.allocate(1));
  for (std::size_t index = 0; index < runs.size(); ++index) {
    if (index % 8 != 0) slabs.free(runs[index]);
  }
}

TEST(Slabs, WhatCanNotGoBackIsToldAsExcess) {
  Slabs slabs(4 * kMiB);
  use_a_bit_of_each_page(slabs, 4 * kMiB);
  EXPECT_EQ(slabs.held_bytes(), 4 * kMiB);
  EXPECT_EQ(slabs.excess_bytes(), 4 * kMiB - 512 * kKiB - slabs.slack_bytes());
}

// What lay between bodies took up the slack, so that no free page was kept.
TEST(Slabs, PagesAreKeptForTheNextBodyWhateverLiesBetweenBodies) {
  Slabs slabs(16 * kMiB);
  use_a_bit_of_each_page(slabs, 8 * kMiB);
  ASSERT_GT(slabs.excess_bytes(), 0U);
  std::size_t fresh_pages = 0;
  for (int i = 0; i < 10; ++i) {
    const Slabs::Run run = slabs.allocate(128);
    ASSERT_EQ(run.blocks, 128U);
    fresh_pages += run.fresh_pages;
    slabs.free(run);
  }
  EXPECT_EQ(fresh_pages, 16U) << "those of the first one";
}

TEST(Slabs, AWholeSlabIsTheMostInOneRun) {
  Slabs slabs(kMiB);
  const Slabs::Run whole = slabs.allocate(3 * blocks_per_slab);
  EXPECT_EQ(whole.blocks, blocks_per_slab);
  EXPECT_EQ(slabs.allocate(blocks_per_slab).blocks, blocks_per_slab);
  // All that may be mapped is used; what is needed is mapped all the same.
  EXPECT_EQ(slabs.allocate(blocks_per_slab).blocks, blocks_per_slab);
}

}  // namespace
}  // namespace ringside::cache
