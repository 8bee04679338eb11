#pragma once

#include <string>

#include "program/plan.h"

namespace ringside::program {

// What `ringside plan` prints: lines for people, or JSON.
[[nodiscard]] std::string to_text(const Plan& plan);
[[nodiscard]] std::string to_json(const Plan& plan);

// A share as `9.4 %`.
[[nodiscard]] std::string percent_text(double share);

}  // namespace ringside::program
