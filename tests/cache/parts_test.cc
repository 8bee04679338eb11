#include "cache/parts.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/cache/some_part.h"

namespace ringside::cache {
namespace {

using Spans = std::vector<http::ByteSpan>;

TEST(Covers, WhatLiesInWhatIsStored) {
  const auto part = part_of("34567", 3, 10);
  const auto whole = whole_of("0123456789");
  const auto nothing = whole_of("");
  struct Row {
    StoredPointer stored;
    Spans spans;
    bool covered;
  };
  const std::vector<Row> rows{
      {part, {{3, 7}}, true},          {part, {{4, 5}}, true},           {part, {{2, 3}}, false},
      {part, {{7, 8}}, false},         {part, {{0, 9}}, false},          {part, {}, true},
      {part, {{7, 7}, {3, 3}}, true},  {part, {{3, 3}, {8, 8}}, false},  {part, {{8, 9}}, false},
      {whole, {{0, 9}}, true},         {whole, {{9, 10}}, false},        {nothing, {{0, 0}}, false},
      {part, {{0, ~0ULL - 1}}, false}, {whole, {{0, ~0ULL - 1}}, false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(covers(*row.stored, row.spans), row.covered) << &row - rows.data();
  }
}

TEST(CompleteLength, OfAPartAndOfAWhole) {
  EXPECT_EQ(complete_length_bytes(*part_of("34567", 3, 10)), 10U);
  EXPECT_EQ(complete_length_bytes(*whole_of("34567")), 5U);
  EXPECT_EQ(complete_length_bytes(*whole_of("")), 0U);
}

// `stored` has digits and `fresh` letters, so that it shows whose bytes are taken.
TEST(Combined, Rfc9111Section3_4Rfc9110Section15_3_7_3PartsThatTouch) {
  const std::string digits = "0123456789";
  const std::string letters = "abcdefghij";
  struct Row {
    http::ByteSpan stored, fresh;
    std::uint64_t first;
    std::string bytes;
  };
  const std::vector<Row> rows{
      {{0, 2}, {3, 6}, 0, "012defg"},    {{3, 6}, {0, 2}, 0, "abc3456"},
      {{2, 5}, {4, 7}, 2, "23efgh"},     {{4, 7}, {2, 5}, 2, "cdef67"},
      {{1, 8}, {3, 4}, 1, "12de5678"},   {{3, 4}, {1, 8}, 1, "bcdefghi"},
      {{2, 5}, {2, 5}, 2, "cdef"},       {{2, 5}, {2, 3}, 2, "cd45"},
      {{2, 5}, {4, 5}, 2, "23ef"},       {{0, 2}, {4, 6}, 4, "efg"},
      {{4, 6}, {0, 2}, 0, "abc"},        {{0, 4}, {5, 9}, 0, "01234fghij"},
      {{5, 9}, {0, 4}, 0, "abcde56789"}, {{0, 8}, {9, 9}, 0, "012345678j"},
      {{0, 9}, {4, 4}, 0, "0123e56789"}, {{0, 0}, {1, 1}, 0, "0b"},
  };
  for (const Row& row : rows) {
    const auto of = [](const std::string& bytes, const http::ByteSpan& span) {
      return part_of(bytes.substr(span.first, span.size()), span.first, 10);
    };
    const auto fresh = of(letters, row.fresh);
    const auto both = combined(*of(digits, row.stored), fresh);
    EXPECT_EQ(body_of(both), row.bytes);
    EXPECT_EQ(both->body->size_bytes, row.bytes.size()) << row.bytes;
    EXPECT_EQ(both->head, fresh->head) << row.bytes;
    EXPECT_EQ(complete_length_bytes(*both), 10U) << row.bytes;
    if (row.bytes.size() == 10) {
      EXPECT_FALSE(both->extent) << row.bytes;
    } else {
      EXPECT_EQ(both->extent, (Extent{row.first, 10})) << row.bytes;
    }
  }
}

TEST(Combined, WithAWholeIsTheWhole) {
  const auto both = combined(*whole_of("0123456789"), part_of("cde", 2, 10));
  EXPECT_EQ(body_of(both), "01cde56789");
  EXPECT_FALSE(both->extent);
}

TEST(Combined, Rfc9110Section15_3_7_3OnlyOfOneStrongValidatorAndLength) {
  const auto fresh = part_of("567", 5, 10);
  EXPECT_NE(combined(*part_of("234", 2, 10), fresh), fresh);
  for (const auto& stored :
       {part_of("234", 2, 10, "\"2\""), part_of("234", 2, 10, "W/\"1\""), part_of("234", 2, 10, ""),
        part_of("234", 2, 11), part_of("234", 2, 9)}) {
    EXPECT_EQ(combined(*stored, fresh), fresh);
  }
  for (const std::string_view etag : {"W/\"1\"", "", "1", "\"1"}) {
    const auto weak = part_of("567", 5, 10, etag);
    EXPECT_EQ(combined(*part_of("234", 2, 10, etag), weak), weak) << etag;
  }
  const auto whole = whole_of("0123456789");
  EXPECT_EQ(combined(*part_of("234", 2, 10), whole), whole);
}

TEST(Combined, SharesThePiecesThatItDoesNotCut) {
  const auto stored = part_of(std::string(200'000, 's'), 0, 400'000);
  const auto fresh = part_of(std::string(200'000, 'f'), 150'000, 400'000);
  const auto both = combined(*stored, fresh);
  ASSERT_EQ(both->body->pieces.size(), 7U);
  for (std::size_t index = 0; index < 2; ++index) {
    EXPECT_EQ(both->body->pieces[index], stored->body->pieces[index]);
  }
  EXPECT_EQ(both->body->pieces[2]->bytes().size(), 150'000U - 2 * 65'536);
  for (std::size_t index = 0; index < 4; ++index) {
    EXPECT_EQ(both->body->pieces[3 + index], fresh->body->pieces[index]);
  }
  EXPECT_EQ(body_of(both), std::string(150'000, 's') + std::string(200'000, 'f'));
}

// Two parts were fetched at once, and the later one took the place of the earlier; or a part that
// of the whole.
TEST(KeptOf, WhatIsStoredByThenIsNotLost) {
  const auto fresh = part_of("567", 5, 10);
  EXPECT_EQ(kept_of(nullptr, fresh, 100), fresh);
  EXPECT_EQ(body_of(kept_of(part_of("234", 2, 10), fresh, 6)), "234567");
  EXPECT_EQ(kept_of(part_of("234", 2, 10), fresh, 5), fresh);
  EXPECT_EQ(kept_of(part_of("123", 1, 10), fresh, 100), fresh);
  EXPECT_EQ(body_of(kept_of(whole_of("0123456789"), fresh, 100)), "0123456789");

  const auto untagged = part_of("567", 5, 10, "");
  const auto whole = whole_of("0123456789", "");
  EXPECT_EQ(kept_of(whole, untagged, 100), whole);
  EXPECT_EQ(kept_of(part_of("01234567", 0, 10, ""), untagged, 100), untagged);
  EXPECT_EQ(kept_of(whole_of("012345678", ""), untagged, 100), untagged);
  EXPECT_EQ(kept_of(whole_of("0123456789", "\"2\""), fresh, 100), fresh);
}

TEST(BytesOf, ViewsIntoThePieces) {
  std::string bytes(200'000, ' ');
  std::iota(bytes.begin(), bytes.end(), '\0');
  const auto part = part_of(bytes, 1'000, 1'000'000);
  struct Row {
    http::ByteSpan span;
    std::size_t views;
  };
  const std::vector<Row> rows{
      {{1'000, 200'999}, 4}, {{1'000, 1'000}, 1},   {{200'999, 200'999}, 1}, {{66'535, 66'535}, 1},
      {{66'536, 66'536}, 1}, {{66'535, 66'536}, 2}, {{1'001, 132'072}, 3},   {{66'536, 132'071}, 1},
  };
  for (const Row& row : rows) {
    std::string got;
    const auto views = bytes_of(*part, row.span);
    for (const std::string_view view : views) got += view;
    EXPECT_TRUE(got == bytes.substr(row.span.first - 1'000, row.span.size())) << row.span.first;
    EXPECT_EQ(views.size(), row.views) << row.span.first;
  }
}

}  // namespace
}  // namespace ringside::cache
