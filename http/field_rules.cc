#include "http/field_rules.h"

#include <algorithm>

namespace ringside::http {

bool FieldRules::replaces(std::string_view field_name) const noexcept {
  return std::any_of(remove.begin(), remove.end(),
                     [&](const std::string& name) { return same_token(name, field_name); }) ||
         std::any_of(set.begin(), set.end(),
                     [&](const auto& field) { return same_token(field.first, field_name); });
}

}  // namespace ringside::http
