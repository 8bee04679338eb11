#pragma once

#include <cstdint>
#include <string>

#include "tests/model/history.h"

namespace ringside::model {

// What became of a history that was played against a replica of its own.
struct Trial {
  std::string objection;        // the model's first; empty: none
  std::size_t steps = 0;        // that were played: none after an objection
  std::string text;             // what happened, one line a step
  std::size_t could_reuse = 0;  // GETs and HEADs that what the origin said last could answer,
  std::size_t reused = 0;       //   and of them those that it did answer
};
[[nodiscard]] Trial play(const History& history);

// The history without the steps that its objection does not need.
[[nodiscard]] History shrunk(History history);

}  // namespace ringside::model
