#include <gtest/gtest.h>

#include <cstdlib>
#include <ostream>
#include <string>

#include "tests/simulation/handoff_scenes.h"
#include "tests/simulation/seeds.h"
#include "tests/simulation/shrink.h"

namespace ringside::simulation {

void PrintTo(const HandoffScene& scene, std::ostream* out) { *out << scene.name; }

namespace {

class SimulationOfHandoff : public testing::TestWithParam<HandoffScene> {};

TEST_P(SimulationOfHandoff, FetchesNothingAgainAndEnds) {
  for (const std::uint64_t seed : seeds(fewer_where_slow(GetParam().seeds))) {
    SCOPED_TRACE(shown(seed));
    GetParam().play(seed);
    if (!HasFailure()) continue;
    // A trace is of the world that was played last.
    if (std::getenv("RINGSIDE_SIMULATION_TRACE") == nullptr) {
      ADD_FAILURE() << shrunk("*Handoff*/" + std::string(GetParam().name), seed,
                              [seed] { GetParam().play(seed); });
    }
    break;
  }
}

INSTANTIATE_TEST_SUITE_P(Scenes, SimulationOfHandoff, testing::ValuesIn(handoff_scenes()),
                         [](const auto& scene) { return std::string(scene.param.name); });

}  // namespace
}  // namespace ringside::simulation
