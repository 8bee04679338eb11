#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "tests/model/mutants.h"
#include "tests/model/trial.h"

// The property test is worth what it notices: each wrong decision is found within its number of
// histories, and the same histories find nothing where all decisions are right.

namespace ringside::model {

void PrintTo(const MutantRow& row, std::ostream* out) { *out << row.name; }

namespace {

constexpr std::size_t steps = 30;

// The first history that the model objects to, counted from 1; 0: none of them.
std::size_t first_caught(std::size_t histories) {
  for (std::size_t seed = 1; seed <= histories; ++seed) {
    if (!play(make_history(seed, steps)).objection.empty()) return seed;
  }
  return 0;
}

class MutantTest : public testing::TestWithParam<MutantRow> {
 protected:
  void TearDown() override { choose(Mutant::none); }
};

TEST_P(MutantTest, IsCaughtWithinItsNumberOfHistories) {
  choose(GetParam().mutant);
  const auto caught = first_caught(GetParam().histories);
  EXPECT_NE(caught, 0U) << "not within " << GetParam().histories;
  RecordProperty("caught_by", std::to_string(caught));
}

INSTANTIATE_TEST_SUITE_P(Each, MutantTest, testing::ValuesIn(mutants().begin(), mutants().end()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(MutantsTest, WithoutOneTheSameHistoriesPass) {
  std::size_t most = 0;
  for (const MutantRow& row : mutants()) most = std::max(most, row.histories);
  const auto caught = first_caught(most);
  EXPECT_EQ(caught, 0U) << play(make_history(caught, steps)).objection;
}

}  // namespace
}  // namespace ringside::model
