#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/error.h"

namespace ringside::shard {

// JSON from outside. Refuses, besides what is no JSON: a key that stands twice in one object, which
// other readers take for one or the other (RFC 8259 §4), and nesting beyond limits::json_depth. An
// Error names the line and column, or the key.
[[nodiscard]] Result<nlohmann::json> parse_strict_json(std::string_view text);

}  // namespace ringside::shard
