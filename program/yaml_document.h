#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace ringside::program {

// A value of a YAML document and where it stands. Scalars are text: what it must be is for the
// reader of the key to say.
struct YamlValue {
  enum class Kind { scalar, list, map };
  struct Entry;

  Kind kind = Kind::scalar;
  int line = 1;
  std::string text;              // of a scalar
  std::vector<YamlValue> items;  // of a list
  std::vector<Entry> entries;    // of a map, in the order written, keys distinct
};

struct YamlValue::Entry {
  std::string key;
  int line = 1;
  YamlValue value;
};

// What kind a value is, for messages: "a list".
[[nodiscard]] std::string_view name(YamlValue::Kind kind) noexcept;

// Parses one document whose top is a map; an empty file is an empty map. Refuses what a file of
// settings does not need and what makes small files expensive or ambiguous: anchors and aliases,
// tags, several documents, keys that stand twice or are no plain text, empty values, NUL bytes, and
// whatever is beyond limits::configuration_*. An Error's message is `FILE:LINE: …; remedy`; `file`
// is only its name.
[[nodiscard]] Result<YamlValue> parse_yaml(std::string_view text, const std::string& file);

}  // namespace ringside::program
