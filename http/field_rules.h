#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/fields.h"

namespace ringside::http {

// Changes to the fields of a message. Those that frame it or belong to one connection, and our own,
// can't be among them.
struct FieldRules {
  std::vector<std::string> remove;                       // names
  std::vector<std::pair<std::string, std::string>> set;  // in place of what has that name

  [[nodiscard]] bool empty() const noexcept { return remove.empty() && set.empty(); }
  // True for fields that are not to be taken over as they are.
  [[nodiscard]] bool replaces(std::string_view field_name) const noexcept;
  bool operator==(const FieldRules&) const = default;
};

}  // namespace ringside::http
