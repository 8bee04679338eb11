#pragma once

#include <nlohmann/json.hpp>

#include "simulate/report.h"

namespace ringside::simulate {

// The report as JSON: what `--json` prints and the page draws.
[[nodiscard]] nlohmann::ordered_json json_of(const Report& report);

}  // namespace ringside::simulate
