#include "tests/simulation/shrink.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "tests/simulation/client.h"
#include "tests/simulation/tier.h"

namespace ringside::simulation {
namespace {

TEST(SimulationOfLess, ItsTextIsReadAgainAsTheSame) {
  Less all;
  for (const Knob& knob : knobs()) {
    Less one;
    knob.turn(one);
    EXPECT_EQ(text_of(one), knob.name);
    EXPECT_EQ(parse_less(knob.name), one);
    knob.turn(all);
  }
  EXPECT_EQ(text_of(all), "requests/8,pages/8,cores,clients,stalls,jitter,pieces,delays,clocks");
  EXPECT_EQ(parse_less(text_of(all)), all);
  EXPECT_EQ(text_of(Less{}), "");
  EXPECT_EQ(parse_less(""), Less{});
  EXPECT_THROW(static_cast<void>(parse_less("pages/2,sugar")), std::invalid_argument);
}

TEST(SimulationOfShrinking, AllGoesThatAFailureDoesNotNeed) {
  const auto play = [] {
    EXPECT_LT(share_of(300, less().requests), 40U) << "many requests";
    EXPECT_TRUE(less().stalls || share_of(300, less().requests) < 40) << "stalls";
  };
  const LessFor nothing(Less{});
  const auto smaller = shrink(play);
  ASSERT_TRUE(smaller);
  EXPECT_EQ(text_of(smaller->less),
            "requests/4,pages/8,cores,clients,stalls,jitter,pieces,delays,clocks");
  EXPECT_NE(smaller->failure.find("many requests"), std::string::npos);
  EXPECT_EQ(less(), Less{}) << "as before";
}

TEST(SimulationOfShrinking, WhatFailsWithNothingLessIsSmallAlready) {
  const LessFor nothing(Less{});
  EXPECT_FALSE(shrink([] { EXPECT_NE(less(), Less{}); }));
}

TEST(SimulationOfShrinking, TellsWhatPlaysTheSmallerOneAgain) {
  const LessFor nothing(Less{});
  const auto play = [] { EXPECT_TRUE(less().jitter || less().cores) << "both"; };
  const std::string said = shrunk("*Some/Test", 7, play);
  EXPECT_NE(said.find("RINGSIDE_SIMULATION_SEED=7 RINGSIDE_SIMULATION_LESS=requests/8,pages/8,"
                      "clients,stalls,pieces,delays,clocks "),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("--gtest_filter='*Some/Test'"), std::string::npos) << said;
}

TEST(SimulationOfLess, WithoutStallsNothingTakesLong) {
  const auto slowest = [] {
    Milliseconds most_of_all{0};
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      World world(seed);
      SimulatedTier tier(world, {.replicas = 2});
      SimulatedClient client(world, "client");
      const auto asked = client.get(tier.address(), "/page");
      EXPECT_EQ(asked.reply.status, 200);
      most_of_all = std::max(most_of_all, asked.took());
    }
    return most_of_all;
  };
  constexpr Milliseconds long_time{12};
  {
    const LessFor nothing(Less{});
    EXPECT_GT(slowest(), long_time);
  }
  const LessFor without(parse_less("stalls,jitter,pieces,delays,clocks"));
  EXPECT_LT(slowest(), long_time);
}

}  // namespace
}  // namespace ringside::simulation
