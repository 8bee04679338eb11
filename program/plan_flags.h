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
[[nodiscard]] Result<void> read_plan_flags(const PlanTexts& texts, PlanOptions& out);

// Those of them that `ringside scale` has too; each needs `dry_run`.
void add_dry_run_flags(CLI::App& app, CLI::Option& dry_run, PlanTexts& texts, PlanOptions& out);
// What `ringside scale --dry-run` asks for. Requires a number of replicas.
[[nodiscard]] Result<void> read_dry_run_flags(const PlanTexts& texts, const ScaleOptions& scale,
                                              PlanOptions& out);

}  // namespace ringside::program
