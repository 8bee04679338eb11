#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <ostream>
#include <string>
#include <string_view>

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

struct FoundOnce {
  std::string_view scene;
  std::uint64_t seed;
};
// What long runs have found, one in ten thousand.
constexpr auto all_found_once = std::to_array<FoundOnce>({
    // Who asks a taker that has not heard all the others gave it up at once, and asked the origin.
    {"PagesExpireMeanwhile", 10'113},
    {"ReturnsWhileItsBucketsAreOnLoan", 10'323},
    {"ReturnsWhileItsBucketsAreOnLoan", 12'278},
    // A newcomer took for gone whose connections broke twice in 20 ms, and took over what that one
    // held.
    {"ConnectionsBreak", 12'176},
    // What a batch brought when all had forgotten who asked for it stayed there.
    {"ChangeIsTakenBack", 30'533},
    // An empty bucket went from one to the next before the first giver heard that it had arrived.
    {"PagesExpireMeanwhile", 4'000'292},
    // A batch to a former taker arrived after its giver had taken the bucket back.
    {"ConnectionsBreak", 7'001'185},
    {"AcknowledgementIsLost", 7'001'185},
    // A holder named a replica that had just died, and who asked it turned to the origin at once.
    {"ReturnsWhileItsBucketsAreOnLoan", 21'000'569},
    // A late question was answered to nobody, and the next one taken for the confirmation of that.
    {"ConnectionsBreak", 11'000'112},
    // A bucket was passed on, and then taken once more from a giver that had not heard of that.
    {"ChangesOverlap", 101},
    // A refusal from before a replica came back was heard after it had talked, and another one took
    // over what it had just taken over.
    {"ReturnsWhileItsBucketsAreOnLoan", 20'000'193},
    // Who had given a bucket to a newcomer that it had not heard yet did not tell of it, and who
    // did not know the newcomer took the bucket over as nobody's.
    {"StatefulSetIsMadeAnew", 20'000'410},
    // A fill waited for a move at the holder, which gave the bucket to the asker meanwhile: each
    // then waited for the other's flight, until both timed out (504), or the page was fetched
    // twice.
    {"ShardsAreCutWhileMembersChange", 41'000'114},
    {"ShardsAreCutWhileMembersChange", 41'000'156},
    {"ShardsAreCutWhileMembersChange", 41'000'234},
    // What became nobody's in the midst of a round of questions was taken over at its end.
    {"ChangesOverlap", 41'000'167},
    // Who answered an unsafe method alone knew a leaver, which was told nothing of it.
    {"PagesAndMembersChangeWhileShardsAreCut", 50'000'410},
});

TEST(SimulationOfHandoffAgain, WhatWasFoundOnceIsMended) {
  for (const FoundOnce& found : all_found_once) {
    SCOPED_TRACE(found.scene);
    SCOPED_TRACE(shown(found.seed));
    const auto scenes = handoff_scenes();
    const auto scene = std::find_if(scenes.begin(), scenes.end(), [&](const HandoffScene& one) {
      return one.name == found.scene;
    });
    ASSERT_NE(scene, scenes.end());
    scene->play(found.seed);
  }
}

}  // namespace
}  // namespace ringside::simulation
