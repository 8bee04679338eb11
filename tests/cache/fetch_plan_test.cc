#include "cache/fetch_plan.h"

#include <gtest/gtest.h>

#include "tests/cache/some_part.h"

namespace ringside::cache {
namespace {

TEST(FetchPlan, Rfc9111Section3_4AsksForWhatIsMissingAndValidatesWhatIsThere) {
  const auto whole = whole_of("0123456789");
  const auto untagged = whole_of("0123456789", "");
  const auto beginning = part_of("0123", 0, 10);
  const auto weak = part_of("0123", 0, 10, "W/\"1\"");
  const auto plain = part_of("0123", 0, 10, "");
  const auto middle = part_of("3456", 3, 10);
  const auto end = part_of("6789", 6, 10);
  struct Row {
    std::string wanted;
    StoredPointer stored;
    std::string range;
    StoredPointer validated;
    StoredPointer completed;
  };
  const std::vector<Row> rows{
      // Nothing is stored: what is wanted is asked for as it is.
      {"", nullptr, "", nullptr, nullptr},
      {"bytes=2-5", nullptr, "bytes=2-5", nullptr, nullptr},
      {"bytes=2-", nullptr, "bytes=2-", nullptr, nullptr},
      {"bytes=-5", nullptr, "bytes=-5", nullptr, nullptr},
      // A whole is validated, whatever of it is wanted.
      {"", whole, "", whole, nullptr},
      {"bytes=2-5", whole, "", whole, nullptr},
      {"bytes=20-", whole, "", whole, nullptr},
      {"", untagged, "", untagged, nullptr},
      // So is a part that has what is wanted, and what is wanted is asked for if it is not good.
      {"bytes=3-6", middle, "bytes=3-6", middle, nullptr},
      {"bytes=4-5", middle, "bytes=4-5", middle, nullptr},
      {"bytes=-2", end, "bytes=-2", end, nullptr},
      {"bytes=8-", end, "bytes=8-", end, nullptr},
      {"bytes=8-99", end, "bytes=8-99", end, nullptr},
      {"bytes=10-", middle, "bytes=10-", middle, nullptr},
      {"bytes=1-2", plain, "bytes=1-2", plain, nullptr},
      // Not one that lacks any of it.
      {"bytes=3-7", middle, "bytes=3-7", nullptr, nullptr},
      {"bytes=2-3", middle, "bytes=2-3", nullptr, nullptr},
      {"bytes=-8", end, "bytes=-8", nullptr, nullptr},
      {"bytes=0-", beginning, "bytes=0-", nullptr, nullptr},
      // The rest of a beginning, where a strong entity tag tells that it fits.
      {"", beginning, "bytes=4-", nullptr, beginning},
      {"", weak, "", nullptr, nullptr},
      {"", plain, "", nullptr, nullptr},
      {"", middle, "", nullptr, nullptr},
      {"", end, "", nullptr, nullptr},
  };
  for (const Row& row : rows) {
    const auto plan = plan_fetch(context_of(row.wanted), row.stored);
    const auto index = &row - rows.data();
    EXPECT_EQ(plan.range, row.range) << index;
    EXPECT_EQ(plan.validated, row.validated) << index;
    EXPECT_EQ(plan.completed, row.completed) << index;
  }
}

}  // namespace
}  // namespace ringside::cache
