#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/error.h"
#include "program/plan_command.h"
#include "program/scale.h"

namespace ringside::program {

// What was written of a plan's options; their meaning is read afterwards.
struct PlanTexts {
  std::string admins;
  std::string move_rate;
  std::string share_most;
};

// The options of `ringside plan`, but for the token that all who ask a tier have.
void add_plan_flags(CLI::App& app, PlanTexts& texts, PlanOptions& out);
// What `ringside scale --dry-run` asks for.
[[nodiscard]] PlanOptions plan_of(const ScaleOptions& scale);
[[nodiscard]] Result<void> read_plan_flags(const PlanTexts& texts, PlanOptions& out);

}  // namespace ringside::program
