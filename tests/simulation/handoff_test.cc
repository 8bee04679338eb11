#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "tests/simulation/handoff_scenes.h"
#include "tests/simulation/seeds.h"

namespace ringside::simulation {

void PrintTo(const HandoffScene& scene, std::ostream* out) { *out << scene.name; }

namespace {

class SimulationOfHandoff : public testing::TestWithParam<HandoffScene> {};

TEST_P(SimulationOfHandoff, FetchesNothingAgainAndEnds) {
  for (const std::uint64_t seed : seeds(fewer_where_slow(GetParam().seeds))) {
    SCOPED_TRACE(shown(seed));
    GetParam().play(seed);
    if (HasFailure()) break;
  }
}

INSTANTIATE_TEST_SUITE_P(Scenes, SimulationOfHandoff,
                         testing::ValuesIn(handoff_scenes().begin(), handoff_scenes().end()),
                         [](const auto& scene) { return std::string(scene.param.name); });

}  // namespace
}  // namespace ringside::simulation
