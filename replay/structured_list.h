#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringside::replay {

// One member of a structured-field list (RFC 9651 §3.1): an item with its parameters. Bare items
// are kept as text: tokens and strings as they mean, numbers as written, booleans as `?0` and `?1`.
struct ListMember {
  struct Parameter {
    std::string key;
    std::string value;
  };
  std::string item;
  std::vector<Parameter> parameters;  // of equal keys the last stands (§3.1.2)

  [[nodiscard]] std::optional<std::string_view> parameter(std::string_view key) const noexcept;
  // The parameter is there and true.
  [[nodiscard]] bool is_set(std::string_view key) const noexcept;
};

// Parses a list of items (RFC 9651 §4.2). Nullopt where it does not follow the grammar, which means
// for the whole field that it says nothing; inner lists, dates and display strings have no place in
// the fields that we read, and make it so too.
[[nodiscard]] std::optional<std::vector<ListMember>> parse_structured_list(std::string_view field);

}  // namespace ringside::replay
