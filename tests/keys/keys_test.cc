#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "tests/keys/mutants.h"
#include "tests/keys/trial.h"

// What is keyed is what is forwarded, over generated clients and an origin that reads whatever it
// is sent. The property is worth what it notices: each mistake that was once made, or might be, is
// found within its number of requests.
namespace ringside::keys {

void PrintTo(const MutantRow& row, std::ostream* out) { *out << row.name; }

namespace {

struct Outcome {
  std::string objection;
  std::size_t requests = 0;
  std::size_t shared = 0;
};

// Until the first objection.
Outcome play(std::size_t requests) {
  Trial trial;
  Outcome outcome;
  while (outcome.requests < requests && outcome.objection.empty()) {
    outcome.objection = trial.objection(make_request(static_cast<std::uint32_t>(outcome.requests)));
    ++outcome.requests;
  }
  outcome.shared = trial.shared();
  return outcome;
}

constexpr std::size_t many = 60'000;

TEST(Keys, WhatIsKeyedIsWhatIsForwarded) {
  const Outcome outcome = play(many);
  EXPECT_EQ(outcome.objection, "") << outcome.requests;
  EXPECT_GT(outcome.shared, many / 10);  // it is about something
}

class KeysMutant : public testing::TestWithParam<MutantRow> {
 protected:
  void TearDown() override { choose(Mutant::none); }
};

TEST_P(KeysMutant, IsCaughtWithinItsNumberOfRequests) {
  choose(GetParam().mutant);
  const Outcome outcome = play(GetParam().requests);
  EXPECT_NE(outcome.objection, "") << "not within " << GetParam().requests;
  RecordProperty("caught_by", std::to_string(outcome.requests));
}

INSTANTIATE_TEST_SUITE_P(Each, KeysMutant, testing::ValuesIn(mutants().begin(), mutants().end()),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace ringside::keys
