#include "tests/simulation/shrink.h"

#include <fmt/format.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <utility>

namespace ringside::simulation {

std::optional<std::string> failure_of(const std::function<void()>& play) {
  testing::TestPartResultArray results;
  {
    using Reporter = testing::ScopedFakeTestPartResultReporter;
    const Reporter reporter(Reporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    play();
  }
  for (int i = 0; i < results.size(); ++i) {
    const testing::TestPartResult& result = results.GetTestPartResult(i);
    if (result.failed()) return result.summary();
  }
  return std::nullopt;
}

std::optional<Smaller> shrink(const std::function<void()>& play) {
  std::optional<Smaller> smallest;
  for (const Knob& knob : knobs()) {
    const Less now = smallest ? smallest->less : less();
    Less turned = now;
    knob.turn(turned);
    if (turned == now) continue;
    const LessFor trial(turned);
    if (auto failure = failure_of(play)) smallest = Smaller{turned, *std::move(failure)};
  }
  return smallest;
}

std::string shrunk(std::string_view test, std::uint64_t seed, const std::function<void()>& play) {
  const auto smaller = shrink(play);
  if (!smaller) return "it fails with nothing less";
  return fmt::format(
      "smaller: RINGSIDE_SIMULATION_SEED={} RINGSIDE_SIMULATION_LESS={} "
      "build/tests/simulation_test --gtest_filter='{}'\nwhich fails with: {}",
      seed, text_of(smaller->less), test, smaller->failure);
}

}  // namespace ringside::simulation
