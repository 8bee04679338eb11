#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cache/rules.h"
#include "program/yaml_file.h"

namespace ringside::program {

// A map `cache` of the configuration: a route's, or what stands at the top for all routes.
struct CacheRules {
  cache::Rules values;
  std::map<std::string, std::string, std::less<>> places;  // of its keys: "tier.yaml:3: slice"

  [[nodiscard]] bool given(std::string_view key) const { return places.contains(key); }
  // Where a key stands.
  [[nodiscard]] std::string place(std::string_view key) const;
};

[[nodiscard]] std::vector<std::string_view> cache_rule_keys();

[[nodiscard]] Result<CacheRules> read_cache_rules(const YamlFile& file,
                                                  const YamlValue::Entry& entry);

// Key by key: what a route says goes before what is said for all.
[[nodiscard]] CacheRules merged(const CacheRules& for_all, const CacheRules& of_route);

// Which rules a command has a use for.
enum class RulesOf { cache, sidecar };
// The keys whose values aren't their defaults; a map that read_cache_rules reads as the same rules.
[[nodiscard]] nlohmann::ordered_json to_json(const cache::Rules& rules, RulesOf whose);

// What a route's rules, merged, must be together; each is right by itself already.
struct RouteFacts {
  std::string_view name;
  bool has_near_cache = false;
  std::string_view country_header;
};
[[nodiscard]] Result<void> check_cache_rules(const CacheRules& rules, const RouteFacts& route);

}  // namespace ringside::program
