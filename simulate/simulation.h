#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulate/figures.h"
#include "simulate/key_set.h"
#include "simulate/measure.h"

namespace ringside::simulate {

// One membership of the sequence.
struct Step {
  std::string title;  // `11`: as it was asked for
  std::vector<shard::Member> members;
};

// One scheme at one step.
struct Row {
  std::string scheme;
  std::size_t step = 0;                 // its place in the sequence
  std::optional<std::size_t> before{};  // the step with whose members it is compared
  std::string refusal;  // why the scheme does not take these members; then nothing else is known
  Figures figures;
  Cost cost;
};

// How far a simulation is: of `all` looks at keys, `done`.
struct Progress {
  std::string_view scheme;
  std::size_t step = 0;
  std::uint64_t done = 0;
  std::uint64_t all = 0;
};
using OnProgress = std::function<void(const Progress&)>;

// Every scheme through every step, from fresh. One that refuses a step goes on with the members
// that it had, as a tier does. Requires a step and a key. Named schemes exist.
[[nodiscard]] std::vector<Row> simulate(const std::vector<std::string>& schemes,
                                        const std::vector<Step>& steps, const KeySet& keys,
                                        const OnProgress& on_progress);

}  // namespace ringside::simulate
