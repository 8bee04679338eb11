#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "http/request_conditions.h"
#include "program/configuration.h"
#include "program/yaml_file.h"

// What a route wants of requests beside host and path, as it is configured. An Error names the
// file, the line and the key.
namespace ringside::program {

// `GET,HEAD`: HEAD is left out, since GET stands for it.
[[nodiscard]] Result<std::vector<std::string>> parse_methods(std::string_view text);

// A map of names to values that must be just these, or to maps of `present` or `regex`.
[[nodiscard]] Result<std::vector<http::ValueCondition>> read_header_conditions(
    const YamlFile& file, const YamlValue::Entry& entry);
[[nodiscard]] Result<std::vector<http::ValueCondition>> read_query_conditions(
    const YamlFile& file, const YamlValue::Entry& entry);

// As a route has them; empty where there are none.
[[nodiscard]] nlohmann::ordered_json to_json(const http::RequestConditions& conditions);

// Gives each route with conditions the rules for queries and paths of the route that its path has
// without them: all requests for one URI mean the same stored responses by it.
void share_forms(std::vector<RouteConfiguration>& routes);

// Whether both hops, and a replica that asks another one, choose the same route for a request, and
// requests for one URI mean the same stored responses (docs/decisions/route-matching.md).
[[nodiscard]] Result<void> check_route_conditions(const Configuration& configuration);

}  // namespace ringside::program
