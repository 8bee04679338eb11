#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace ringside {

// What is kept of a JSON text, and what makes it wrong.
struct JsonTerms {
  // Which keys' values are kept; null: all. The others' are read through, whatever their depth, and
  // cost no memory.
  bool (*is_kept)(std::string_view key) = nullptr;
  bool may_repeat_keys = false;  // the last of them counts; else that is wrong
};

struct JsonFault {
  enum class Kind { no_json, too_deep, too_many_values, repeated_key };
  Kind kind = Kind::no_json;
  std::size_t position = 0;  // of what is no JSON: a byte, counted from 1
  std::string key;           // that is repeated
};

// The one reader of JSON. What is kept has no more than limits::json_depth objects and arrays
// within each other and limits::json_values values; it does not recurse. Stops at the first fault,
// and `into` is of no use then.
[[nodiscard]] std::optional<JsonFault> read_json(std::string_view text, const JsonTerms& terms,
                                                 nlohmann::json& into);

// JSON that people or their programs wrote. Keys that stand twice in one object are refused, for
// other readers take one or the other (RFC 8259 §4). An Error names the line and column, or the
// key.
[[nodiscard]] Result<nlohmann::json> parse_strict_json(std::string_view text);

}  // namespace ringside
