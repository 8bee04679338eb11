#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "tests/simulation/handoff_scenes.h"
#include "tests/simulation/mutants/mutants.h"
#include "tests/simulation/shrink.h"

// The scenes of the handoff are worth what they notice: each wrong decision of mutants.py is found
// within its number of seeds. That the same seeds pass without one, handoff_test.cc shows.

namespace ringside::simulation {
namespace {

constexpr std::size_t none = ~std::size_t{0};
std::size_t chosen = none;

struct MutantRow {
  std::size_t number;
  std::string_view name;
  std::string_view scene;
  std::uint64_t seeds;
};
constexpr auto rows = std::to_array<MutantRow>({
#include "rows.inc"
});

void PrintTo(const MutantRow& row, std::ostream* out) { *out << row.name; }

HandoffScene scene_of(const MutantRow& row) {
  const auto scenes = handoff_scenes();
  return *std::find_if(scenes.begin(), scenes.end(),
                       [&](const HandoffScene& scene) { return scene.name == row.scene; });
}

bool objects(const HandoffScene& scene, std::uint64_t seed) {
  return failure_of([&] { scene.play(seed); }).has_value();
}

// The first of the seeds that is not played as it is to be; 0: none.
std::uint64_t first_caught(const HandoffScene& scene, std::uint64_t seeds) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    if (objects(scene, seed)) return seed;
  }
  return 0;
}

class SimulationOfMutants : public testing::TestWithParam<MutantRow> {
 protected:
  void TearDown() override { chosen = none; }
};

TEST_P(SimulationOfMutants, IsCaughtWithinItsNumberOfSeeds) {
  const MutantRow& row = GetParam();
  chosen = row.number;
  const std::uint64_t caught = first_caught(scene_of(row), row.seeds);
  EXPECT_NE(caught, 0U) << "not within " << row.seeds;
  RecordProperty("caught_by", std::to_string(caught));
}

INSTANTIATE_TEST_SUITE_P(Each, SimulationOfMutants, testing::ValuesIn(rows),
                         [](const auto& row) { return std::string(row.param.name); });

// What is told of a smaller variation plays that one: there, too, only the mutant fails.
TEST(SimulationOfShrinking, ASeedThatFailsIsShrunkToOneThatDoes) {
  const auto* const row = std::find_if(rows.begin(), rows.end(), [](const MutantRow& one) {
    return one.name == "WhoMissesAsksTheOriginAtOnce";
  });
  ASSERT_NE(row, rows.end());
  const HandoffScene scene = scene_of(*row);
  chosen = row->number;
  const std::uint64_t seed = first_caught(scene, row->seeds);
  const auto smaller = shrink([&] { scene.play(seed); });
  ASSERT_TRUE(smaller);
  const LessFor again(parse_less(text_of(smaller->less)));
  EXPECT_EQ(failure_of([&] { scene.play(seed); }), smaller->failure);
  chosen = none;
  EXPECT_FALSE(objects(scene, seed));
}

}  // namespace

bool is_chosen(std::size_t mutant) noexcept { return mutant == chosen; }

}  // namespace ringside::simulation
