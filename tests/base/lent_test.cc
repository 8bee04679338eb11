#include "base/lent.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "base/limits.h"

namespace ringside {
namespace {

struct Text {
  std::string text;
  [[nodiscard]] std::size_t room_bytes() const noexcept { return text.capacity(); }
};

TEST(Lent, WhatIsGivenBackIsLentAgainWithItsRoom) {
  if (!keeps_memory) GTEST_SKIP() << "under a sanitizer nothing is kept";
  Lent<Text> first;
  first->text.assign(1'000, 'a');
  const Text* const value = &*first;
  Lent<Text> other;
  EXPECT_NE(&*other, value);
  first.give_back();
  Lent<Text> next;
  EXPECT_EQ(&*next, value);
  EXPECT_GE(next->text.capacity(), 1'000U);
}

TEST(Lent, WhatHasGrownLargeIsNotKept) {
  Lent<Text> large;
  large->text.reserve(limits::kept_block_size_bytes + 1);
  large.give_back();
  EXPECT_LE(large->text.capacity(), limits::kept_block_size_bytes);
}

TEST(Lent, NothingThatWasNeverLookedAtIsTaken) {
  Lent<Text> unused;
  unused.give_back();
  unused.give_back();
}

TEST(Lent, MayEndOnAnotherThreadThanItBegan) {
  auto lent = std::make_unique<Lent<Text>>();
  (*lent)->text = "a";
  std::thread([&] { lent.reset(); }).join();
  EXPECT_EQ(lent, nullptr);
}

}  // namespace
}  // namespace ringside
