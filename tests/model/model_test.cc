#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "tests/model/trial.h"

// Random histories of origin answers, requests and clock steps against a model of RFC 9111: all
// that the replica answers is something that the model allows.
//
//   RINGSIDE_MODEL_HISTORIES  how many (default below)
//   RINGSIDE_MODEL_SEED       of the first; each next one has the next seed

namespace ringside::model {
namespace {

constexpr std::size_t steps = 30;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : std::stoull(value);
}

TEST(ModelTest, Rfc9111EveryAnswerIsOneThatTheModelAllows) {
  const auto count = from_environment("RINGSIDE_MODEL_HISTORIES", 500);
  const auto first = from_environment("RINGSIDE_MODEL_SEED", 1);
  std::size_t could_reuse = 0;
  std::size_t reused = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const auto history = make_history(seed, steps);
    const auto trial = play(history);
    could_reuse += trial.could_reuse;
    reused += trial.reused;
    if (trial.objection.empty()) continue;
    const auto least = play(shrunk(history, [](const History& one) { return play(one); }));
    ADD_FAILURE() << "seed " << seed << ": " << trial.objection << "\n" << least.text;
    return;
  }
  RecordProperty("could_reuse", std::to_string(could_reuse));
  RecordProperty("reused", std::to_string(reused));
  // Who stores nothing is never wrong, and of no use.
  EXPECT_GT(could_reuse, count);
  EXPECT_GE(reused * 100, could_reuse * 90) << reused << " of " << could_reuse;
}

}  // namespace
}  // namespace ringside::model
