#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/cache/some_giver.h"

// When a giver knows that a batch has arrived.
namespace ringside::cache {
namespace {

TEST(BatchConfirmation, WhatWasNotConfirmedStaysAndIsSentAgain) {
  Giver giver;
  const shard::Bucket bucket = giver.buckets[0];
  giver.put("/x", bucket, "x");
  EXPECT_EQ(giver.batch(1).bodies, std::vector<std::string>{"x"});
  EXPECT_EQ(giver.store.count_of(bucket), 1U);
  EXPECT_FALSE(giver.holders.answers_for(bucket)) << "it is given, and may have arrived";
  EXPECT_EQ(giver.batch(1).bodies, std::vector<std::string>{"x"});
  EXPECT_EQ(giver.batch(77).bodies, std::vector<std::string>{"x"}) << "a new beginning";
  EXPECT_EQ(giver.store.count_of(bucket), 1U);
  static_cast<void>(giver.batch(78));
  EXPECT_EQ(giver.store.count_of(bucket), 0U);
}

// A question for the last batch came once more, late, and was answered to nobody. The taker's next
// one was taken for its confirmation: the bucket was nobody's, and a page was fetched twice.
TEST(BatchConfirmation, WhatALateQuestionWasAnsweredDoesNotCountAsArrived) {
  Giver giver;
  const shard::Bucket bucket = giver.buckets[0];
  const auto first = giver.source.answer({"b", 1}, asked_now);
  giver.put("/x", bucket, "x");
  static_cast<void>(giver.source.answer({"b", 1}, asked_now));
  EXPECT_EQ(Giver::read(giver.source.answer({"b", 2, first.serial}, asked_now).batch).bodies,
            std::vector<std::string>{"x"});
  EXPECT_EQ(giver.store.count_of(bucket), 1U);
  EXPECT_GT(giver.holders.own().epoch(bucket), 0U);
}

TEST(BatchConfirmation, ATakerOfAnOlderVersionConfirmsByTheNumberAlone) {
  Giver giver;
  const shard::Bucket bucket = giver.buckets[0];
  giver.put("/x", bucket, "x");
  for (const std::uint64_t number : {1U, 2U}) {
    static_cast<void>(giver.source.answer({"b", number}, asked_now));
  }
  EXPECT_EQ(giver.store.count_of(bucket), 0U);
  EXPECT_EQ(giver.holders.own().epoch(bucket), 0U);
}

}  // namespace
}  // namespace ringside::cache
