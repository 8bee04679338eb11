#include "program/misplaced_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "program/cache_rules.h"
#include "program/configuration_file.h"
#include "program/options.h"

namespace ringside::program {

std::string remedy_of_misplaced(std::string_view key) {
  const auto is_one_of = [&](const std::vector<std::string_view>& keys) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  if (is_one_of(cache_rule_keys())) return fmt::format("write it in cache: {{{}: …}}", key);
  if (find_option(key)) return "write it at the top of the file";
  if (is_one_of(route_key_names())) return "write it in one of the routes";
  return {};
}

}  // namespace ringside::program
