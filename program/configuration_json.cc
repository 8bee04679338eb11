#include "program/configuration_json.h"

#include "program/options.h"
#include "program/route_conditions.h"
#include "program/shown.h"

namespace ringside::program {
namespace {

using nlohmann::ordered_json;

ordered_json routes(Command command, const Configuration& configuration) {
  const bool with_shard_key = command != Command::cache;
  const bool stores = command == Command::cache || command == Command::up;
  auto out = ordered_json::array();
  for (const RouteConfiguration& route : effective_routes(configuration)) {
    ordered_json one{{"name", route.name}};
    if (!route.match.host.empty()) one["host"] = route.match.host;
    one["path"] = route.match.path_prefix;
    if (route.match.path_regex) one["path_regex"] = route.match.path_regex->text();
    one.update(to_json(route.match.conditions));
    if (!route.origins.empty()) one["origin"] = shown(route.origins);
    if (with_shard_key) one["shard_key"] = shown(route.shard_key);
    if (with_shard_key && route.key_fallback) one["key_fallback"] = shown(route.key_fallback);
    if (!route.scheme.empty()) one["scheme"] = route.scheme;
    if (with_shard_key && route.near_ttl.count() > 0) one["near_ttl"] = shown(route.near_ttl);
    auto rules = to_json(route.cache.values, stores ? RulesOf::cache : RulesOf::sidecar);
    if (!rules.empty()) one["cache"] = std::move(rules);
    out.push_back(std::move(one));
  }
  return out;
}

// A path may be any bytes.
std::string page_of(const ordered_json& value) {
  return value.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string to_json(Command command, const Configuration& configuration) {
  ordered_json page;
  for (const Option& option : all_options()) {
    if (!option.is_for(command)) continue;
    ordered_json value = option.value.show(configuration);
    // What was left to its default without a value (a database, a topology's version) is not there.
    if (!value.is_null()) page[option.key()] = std::move(value);
  }
  page["routes"] = routes(command, configuration);
  return page_of(page);
}

std::string options_json() {
  auto options = ordered_json::array();
  for (const Option& option : all_options()) {
    ordered_json row{{"flag", option.name},          {"key", option.key()},
                     {"value", option.value_name},   {"help", option.help},
                     {"more", option.more},          {"example", option.example},
                     {"words", option.default_words}};
    row["restart"] = option.value.keep != nullptr;
    for (const Command command : all_commands) {
      if (!option.is_for(command)) continue;
      row["defaults"][name(command)] = default_text(option, command);
      if (option.is_needed_by(command)) row["needed_by"].push_back(name(command));
    }
    options.push_back(std::move(row));
  }
  return page_of({{"options", std::move(options)}, {"cache_rules", cache_rule_keys()}});
}

}  // namespace ringside::program
