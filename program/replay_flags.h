#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/error.h"
#include "program/admin_pages.h"
#include "replay/replay.h"

namespace ringside::program {

// What was written of the options of `ringside replay`; their meaning is read afterwards.
struct ReplayTexts {
  std::string to;
  AdminTexts admin;
  std::string scale_to;
  std::string scale_at = "50";
  bool forwarded = false;
};

void add_replay_flags(CLI::App& app, ReplayTexts& texts, replay::ReplayOptions& options);
[[nodiscard]] Result<void> read_replay_flags(const ReplayTexts& texts, replay::ReplayOptions& out);

}  // namespace ringside::program
