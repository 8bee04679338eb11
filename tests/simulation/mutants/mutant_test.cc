#include <gtest/gtest-spi.h>
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

const HandoffScene& scene_of(const MutantRow& row) {
  const auto scenes = handoff_scenes();
  return *std::find_if(scenes.begin(), scenes.end(),
                       [&](const HandoffScene& scene) { return scene.name == row.scene; });
}

bool objects(const HandoffScene& scene, std::uint64_t seed) {
  testing::TestPartResultArray results;
  using Reporter = testing::ScopedFakeTestPartResultReporter;
  const Reporter reporter(Reporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
  scene.play(seed);
  for (int i = 0; i < results.size(); ++i) {
    if (results.GetTestPartResult(i).failed()) return true;
  }
  return false;
}

class SimulationOfMutants : public testing::TestWithParam<MutantRow> {
 protected:
  void TearDown() override { chosen = none; }
};

TEST_P(SimulationOfMutants, IsCaughtWithinItsNumberOfSeeds) {
  const MutantRow& row = GetParam();
  const HandoffScene& scene = scene_of(row);
  chosen = row.number;
  std::uint64_t caught = 0;
  for (std::uint64_t seed = 1; seed <= row.seeds && caught == 0; ++seed) {
    if (objects(scene, seed)) caught = seed;
  }
  EXPECT_NE(caught, 0U) << "not within " << row.seeds;
  RecordProperty("caught_by", std::to_string(caught));
}

INSTANTIATE_TEST_SUITE_P(Each, SimulationOfMutants, testing::ValuesIn(rows),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace

bool is_chosen(std::size_t mutant) noexcept { return mutant == chosen; }

}  // namespace ringside::simulation
