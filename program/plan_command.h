#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/address.h"
#include "base/error.h"

namespace ringside::program {

struct PlanOptions {
  std::string to{};      // `11`, a list of names, or `@FILE`; empty: the members stay
  std::string scheme{};  // empty: stays
  std::string from{};    // a file with the present topology; empty: the tier is asked
  // Of a running tier. The first tells the topology, all of them what their stores have.
  std::vector<Endpoint> admins{{"127.0.0.1", 9090}};
  std::string token{};                           // of its --admin-token-file; empty: none
  std::optional<std::size_t> move_rate_mib_s{};  // absent: as the tier has it
  std::optional<double> share_most{};            // that may move
  bool json = false;
};

// `ringside plan`, and `ringside scale --dry-run`: prints what a change will do and changes
// nothing. An Error where more moves than may, too: then the plan was printed all the same.
[[nodiscard]] Result<void> run_plan(const PlanOptions& asked);

}  // namespace ringside::program
